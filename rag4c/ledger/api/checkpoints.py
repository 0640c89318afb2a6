"""Signed checkpoints: a row for lists and exports, and a file outside Postgres, which decides (GOV-U8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from django.db import connection, transaction

from rag4c.kernel import clock
from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import PLATFORM_TENANT, Actor, system_actor
from rag4c.ledger import keys, sink
from rag4c.ledger.api.recording import record
from rag4c.ledger.chain import NO_CHECKPOINT, Checkpoint, MerkleTree, checkpoint_digest
from rag4c.ledger.models import Checkpoint as CheckpointRow
from rag4c.ledger.models import Seal
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    from pathlib import Path

    from django.core.files.storage import Storage

__all__ = ["checkpoint_file", "find_kept_tenants", "public_key_path", "read_checkpoint_file", "rotate_signing_key", "write_checkpoint"]
_LOCK: Final = "SELECT pg_advisory_xact_lock(1918985060, hashtext(%s))"


def write_checkpoint(*, tenant_id: str) -> int:
    """Sign the tenant's head, keep it as a row, and bring every row that the sink lacks to the sink. Returns the number that is signed, 0 for none.

    A crash between row and sink is made good by the next call. Without a configured sink the row is all there is.
    Raises: Unavailable("signing_key_missing"), Conflict("checkpoint_forked").
    """
    grant = system_actor(tenant_id).grant
    with scope(grant), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_LOCK, [str(tenant_id)])
        row = CheckpointRow.objects.order_by("-seq").first()
        head = Seal.objects.order_by("-seq").first()
        if head is not None and (row is None or row.seq < head.seq):
            row = _add_checkpoint(tenant_id, row, head)
        fp("seal.checkpoint.before")
    fp("seal.checkpoint.after")
    target = sink.find_sink()
    if target is not None:
        _bring_up_to_date(target, tenant_id)
    return row.seq if row else 0


def _add_checkpoint(tenant_id: str, last: CheckpointRow | None, head: Seal) -> CheckpointRow:
    signer, from_seq, tree = keys.load_signer(), last.seq + 1 if last else 1, MerkleTree()
    for leaf in Seal.objects.filter(seq__gte=from_seq, seq__lte=head.seq).order_by("seq").values_list("hash", flat=True).iterator():
        tree.add(bytes(leaf))
    checkpoint = Checkpoint(
        tenant=str(tenant_id),
        from_seq=from_seq,
        seq=head.seq,
        hash=bytes(head.hash).hex(),
        root=tree.root().hex(),
        prev=checkpoint_digest(bytes(last.body)).hex() if last else NO_CHECKPOINT,
        at=clock.now().isoformat(),
        key=signer.key_id,
    )
    return CheckpointRow.objects.create(tenant_id=tenant_id, seq=checkpoint.seq, body=checkpoint.body(), signature=signer.sign(checkpoint.digest()))


def _bring_up_to_date(target: Storage, tenant_id: str) -> None:
    """Oldest first, so that the sink always holds a beginning of the checkpoints."""
    missing = []
    with scope(system_actor(tenant_id).grant):
        for row in CheckpointRow.objects.order_by("-seq").iterator(chunk_size=20):
            missing.append(row)
            if target.exists(sink.checkpoint_name(tenant_id, row.seq)):
                break  # written again if a crash cut it short
    for row in reversed(missing):
        fp("seal.sink.before")
        sink.keep(target, sink.checkpoint_name(tenant_id, row.seq), checkpoint_file(bytes(row.body), bytes(row.signature)))
        fp("seal.sink.after")


def checkpoint_file(body: bytes, signature: bytes) -> bytes:
    """The body with its signature as one canonical JSON object, as the sink and the exports hold it."""
    return canonical_json({**json.loads(body), "signature": signature.hex()})


def read_checkpoint_file(data: bytes) -> tuple[Checkpoint, bytes] | None:
    """A checkpoint and its signature, or None for bytes that are no such file."""
    try:
        fields = json.loads(data)
        signature = bytes.fromhex(fields.pop("signature"))
        fields.pop("format")
        checkpoint = Checkpoint(**fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return (checkpoint, signature) if checkpoint_file(checkpoint.body(), signature) == data else None


def rotate_signing_key(*, actor: Actor) -> str:
    """A new signing key; the event stands in the platform's chain with both signatures (GOV-U11). Returns the new key's id.

    Raises: Unavailable("signing_key_missing").
    """
    platform = system_actor(PLATFORM_TENANT, channel=actor.channel)

    def note(statement: dict[str, Any]) -> None:
        with scope(platform.grant):
            record(platform, "signing_key.rotated", subject=("signing_key", statement["number"]), data=statement)

    return keys.rotate_key(note).key_id


def find_kept_tenants() -> set[str]:
    """Ids of the tenants of which the sink keeps checkpoints; none without a sink."""
    target = sink.find_sink()
    return sink.list_tenants(target) if target else set()


def public_key_path() -> Path:
    """The file with the public key in force, for auditors. Raises: Unavailable("signing_key_missing")."""
    return keys.public_key_path()
