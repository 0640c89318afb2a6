"""Puts a row of each tenant into every tenant table, as a superuser with triggers and foreign keys off. For the wall tests only."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from psycopg import sql

if TYPE_CHECKING:
    import psycopg

COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND d.oid IS NULL AND a.attidentity = ''
"""
# check constraints: a span is not empty, what is dated ends after it begins, and a reason goes with the state `error` only
FITTING = {"span_end": "2", "error_reason": "", "expires_at": "2099-01-02T03:04:05Z", "valid_to": "2026-02-03T04:05:06Z"}
VALUES = {"uuid": "", "boolean": "true", "date": "2026-01-02", "jsonb": "{}", "bytea": "\\x00"}


def fill_tables(superuser: psycopg.Connection, tables: list[str], tenants: list[uuid.UUID]) -> None:
    """One more row of each tenant in each table; the tenants themselves exist already."""
    superuser.execute("SET session_replication_role = replica")
    for table in tables:
        if table == "tenants_tenant":
            continue
        for tenant_id in tenants:
            insert_row(superuser, table, tenant_id)
    superuser.execute("SET session_replication_role = origin")


def insert_row(conn: psycopg.Connection, table: str, tenant_id: uuid.UUID) -> None:
    """A row that keeps the table's NOT NULL and CHECK constraints; ON CONFLICT for the tables with one row a tenant."""
    columns = conn.execute(COLUMNS, [table]).fetchall()
    values = {name: str(tenant_id) if name == "tenant_id" else FITTING.get(name, _value_of(kind)) for name, kind in columns}
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, values)), sql.SQL(", ").join(sql.Literal(value) for value in values.values())
    )
    conn.execute(statement)


def _value_of(kind: str) -> str:
    if kind == "uuid":
        return str(uuid.uuid4())
    if kind.endswith("[]"):
        return "{}"
    if kind.startswith("timestamp"):
        return "2026-01-02T03:04:05Z"
    if kind.startswith("halfvec"):
        return str([0] * int(kind.removeprefix("halfvec(").removesuffix(")")))
    return VALUES.get(kind, "1")
