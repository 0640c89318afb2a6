"""The sealer: gives committed events their place in the tenant's chain. Runs under the system login, through listed functions only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  # a field of a dataclass
from typing import Final

from django.db import connection, transaction

from rag4c.kernel import clock, env
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.ledger.api.recording import record
from rag4c.ledger.models import Event
from rag4c.scope.manager import outside_scope, scope

__all__ = ["SealLag", "Waiting", "find_unchecked_chains", "find_waiting", "read_seal_lag", "report_delay", "seal_all", "seal_tenant"]
BATCH: Final = 2_000  # events of one transaction: about 0.1 s
DELAYED_S: Final = 120  # the sealer comes every few seconds; this long means that it is down or held
_TRANSACTIONS: Final = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start)), 0)::float8
    FROM pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
"""
_HOLDER: Final = """
    SELECT l.pid FROM pg_locks l
    WHERE l.locktype = 'transactionid' AND l.granted AND l.transactionid = pg_snapshot_xmin(pg_current_snapshot())::xid LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A tenant's oldest event without a seal. is_held: an open transaction, not the sealer, keeps it waiting."""

    tenant_id: str
    event_id: str
    at: datetime
    is_held: bool

    @property
    def age_s(self) -> float:
        """Seconds since the event, by this process's clock."""
        return (clock.now() - self.at).total_seconds()


@dataclass(frozen=True, slots=True)
class SealLag:
    """How far the seals are behind, over all tenants (GOV-U10).

    Args: lag_s: age of the oldest event without a seal. oldest_transaction_s: of the transactions that this login can see.
    holder_pid: backend of the transaction that holds sealing up, 0 for none.
    """

    waiting_tenants: int
    lag_s: float
    oldest_transaction_s: float
    holder_pid: int

    @property
    def code(self) -> str:
        """`ok`, `seal_delayed` or `seal_held` (by an open transaction)."""
        if self.lag_s < DELAYED_S:
            return "ok"
        return "seal_held" if self.holder_pid else "seal_delayed"


def seal_tenant(*, tenant_id: str, limit: int = BATCH) -> int:
    """Seal at most `limit` events of one tenant in one transaction; 0 when nothing waits or another sealer is at it (GOV-U1)."""
    with outside_scope("sealing"):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT rag4c_seal(%s, %s)", [tenant_id, limit])
            row = cursor.fetchone()
            fp("seal.commit.before")
        fp("seal.commit.after")
    return int(row[0]) if row else 0


def seal_all(*, limit: int = BATCH) -> int:
    """Seal whatever waits, tenant by tenant and batch by batch; returns how many seals were written."""
    total = 0
    for waiting in find_waiting():
        while sealed := seal_tenant(tenant_id=waiting.tenant_id, limit=limit):
            total += sealed
            if sealed < limit:
                break
    return total


def find_waiting() -> list[Waiting]:
    """Every tenant with an event that has no seal, active or not. Only under the system login."""
    with outside_scope("sealing"), connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id::text, event_id::text, event_at, is_held FROM rag4c_unsealed()")
        return [Waiting(*row) for row in cursor.fetchall()]


def find_unchecked_chains() -> list[tuple[str, str]]:
    """(tenant, event of the head) of the chains that are due for a checkpoint. Only under the system login."""
    limits: list[int | str] = [env.read_int("RAG4C_CHECKPOINT_SEALS"), f"{env.read_int('RAG4C_CHECKPOINT_MINUTES')} minutes"]
    with outside_scope("sealing"), connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id::text, event_id::text FROM rag4c_unchecked_seals(%s, %s::interval)", limits)
        return [(row[0], row[1]) for row in cursor.fetchall()]


def read_seal_lag() -> SealLag:
    """The figures of `rag4c doctor` and `/readyz`, under the app login; numbers only."""
    with outside_scope("seal_lag"), connection.cursor() as cursor:
        cursor.execute("SELECT tenants, coalesce(extract(epoch FROM clock_timestamp() - oldest_at), 0)::float8, is_held FROM rag4c_seal_lag()")
        tenants, lag_s, is_held = cursor.fetchone()
        cursor.execute(_TRANSACTIONS)
        oldest_s = cursor.fetchone()[0]
        cursor.execute(_HOLDER)
        holder = cursor.fetchone() if is_held else None
    return SealLag(tenants, max(lag_s, 0.0), max(oldest_s, 0.0), holder[0] if holder else 0)


def report_delay(*, tenant_id: str, event_id: str) -> bool:
    """Record that an event waits too long for its seal, once an event; whether this was the first time."""
    actor = system_actor(tenant_id)
    with scope(actor.grant):
        if Event.objects.filter(code="seal.delayed", subject_kind="event", subject_id=event_id).exists():
            return False
        record(actor, "seal.delayed", subject=("event", event_id))
    return True
