"""Canonical JSON (RFC 8785) and digests over it: the same value gives the same bytes on every machine."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value. Floats are allowed; NaN and infinities raise rfc8785.FloatDomainError."""
    return rfc8785.dumps(value)


def sha256_hex(data: bytes | str) -> str:
    """64 lower-case hex digits; text is taken as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def digest_of(value: Any) -> str:
    """sha256 of the canonical JSON of `value`, as 64 hex digits."""
    return sha256_hex(canonical_json(value))
