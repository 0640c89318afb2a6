"""Roles, database, extension and grants of a server, ours or a configured one. Everything may run again at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from rag4c.kernel.errors import Conflict, Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

OWNER, APP, SYSTEM = "rag4c_owner", "rag4c_app", "rag4c_system"
MIN_SERVER_VERSION = 160000  # as server_version_num counts: 16.0
MIN_PGVECTOR = (0, 8)
CONNECT_TIMEOUT_S = 10
INIT_LOCK = 0x7261673463  # "rag4c": two starts at the same time would both create the roles
ROLE_OPTIONS = sql.SQL("LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT")
PRIVILEGES = {name: sql.SQL(name) for name in ("SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "TRIGGER")}


def init_database(admin_dsn: str, passwords: Mapping[str, str], dbname: str) -> None:
    """All that only a superuser can do: check the server, then roles, database, extension and revokes. Migrations come after it.

    Args: admin_dsn: of a superuser. passwords: by role name, for the three roles.
    Raises: as `check_server`.
    """
    check_server(admin_dsn)
    with psycopg.connect(admin_dsn, autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(%s)", [INIT_LOCK])  # let go when the connection closes
        _ensure_roles(conn, passwords)
        _ensure_database(conn, dbname)
        _ensure_walls(make_conninfo(admin_dsn, dbname=dbname), dbname)


def check_server(admin_dsn: str) -> None:
    """Say plainly what a configured server lacks.

    Raises: Invalid `database_url_invalid`, Unavailable `database_unreachable`, Conflict `postgres_too_old`, `database_not_superuser`,
    `pgvector_missing`.
    """
    with _connect(admin_dsn) as conn:
        check_server_version(conn.info.server_version)
        row = conn.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
        if not row or not row[0]:
            raise Conflict(
                "database_not_superuser",
                f"{conn.info.user} is not a superuser; RAG4C_DATABASE_URL must name one, since pgvector and the roles need it "
                "(it is used for init-db only).",
            )
        found = conn.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'").fetchone()
        if not found or tuple(int(part) for part in str(found[0]).split(".")[:2]) < MIN_PGVECTOR:
            has = f"has pgvector {found[0]}" if found else "has no pgvector"
            raise Conflict("pgvector_missing", f"The server {has}; install pgvector 0.8 or later there and start again.")


def check_server_version(version: int) -> None:
    """Raise Conflict `postgres_too_old` below 16. Args: version: as server_version_num counts, 180004 is 18.4."""
    if version < MIN_SERVER_VERSION:
        raise Conflict("postgres_too_old", f"The server is Postgres {version // 10000}; 16 or later is needed.", {"found": version})


def grant_platform_tables(owner_dsn: str, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Give each login exactly what is listed on the tables without a tenant, and take all else from it.

    Args: tables: table -> role -> privileges, such as {"django_session": {"rag4c_app": "SELECT, DELETE"}}.
    Raises: Conflict `platform_table_missing`, Invalid `privilege_unknown`.
    """
    with psycopg.connect(owner_dsn) as conn:
        for table, grants in tables.items():
            row = conn.execute("SELECT to_regclass(%s)", [table]).fetchone()
            if not row or row[0] is None:
                raise Conflict("platform_table_missing", f"There is no table {table}; run the migrations first.", {"table": table})
            name = sql.Identifier(table)
            conn.execute(sql.SQL("REVOKE ALL ON {} FROM {}, {}").format(name, sql.Identifier(APP), sql.Identifier(SYSTEM)))
            for role, privileges in grants.items():
                conn.execute(sql.SQL("GRANT {} ON {} TO {}").format(_compose_privileges(privileges), name, sql.Identifier(role)))


def _connect(dsn: str) -> psycopg.Connection[tuple[object, ...]]:
    try:
        return psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
    except psycopg.ProgrammingError as exc:
        raise Invalid("database_url_invalid", "RAG4C_DATABASE_URL cannot be read; write postgresql://user:password@host:port/name.") from exc
    except psycopg.OperationalError as exc:
        raise Unavailable("database_unreachable", f"The database does not take our login; check RAG4C_DATABASE_URL ({_first_line(exc)}).") from exc


def _first_line(exc: Exception) -> str:
    return str(exc).strip().splitlines()[0] if str(exc).strip() else type(exc).__name__


def _ensure_roles(conn: psycopg.Connection[tuple[object, ...]], passwords: Mapping[str, str]) -> None:
    for role in (OWNER, APP, SYSTEM):
        found = conn.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
        # the verifier instead of the password: the statement may end up in the server's log
        verifier = conn.pgconn.encrypt_password(passwords[role].encode(), role.encode(), b"scram-sha-256").decode()
        verb = sql.SQL("ALTER" if found else "CREATE")
        conn.execute(sql.SQL("{} ROLE {} {} PASSWORD {}").format(verb, sql.Identifier(role), ROLE_OPTIONS, sql.Literal(verifier)))


def _ensure_database(conn: psycopg.Connection[tuple[object, ...]], dbname: str) -> None:
    if not conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", [dbname]).fetchone():
        statement = "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'"
        conn.execute(sql.SQL(statement).format(sql.Identifier(dbname), sql.Identifier(OWNER)))


def _ensure_walls(admin_dsn: str, dbname: str) -> None:
    """No default privileges on tables: they would reach partitions too, past their parent's policy, and a forgotten table would be readable."""
    names = {"db": sql.Identifier(dbname), "owner": sql.Identifier(OWNER), "app": sql.Identifier(APP), "system": sql.Identifier(SYSTEM)}
    statements = (
        "CREATE EXTENSION IF NOT EXISTS vector",
        "ALTER DATABASE {db} OWNER TO {owner}",
        "REVOKE ALL ON DATABASE {db} FROM PUBLIC, {app}, {system}",
        "GRANT CONNECT ON DATABASE {db} TO {app}, {system}",
        "ALTER SCHEMA public OWNER TO {owner}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC, {app}, {system}",
        "GRANT USAGE ON SCHEMA public TO {app}, {system}",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
    )
    with psycopg.connect(admin_dsn) as conn:  # one transaction: nobody sees a moment without a grant
        for statement in statements:
            conn.execute(sql.SQL(statement).format(**names))


def _compose_privileges(text: str) -> sql.Composable:
    wanted = [part.strip().upper() for part in text.split(",")]
    unknown = [part for part in wanted if part not in PRIVILEGES]
    if unknown:
        raise Invalid("privilege_unknown", f"{unknown[0]} is not a privilege that a login may have on a table.")
    return sql.SQL(", ").join(PRIVILEGES[part] for part in wanted)
