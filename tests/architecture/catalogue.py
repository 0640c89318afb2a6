"""What the database catalogue says, as small rows; nothing here decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psycopg

TABLES = """
SELECT c.relname, c.relispartition, c.relkind = 'p', c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner)
FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1
"""
POLICIES = """
SELECT p.polrelid::regclass::text, p.polname, p.polpermissive, p.polcmd::text,
       (SELECT array_agg(CASE role WHEN 0 THEN 'public' ELSE role::regrole::text END) FROM unnest(p.polroles) AS role),
       pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)
FROM pg_policy p ORDER BY 1, 2
"""
GRANTS = """
SELECT c.relname, CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END, a.privilege_type
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND a.grantee <> c.relowner
"""
COLUMN_GRANTS = """
SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND a.attacl IS NOT NULL
"""
FOREIGN_KEYS = """
SELECT c.conname, c.conrelid::regclass::text, c.confrelid::regclass::text, c.condeferred, c.convalidated,
       (SELECT array_agg(a.attname::text ORDER BY k.i) FROM unnest(c.conkey) WITH ORDINALITY k(n, i)
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n),
       (SELECT array_agg(a.attname::text ORDER BY k.i) FROM unnest(c.confkey) WITH ORDINALITY k(n, i)
        JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.n)
FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 AND c.connamespace = 'public'::regnamespace
"""
UNIQUES = """
SELECT t.relname, i.relname, x.indisprimary,
       array(SELECT a.attname::text FROM unnest(x.indkey) k JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k)
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace AND NOT t.relispartition
"""
DEFINERS = """
SELECT p.proname, p.proconfig, pg_get_userbyid(p.proowner), p.prosrc,
       (SELECT array_agg(CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END ORDER BY 1)
        FROM aclexplode(p.proacl) a WHERE a.grantee <> p.proowner),
       p.proacl IS NULL
FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
"""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    is_partition: bool
    is_partitioned: bool
    has_rls: bool
    forces_rls: bool
    owner: str


def list_tables(conn: psycopg.Connection) -> list[Table]:
    return [Table(*row) for row in conn.execute(TABLES)]


def list_grants(conn: psycopg.Connection) -> dict[str, dict[str, set[str]]]:
    """table -> role -> privileges, of everybody but the owner."""
    found: dict[str, dict[str, set[str]]] = {}
    for table, role, privilege in conn.execute(GRANTS):
        found.setdefault(table, {}).setdefault(role, set()).add(privilege)
    return found


def tenant_tables(conn: psycopg.Connection) -> list[str]:
    """Tables that carry a tenant: all but partitions and the listed platform tables."""
    from rag4c.platform_tables import PLATFORM_TABLES

    return [table.name for table in list_tables(conn) if not table.is_partition and table.name not in PLATFORM_TABLES]
