"""What exports and searches read of the chain, and what they have signed; inside a scope."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  # a field of a dataclass
from typing import Any, Final

from django.db import connection

from rag4c.ledger import keys
from rag4c.ledger.api.checkpoints import checkpoint_file
from rag4c.ledger.models import Checkpoint, Stub
from rag4c.scope.manager import current_grant

__all__ = ["SealedEvent", "SignedFile", "list_checkpoints", "list_key_rotations", "list_stubs", "read_sealed", "sign_bytes"]
_PAGE: Final = """
    SELECT s.seq, s.prev, s.hash, e.canonical, e.at, e.code, e.actor, e.channel, e.subject_kind, e.subject_id
    FROM ledger_seal s LEFT JOIN ledger_event e ON e.tenant_id = s.tenant_id AND e.at = s.event_at AND e.id = s.event_id
    WHERE s.tenant_id = %s AND s.seq >= %s AND s.seq <= %s ORDER BY s.seq LIMIT %s
"""
_LINKS: Final = "SELECT seq, prev, hash FROM ledger_seal WHERE tenant_id = %s AND seq >= %s AND seq <= %s ORDER BY seq LIMIT %s"


@dataclass(frozen=True, slots=True)
class SealedEvent:
    """A seal with its event; canonical and the columns after it are None when the event was pruned."""

    seq: int
    prev: bytes
    hash: bytes
    canonical: bytes | None = None
    at: datetime | None = None
    code: str | None = None
    actor: str | None = None
    channel: str | None = None
    subject_kind: str | None = None
    subject_id: str | None = None


@dataclass(frozen=True, slots=True)
class SignedFile:
    """A checkpoint or stub as it stands in the sink. seq: of a checkpoint's head, the last number of a stub."""

    name: str
    seq: int
    data: bytes


def read_sealed(*, first_seq: int, last_seq: int, limit: int, with_events: bool = True) -> list[SealedEvent]:
    """At most `limit` seals from `first_seq` on, in order; with the bytes that they seal, or the hashes alone."""
    with connection.cursor() as cursor:
        cursor.execute(_PAGE if with_events else _LINKS, [current_grant().tenant_id, first_seq, last_seq, limit])
        rows = cursor.fetchall()
    return [SealedEvent(row[0], bytes(row[1]), bytes(row[2]), *(_bytes_of(part) for part in row[3:])) for row in rows]


def _bytes_of(part: Any) -> Any:
    return bytes(part) if isinstance(part, memoryview) else part


def list_checkpoints(*, last_seq: int | None = None) -> list[SignedFile]:
    """Checkpoints of the tenant, oldest first. Args: last_seq: no later ones than this number."""
    rows = Checkpoint.objects.order_by("seq")
    if last_seq is not None:
        rows = rows.filter(seq__lte=last_seq)
    return [SignedFile(f"{row.seq:012}.json", row.seq, checkpoint_file(bytes(row.body), bytes(row.signature))) for row in rows]


def list_stubs() -> list[SignedFile]:
    """What is left of pruned months."""
    return [SignedFile(f"stub-{row.name}.json", 0, checkpoint_file(bytes(row.body), bytes(row.signature))) for row in Stub.objects.order_by("name")]


def list_key_rotations() -> list[SignedFile]:
    """The statements that lead from key to key."""
    return [SignedFile(f"rotation-{number:04}.json", 0, data) for number, data in enumerate(keys.list_rotations(), 2)]


def sign_bytes(data: bytes) -> bytes:
    """The signature of the key in force over plain bytes (not a digest), so that other tools can check it. Raises: Unavailable."""
    return keys.load_signer().sign(data)
