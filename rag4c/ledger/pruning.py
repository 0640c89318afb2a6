"""What only the owner may do to the ledger: begin a new incarnation after a restore, and detach whole months, leaving a signed stub (GOV-U12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db import connection, transaction

from rag4c.kernel import clock
from rag4c.kernel.canonical import canonical_json, sha256_hex
from rag4c.kernel.errors import Absent, Conflict
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.ledger import keys, sink
from rag4c.ledger.api.recording import record
from rag4c.ledger.chain import merkle_root, statement_digest
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable

STUB_FORMAT: Final = "rag4c.stub.1"
_SEALED: Final = """
    SELECT e.tenant_id, s.seq, s.hash, coalesce((SELECT max(c.seq) FROM ledger_checkpoint c WHERE c.tenant_id = e.tenant_id), 0)
    FROM "{name}" e LEFT JOIN ledger_seal s ON s.tenant_id = e.tenant_id AND s.event_id = e.id ORDER BY e.tenant_id, s.seq
"""
_OWED: Final = """
    SELECT count(*) FROM ledger_delivery d WHERE d.state <> 'done'
    AND EXISTS (SELECT 1 FROM "{name}" e WHERE e.tenant_id = d.tenant_id AND e.at = d.event_at AND e.id = d.event_id)
"""
_FORGET: Final = """
    DELETE FROM ledger_delivery d
    WHERE EXISTS (SELECT 1 FROM "{name}" e WHERE e.tenant_id = d.tenant_id AND e.at = d.event_at AND e.id = d.event_id)
"""


@dataclass(frozen=True, slots=True)
class Stubbed:
    """What was left of one tenant's part. ranges: first and last number of each run."""

    tenant_id: uuid.UUID
    count: int
    ranges: tuple[tuple[int, int], ...]


def begin_incarnation() -> int:
    """After a restore: all later events come after all earlier ones, whatever the transaction counter says (GOV-U1). Returns its number.

    The lock waits for writers, so that no event of the old incarnation commits later.
    """
    platform = system_actor(PLATFORM_TENANT, channel="cli")
    with scope(platform.grant), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE ledger_event IN EXCLUSIVE MODE")
        cursor.execute("INSERT INTO ledger_incarnation (n) SELECT max(n) + 1 FROM ledger_incarnation RETURNING n")
        number = int(cursor.fetchone()[0])
        record(platform, "incarnation.begun", subject=("incarnation", number))
    return number


def prune_month(month: str) -> list[Stubbed]:
    """Detach the partition of a month; its table stays, renamed, for an archive. Every event in it must be sealed and confirmed by a checkpoint.

    Args: month: `2025-01`, one that is over. Raises: Absent("partition"), Conflict("month_not_over" | "events_unconfirmed" | "deliveries_open").
    """
    if month >= f"{clock.now():%Y-%m}":
        raise Conflict("month_not_over", "Only a month that is over can be detached.")
    name = f"ledger_event_{month.replace('-', '')}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_inherits WHERE inhparent = 'ledger_event'::regclass AND inhrelid = to_regclass(%s)", [name])
        if cursor.fetchone() is None:
            raise Absent("partition", f"There is no partition of {month}; months are written as 2025-01.")
        cursor.execute("LOCK TABLE ledger_event IN ACCESS EXCLUSIVE MODE")
        _clear_deliveries(cursor, name)
        cursor.execute(_SEALED.format(name=name))
        stubs = _make_stubs(name, cursor.fetchall())
        for stub, body, signature in stubs:
            _leave_stub(stub, name, body, signature)
        fp("seal.prune.before")
        cursor.execute(f'ALTER TABLE ledger_event DETACH PARTITION "{name}"')
        cursor.execute(f'ALTER TABLE "{name}" RENAME TO "{name}_pruned"')
    fp("seal.prune.after")
    return [stub for stub, _, _ in stubs]


def _clear_deliveries(cursor: Any, name: str) -> None:
    """What was done because of these events is no longer owed; what is still owed keeps them."""
    cursor.execute(_OWED.format(name=name))
    if cursor.fetchone()[0]:
        raise Conflict("deliveries_open", "Something is still owed because of events of this month; let the deliveries end first.")
    cursor.execute(_FORGET.format(name=name))


def _make_stubs(name: str, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Stubbed, bytes, bytes]]:
    by_tenant: dict[uuid.UUID, list[tuple[int, bytes]]] = {}
    for tenant_id, seq, hash_, confirmed in rows:
        if seq is None or seq > confirmed:
            raise Conflict(
                "events_unconfirmed", "Events of this month have no seal or no checkpoint yet; wait for the sealer.", {"tenant": tenant_id}
            )
        by_tenant.setdefault(tenant_id, []).append((seq, bytes(hash_)))
    signer, stubs = keys.load_signer(), []
    for tenant_id, seals in by_tenant.items():
        stub = Stubbed(tenant_id, len(seals), tuple(find_ranges([seq for seq, _ in seals])))
        fields = {
            "format": STUB_FORMAT,
            "tenant": str(tenant_id),
            "name": name,
            "ranges": [list(pair) for pair in stub.ranges],
            "count": stub.count,
            "root": merkle_root(hash_ for _, hash_ in seals).hex(),
            "key": signer.key_id,
        }
        body = canonical_json(fields)
        stubs.append((stub, body, signer.sign(statement_digest(body))))
    return stubs


def _leave_stub(stub: Stubbed, name: str, body: bytes, signature: bytes) -> None:
    from rag4c.ledger.api.checkpoints import checkpoint_file
    from rag4c.ledger.models import Stub

    actor, target = system_actor(stub.tenant_id, channel="cli"), sink.find_sink()
    with scope(actor.grant):
        Stub.objects.create(tenant_id=stub.tenant_id, name=name, body=body, signature=signature)
        record(actor, "partition.pruned", subject=("partition", name), data={"count": stub.count, "stub_sha256": sha256_hex(body)})
    if target is not None:
        sink.keep(target, f"{stub.tenant_id}/stub-{name}.json", checkpoint_file(body, signature))


def find_ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers, as (first, last)."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges
