"""The key that signs checkpoints and exports (Ed25519): made at the first start next to the other secrets, rotated with the old key's consent.

Folder `signing` in RAG4C_HOME: `key-0001.pem` (0600), `key-0001.pub.pem`, and for each rotation a statement that both keys have signed.
The highest number in force is the one whose statement is there; a retired private key is removed, its public half stays.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rag4c.embedded.storage import write_secret
from rag4c.kernel import clock, env
from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.errors import Conflict, Unavailable
from rag4c.ledger.chain import statement_digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER: Final = "signing"
ROTATION_FORMAT: Final = "rag4c.rotation.1"


@dataclass(frozen=True, slots=True)
class Signer:
    """The key in force. key_id: 16 hex digits of the sha256 of the raw public key."""

    number: int
    key_id: str
    private: Ed25519PrivateKey

    def sign(self, message: bytes) -> bytes:
        """64 bytes; the same message gives the same signature."""
        return self.private.sign(message)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """All public keys that lead to the one in force, by key id."""

    keys: dict[str, Ed25519PublicKey]

    def is_signed(self, key_id: str, message: bytes, signature: bytes) -> bool:
        key = self.keys.get(key_id)
        return key is not None and is_signature(key, message, signature)


def is_signature(key: Ed25519PublicKey, message: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def raw_public(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_id_of(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(raw_public(key)).hexdigest()[:16]


def signing_folder() -> Path:
    return env.home_dir() / FOLDER


def public_key_path() -> Path:
    """The file that auditors are given. Raises: Unavailable("signing_key_missing")."""
    return _public_path(_current_number())


def ensure_signing_key() -> bool:
    """Make the first key when there is none; whether one was made. Idempotent."""
    folder = signing_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if _public_path(1).exists():
        return False
    _write_key(1, Ed25519PrivateKey.generate())
    return True


def load_signer() -> Signer:
    """Raises: Unavailable("signing_key_missing")."""
    number = _current_number()
    try:
        private = serialization.load_pem_private_key(_private_path(number).read_bytes(), None)
    except (OSError, ValueError) as error:
        raise _missing(number) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise _missing(number)
    return Signer(number, key_id_of(private.public_key()), private)


def load_ring() -> KeyRing:
    """Every key from the first to the one in force. Raises: Unavailable("signing_key_missing"), Conflict("rotation_invalid")."""
    keys: list[Ed25519PublicKey] = []
    for number in range(1, _current_number() + 1):
        key = serialization.load_pem_public_key(_public_path(number).read_bytes())
        if not isinstance(key, Ed25519PublicKey):
            raise _missing(number)
        if number > 1:
            _check_rotation(number, keys[-1], key)
        keys.append(key)
    return KeyRing({key_id_of(key): key for key in keys})


def list_rotations() -> list[bytes]:
    """The statements of all rotations, oldest first: canonical JSON with both signatures."""
    return [_statement_path(number).read_bytes() for number in range(2, _current_number() + 1)]


def rotate_key(record: Callable[[dict[str, Any]], None]) -> Signer:
    """A new key, consented to by the old one (GOV-U11).

    Args: record: writes the rotation event and commits; the new key comes into force after it, so a failure leaves the old one in force.
    """
    old, number = load_signer(), _current_number() + 1
    private = Ed25519PrivateKey.generate()
    new_public = private.public_key()
    fields = {
        "format": ROTATION_FORMAT,
        "number": number,
        "old": raw_public(old.private.public_key()).hex(),
        "new": raw_public(new_public).hex(),
        "at": clock.now().isoformat(),
    }
    digest = statement_digest(canonical_json(fields))
    statement = {**fields, "signature": old.sign(digest).hex(), "countersignature": private.sign(digest).hex()}
    _write_key(number, private)
    record(statement)
    write_secret(_statement_path(number), canonical_json(statement).decode())
    _private_path(old.number).unlink()
    return Signer(number, key_id_of(new_public), private)


def _check_rotation(number: int, old: Ed25519PublicKey, new: Ed25519PublicKey) -> None:
    statement = json.loads(_statement_path(number).read_bytes())
    signature, countersignature = bytes.fromhex(statement.pop("signature")), bytes.fromhex(statement.pop("countersignature"))
    digest = statement_digest(canonical_json(statement))
    is_about_them = (statement["old"], statement["new"]) == (raw_public(old).hex(), raw_public(new).hex())
    if not (is_about_them and is_signature(old, digest, signature) and is_signature(new, digest, countersignature)):
        raise Conflict("rotation_invalid", f"{_statement_path(number)} does not lead from one key to the next; put it back from a copy.")


def _current_number() -> int:
    number = 1
    while _statement_path(number + 1).exists():
        number += 1
    if not _public_path(number).exists():
        raise _missing(number)
    return number


def _write_key(number: int, private: Ed25519PrivateKey) -> None:
    pem = private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_secret(_private_path(number), pem.decode())
    public = private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    write_secret(_public_path(number), public.decode())


def _private_path(number: int) -> Path:
    return signing_folder() / f"key-{number:04}.pem"


def _public_path(number: int) -> Path:
    return signing_folder() / f"key-{number:04}.pub.pem"


def _statement_path(number: int) -> Path:
    return signing_folder() / f"rotation-{number:04}.json"


def _missing(number: int) -> Unavailable:
    return Unavailable("signing_key_missing", f"The signing key {_private_path(number)} cannot be read; put it back from a copy, or run init-db.")
