"""Monthly partitions of the event table, made ahead by the owner (`init-db`, `maintain`)."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from django.db import connection

MONTHS_AHEAD: Final = 12
_OPEN_TO_TRUNCATE: Final = """
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'ledger_event'::regclass
      AND NOT EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'ledger_event_no_truncate')
"""


def ensure_event_partitions(today: date, months_ahead: int = MONTHS_AHEAD) -> list[str]:
    """Make the partition of this month and of the months ahead; returns the new names. A month that the default partition already serves is left to it."""
    made = []
    with connection.cursor() as cursor:
        for offset in range(months_ahead + 1):
            first, after = _month(today, offset), _month(today, offset + 1)
            name = f"ledger_event_{first:%Y%m}"
            cursor.execute(
                "SELECT to_regclass(%s) IS NULL AND NOT EXISTS (SELECT 1 FROM ledger_event_default WHERE at >= %s AND at < %s)", [name, first, after]
            )
            row = cursor.fetchone()
            if row and row[0]:
                cursor.execute(f"CREATE TABLE \"{name}\" PARTITION OF ledger_event FOR VALUES FROM ('{first}') TO ('{after}')")
                made.append(name)
        _refuse_truncate(cursor)
    return made


def _refuse_truncate(cursor: Any) -> None:
    """Row triggers reach partitions by themselves; the parent's TRUNCATE trigger does not fire for a partition that is named directly."""
    cursor.execute(_OPEN_TO_TRUNCATE)
    for (name,) in cursor.fetchall():
        cursor.execute(
            f'CREATE TRIGGER ledger_event_no_truncate BEFORE TRUNCATE ON "{name}" FOR EACH STATEMENT EXECUTE FUNCTION rag4c_refuse_change()'
        )


def _month(day: date, offset: int) -> date:
    index = day.year * 12 + day.month - 1 + offset
    return date(index // 12, index % 12 + 1, 1)
