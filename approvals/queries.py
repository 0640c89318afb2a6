"""SQL that the ORM has no words for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

if TYPE_CHECKING:
    import uuid
    from datetime import datetime


def database_now() -> datetime:
    """The database's time at this moment, moving on inside a transaction (GOV-A11)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row: tuple[datetime] = cursor.fetchone()
    return row[0]


def lock_delegations(tenant_id: uuid.UUID) -> None:
    """One writer of delegations a tenant at a time, to the end of the transaction: chains are found by looking at all of them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"rag4c.delegations.{tenant_id}"])


def due_approvals(limit: int) -> list[tuple[str, str]]:
    """(tenant, request) pairs to look at, over all tenants. Only under the system login; reads the partial index on wake_at."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id::text, request_id::text FROM rag4c_due_approvals(%s)", [limit])
        return [(row[0], row[1]) for row in cursor.fetchall()]
