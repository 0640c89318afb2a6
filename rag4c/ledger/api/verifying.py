"""Every leaf computed again from the rows, and compared with the checkpoints outside Postgres (GOV-U8, GOV-U9)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.db import connection

from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.grant import system_actor
from rag4c.ledger import keys, sink
from rag4c.ledger.api.checkpoints import checkpoint_file, read_checkpoint_file
from rag4c.ledger.chain import NO_CHECKPOINT, ChainCheck, Checkpoint, Fault, Link, MerkleTree, judge_checkpoint, statement_digest
from rag4c.ledger.models import Checkpoint as CheckpointRow
from rag4c.ledger.models import Stub
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag4c.ledger.keys import KeyRing

__all__ = ["AuditVerdict", "verify_audit"]
PAGE: Final = 5_000
MAX_FAULTS: Final = 100  # more of the same tells nothing new
CLAIM_WITH_SINK: Final = "tamper-evident"
CLAIM_WITHOUT: Final = "tamper-evident to others"  # whoever owns the database could write the chain anew (GOV-U8)
_ROWS: Final = """
    SELECT s.seq, s.prev, s.hash, s.incarnation, s.xid::text::numeric, s.event_id, e.canonical, e.incarnation, e.xid::text::numeric,
           e.tenant_id, e.at, e.code, e.actor, e.channel, e.subject_kind, e.subject_id
    FROM ledger_seal s LEFT JOIN ledger_event e ON e.tenant_id = s.tenant_id AND e.at = s.event_at AND e.id = s.event_id
    WHERE s.tenant_id = %s AND s.seq > %s ORDER BY s.seq LIMIT %s
"""
# events that the sealer will never reach: they stand before the head, and have no seal
_BEHIND: Final = """
    SELECT count(*) FROM ledger_event e
    WHERE e.tenant_id = %s AND (e.incarnation, e.xid, e.id) <=
          (SELECT s.incarnation, s.xid, s.event_id FROM ledger_seal s WHERE s.tenant_id = %s ORDER BY s.seq DESC LIMIT 1)
      AND NOT EXISTS (SELECT 1 FROM ledger_seal s WHERE s.tenant_id = e.tenant_id AND s.event_id = e.id)
"""


@dataclass(slots=True)
class AuditVerdict:
    """What was seen of one chain. faults: empty when it is whole. checked_seq: the last number that a checkpoint outside Postgres confirms."""

    tenant_id: str
    claim: str
    events: int = 0
    head_seq: int = 0
    pruned: int = 0
    checkpoints: int = 0
    checked_seq: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.faults


class _Walk:
    """The chain's rows in order, with what checkpoints need on the way."""

    def __init__(self, verdict: AuditVerdict, checkpoints: list[Checkpoint], pruned: list[tuple[int, int]]) -> None:
        self.verdict, self.pruned, self.chain = verdict, pruned, ChainCheck()
        self.ends = {checkpoint.seq: checkpoint for checkpoint in checkpoints}
        self.tree, self.seen = MerkleTree(), {0: (b"", b"")}  # seq -> (head, root) at each checkpoint
        self.place: tuple[Any, ...] = (0, 0, "")

    def add(self, row: tuple[Any, ...]) -> None:
        seq, prev, hash_, incarnation, xid, event_id, canonical = row[:7]
        link = Link(seq, bytes(prev), bytes(hash_), None if canonical is None else bytes(canonical))
        fault = self.chain.add(link)
        if fault:
            self._blame(fault.seq, fault.code)
        elif link.canonical is None:
            self._judge_absence(seq)
        elif (incarnation, xid) != row[7:9] or not _says_the_same(link.canonical, event_id, row[9:]):
            self._blame(seq, "columns_differ")
        if (incarnation, xid, str(event_id)) <= self.place:
            self._blame(seq, "order_broken")
        self.place = (incarnation, xid, str(event_id))
        self.verdict.head_seq, self.verdict.events = seq, self.verdict.events + (canonical is not None)
        self.tree.add(link.hash)
        if seq in self.ends:
            self.seen[seq] = (link.hash, self.tree.root())
            self.tree = MerkleTree()

    def _judge_absence(self, seq: int) -> None:
        if any(first <= seq <= last for first, last in self.pruned):
            self.verdict.pruned += 1
        else:
            self._blame(seq, "event_missing")

    def _blame(self, seq: int, code: str) -> None:
        if len(self.verdict.faults) < MAX_FAULTS:
            self.verdict.faults.append(Fault(seq, code))


