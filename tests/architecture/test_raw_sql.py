"""Raw SQL under each login, on every tenant table, with rows of two tenants in it: the walls do not lean on our Python."""

from __future__ import annotations

import uuid

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from tests.architecture import catalogue, filling
from tests.builders import make_tenant

REFUSED = "violates row-level security|permission denied for table"


@pytest.fixture(scope="module")
def filled(postgres_clones, worker_name, django_db_setup, django_db_blocker):
    """(database, tables, acme, globex): every table holds at least one row of both tenants. Shared, since no test here may change anything."""
    name = f"rag4c_walls_{worker_name}"
    postgres_clones.admin(f'CREATE DATABASE "{name}" TEMPLATE rag4c_template OWNER rag4c_owner STRATEGY FILE_COPY')
    with django_db_blocker.unblock():
        postgres_clones.use(name)
        acme, globex = make_tenant("acme").id, make_tenant("globex").id
        postgres_clones.use(f"rag4c_test_{worker_name}")
    with psycopg.connect(postgres_clones.dsn("postgres", name), autocommit=True) as superuser:
        tables = catalogue.tenant_tables(superuser)
        filling.fill_tables(superuser, tables, [acme, globex])
        for table in tables:
            assert count_of(superuser, table, acme) >= 1, table
            assert count_of(superuser, table, globex) >= 1, table
    yield name, tables, acme, globex
    postgres_clones.admin(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def world(filled, postgres_clones):
    """(app connection, system connection, tables, acme, globex)."""
    name, tables, acme, globex = filled
    with (
        psycopg.connect(postgres_clones.dsn("rag4c_app", name), autocommit=True) as app,
        psycopg.connect(postgres_clones.dsn("rag4c_system", name), autocommit=True) as system,
    ):
        yield app, system, tables, acme, globex


def column_of(table):
    return "id" if table == "tenants_tenant" else "tenant_id"


def count_of(conn, table, tenant_id=None):
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
    if tenant_id is not None:
        query += sql.SQL(" WHERE {} = {}").format(sql.Identifier(column_of(table)), sql.Literal(tenant_id))
    return conn.execute(query).fetchone()[0]


def set_tenant(conn, value):
    conn.execute("SELECT set_config('rag4c.tenant', %s, false)", [str(value)])


def insert_bare(conn, table, tenant_id):
    """The policy is checked before NOT NULL and CHECK, so a bare row is enough."""
    conn.execute(sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(sql.Identifier(table), sql.Identifier(column_of(table)), sql.Literal(tenant_id)))


def test_GOV_T2_without_a_tenant_every_table_is_empty(world):
    app, _, tables, _, _ = world
    assert {table: count_of(app, table) for table in tables} == dict.fromkeys(tables, 0)
    set_tenant(app, "")  # what a transaction-local setting leaves behind
    assert {table: count_of(app, table) for table in tables} == dict.fromkeys(tables, 0)


def test_GOV_T2_without_a_tenant_nothing_can_be_inserted(world):
    app, _, tables, acme, _ = world
    for table in tables:
        with pytest.raises(InsufficientPrivilege, match=REFUSED):
            insert_bare(app, table, acme)


def test_GOV_T3_with_a_tenant_its_rows_only_are_seen_in_every_table(world):
    app, _, tables, acme, globex = world
    set_tenant(app, acme)
    for table in tables:
        assert count_of(app, table) == count_of(app, table, acme) >= 1, table
        assert count_of(app, table, globex) == 0, table


def test_GOV_T3_rows_of_another_tenant_can_be_neither_inserted_changed_nor_deleted(world):
    app, _, tables, acme, globex = world
    set_tenant(app, acme)
    tried = {"INSERT": 0, "UPDATE": 0, "DELETE": 0}
    for table in tables:
        with pytest.raises(InsufficientPrivilege, match=REFUSED):
            insert_bare(app, table, globex)
        tried["INSERT"] += 1
        name, column = sql.Identifier(table), sql.Identifier(column_of(table))
        for verb, text in (("UPDATE", "UPDATE {0} SET {1} = {1} WHERE {1} = {2}"), ("DELETE", "DELETE FROM {0} WHERE {1} = {2}")):
            statement = sql.SQL(text).format(name, column, sql.Literal(globex))
            allowed = app.execute("SELECT has_table_privilege(%s, %s)", [table, verb]).fetchone()[0]
            if allowed:
                assert app.execute(statement).rowcount == 0, table
            else:
                with pytest.raises(InsufficientPrivilege):
                    app.execute(statement)
            tried[verb] += 1
    assert min(tried.values()) == len(tables)


def test_GOV_T3_a_row_cannot_be_moved_to_another_tenant(world):
    app, _, tables, acme, globex = world
    set_tenant(app, acme)
    moved = [table for table in tables if app.execute("SELECT has_table_privilege(%s, 'UPDATE')", [table]).fetchone()[0]]
    assert len(moved) >= 15
    for table in moved:
        statement = sql.SQL("UPDATE {} SET {} = {}").format(sql.Identifier(table), sql.Identifier(column_of(table)), sql.Literal(globex))
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            app.execute(statement)


def test_GOV_T3_partitions_cannot_be_read_past_their_parent(world):
    app, system, _, acme, _ = world
    set_tenant(app, acme)
    partitions = [table.name for table in catalogue.list_tables(app) if table.is_partition]
    assert len(partitions) >= 20
    for name in partitions:
        for conn in (app, system):
            with pytest.raises(InsufficientPrivilege):
                count_of(conn, name)


def test_GOV_T3_the_app_cannot_truncate_copy_into_or_change_any_table(world):
    app, _, tables, acme, _ = world
    set_tenant(app, acme)
    for table in tables:
        for text in ("TRUNCATE {}", "ALTER TABLE {} DISABLE ROW LEVEL SECURITY", "DROP POLICY tenant_app ON {}"):
            with pytest.raises(InsufficientPrivilege):
                app.execute(sql.SQL(text).format(sql.Identifier(table)))


def test_GOV_T3_no_login_can_become_another(world):
    app, system, _, _, _ = world
    for conn in (app, system):
        for statement in (
            "SET ROLE rag4c_owner",
            "SET SESSION AUTHORIZATION rag4c_owner",
            "SET row_security = off; SELECT count(*) FROM documents_document",
        ):
            with pytest.raises(psycopg.Error):
                conn.execute(statement)


def test_GOV_T8_the_system_login_reads_no_tenant_table(world):
    _, system, tables, acme, _ = world
    set_tenant(system, acme)
    for table in tables:
        with pytest.raises(InsufficientPrivilege):
            count_of(system, table)


def test_a_tenant_that_is_no_uuid_is_an_error_and_not_everything(world):
    app = world[0]
    set_tenant(app, "' OR true --")
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        count_of(app, "documents_document")


def test_an_unknown_tenant_sees_nothing(world):
    app, _, tables, _, _ = world
    set_tenant(app, uuid.uuid4())
    assert {table: count_of(app, table) for table in tables} == dict.fromkeys(tables, 0)