def verify_audit(*, tenant_id: str) -> AuditVerdict:
    """Compute one tenant's chain again from its rows, and compare it with the sink. Reads only, inside the tenant's scope.

    Fault codes name the number at fault: `hash_wrong`, `link_broken`, `seq_gap`, `seq_repeated`, `event_missing`, `columns_differ`, `order_broken`,
    `event_behind_head`; `checkpoint_signature`, `checkpoint_chain_broken`, `checkpoint_differs`, `checkpoint_beyond_head`, `checkpoint_unreadable`,
    `checkpoint_missing`; `stub_signature`.
    Raises: Unavailable("signing_key_missing"), Conflict("rotation_invalid").
    """
    target, ring = sink.find_sink(), keys.load_ring()
    verdict = AuditVerdict(str(tenant_id), CLAIM_WITH_SINK if target else CLAIM_WITHOUT)
    with scope(system_actor(tenant_id).grant):
        rows = [(checkpoint_file(bytes(row.body), bytes(row.signature)), row.seq) for row in CheckpointRow.objects.order_by("seq")]
        kept = (
            [sink.read(target, name) for name in sink.list_names(target, tenant_id) if not name.rsplit("/", 1)[1].startswith("stub")]
            if target
            else []
        )
        checkpoints = _read_checkpoints(verdict, kept or [data for data, _ in rows], ring)
        walk = _Walk(verdict, checkpoints, _read_stubs(verdict, ring))
        for row in _iter_rows(tenant_id):
            walk.add(row)
        if _count_behind(tenant_id):
            verdict.faults.append(Fault(verdict.head_seq, "event_behind_head"))
    _compare_checkpoints(verdict, checkpoints, walk)
    if target:
        verdict.faults += [Fault(seq, "checkpoint_missing") for data, seq in rows if data not in kept]
    verdict.faults.sort(key=lambda fault: (fault.seq, fault.code))
    return verdict


def _read_checkpoints(verdict: AuditVerdict, files: list[bytes], ring: KeyRing) -> list[Checkpoint]:
    found = []
    for data in files:
        parsed = read_checkpoint_file(data)
        if parsed is None:
            verdict.faults.append(Fault(0, "checkpoint_unreadable"))
        elif not ring.is_signed(parsed[0].key, parsed[0].digest(), parsed[1]):
            verdict.faults.append(Fault(parsed[0].seq, "checkpoint_signature"))
        else:
            found.append(parsed[0])
    return sorted(found, key=lambda checkpoint: checkpoint.seq)


def _compare_checkpoints(verdict: AuditVerdict, checkpoints: list[Checkpoint], walk: _Walk) -> None:
    prev, after_seq = NO_CHECKPOINT, 0
    for checkpoint in checkpoints:
        head, root = walk.seen.get(checkpoint.seq, (None, None))
        code = judge_checkpoint(checkpoint, prev=prev, after_seq=after_seq, head=head, root=root)
        if code:
            # the chain may be whole in itself and yet not the one that was signed: the first number that the signature does not confirm
            verdict.faults.append(Fault(checkpoint.from_seq if code == "checkpoint_differs" else checkpoint.seq, code))
        else:
            verdict.checkpoints, verdict.checked_seq = verdict.checkpoints + 1, checkpoint.seq
        prev, after_seq = checkpoint.digest().hex(), checkpoint.seq


def _read_stubs(verdict: AuditVerdict, ring: KeyRing) -> list[tuple[int, int]]:
    ranges = []
    for stub in Stub.objects.order_by("name"):
        body = json.loads(bytes(stub.body))
        if ring.is_signed(body["key"], statement_digest(bytes(stub.body)), bytes(stub.signature)):
            ranges += [(first, last) for first, last in body["ranges"]]
        else:
            verdict.faults.append(Fault(body["ranges"][0][0], "stub_signature"))
    return ranges


def _iter_rows(tenant_id: str) -> Iterator[tuple[Any, ...]]:
    after = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_ROWS, [tenant_id, after, PAGE])
            rows = cursor.fetchall()
        yield from rows
        if len(rows) < PAGE:
            return
        after = rows[-1][0]


def _count_behind(tenant_id: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND, [tenant_id, tenant_id])
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def _says_the_same(canonical: bytes, event_id: Any, columns: tuple[Any, ...]) -> bool:
    """Lists show the columns, the hash binds the bytes: both must say one thing."""
    tenant_id, at, code, actor, channel, kind, key = columns
    said = {"id": str(event_id), "tenant": str(tenant_id), "at": at.isoformat(), "code": code, "actor": actor, "channel": channel}
    try:
        body = json.loads(canonical)
        data = body["data"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(canonical_json({**said, "subject": [kind, key], "data": data}) == canonical)
