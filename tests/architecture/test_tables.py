"""Walks pg_class: every table has its wall, or is on the short list of platform tables."""

from __future__ import annotations

import importlib
import pkgutil

from django.apps import apps

from rag4c.platform_tables import PLATFORM_TABLES
from rag4c.scope.operations import EnableTenantRLS
from tests.architecture import catalogue

USING = "({column} = (NULLIF(current_setting('rag4c.tenant'::text, true), ''::text))::uuid)"
TENANT_ROW = "tenants_tenant"  # the tenant itself: its id is the tenant
VECTOR_GRANTS = {"SELECT", "INSERT", "DELETE"}  # tables of embedding spaces are made by init-db, not by a migration
WALLS = ("tenants", "documents", "retrieval", "verification", "approvals", "compliance", "rag4c.ledger")
WRITES = {"INSERT", "UPDATE", "DELETE"}


def declared_grants() -> dict[str, set[str]]:
    """table -> privileges of the app, as the migrations' wall operations say."""
    found = {}
    for app in apps.get_app_configs():
        if app.name not in WALLS:
            continue
        for name in pkgutil.iter_modules([f"{app.path}/migrations"]):
            migration = importlib.import_module(f"{app.name}.migrations.{name.name}").Migration
            for operation in migration.operations:
                if isinstance(operation, EnableTenantRLS):
                    granted = operation.forward[-1].removeprefix("GRANT ").split(" ON ")[0]
                    found[operation.table] = set(granted.split(", "))
    return found


def expected_policies(table: str) -> list[tuple[object, ...]]:
    check = USING.format(column="id" if table == TENANT_ROW else "tenant_id")
    return [("tenant_app", True, "*", ["rag4c_app"], check, check), ("tenant_owner", True, "*", ["rag4c_owner"], "true", "true")]


def test_GOV_T3_every_tenant_table_has_forced_row_level_security(owner):
    walled = set(catalogue.tenant_tables(owner))
    assert len(walled) >= 45
    weak = [table.name for table in catalogue.list_tables(owner) if table.name in walled and not (table.has_rls and table.forces_rls)]
    assert weak == []


def test_GOV_T3_every_tenant_table_has_exactly_the_two_policies(owner):
    found: dict[str, list[tuple[object, ...]]] = {}
    for table, *policy in owner.execute(catalogue.POLICIES):
        found.setdefault(table, []).append(tuple(policy))
    wrong = {table: found.get(table) for table in catalogue.tenant_tables(owner) if found.pop(table, None) != expected_policies(table)}
    assert wrong == {}
    assert found == {}  # no policy on a platform table or a partition


def test_GOV_T3_all_tables_belong_to_the_owner_role_and_the_logins_own_nothing(owner):
    assert {table.owner for table in catalogue.list_tables(owner)} == {"rag4c_owner"}
    owned = owner.execute("SELECT relname FROM pg_class WHERE relowner IN ('rag4c_app'::regrole, 'rag4c_system'::regrole)").fetchall()
    assert owned == []


def test_GOV_T3_grants_on_tenant_tables_are_those_of_the_migrations(owner):
    declared, found = declared_grants(), catalogue.list_grants(owner)
    spaces = {row[0] for row in owner.execute("SELECT table_name FROM retrieval_embeddingspace")}
    expected = {table: {"rag4c_app": VECTOR_GRANTS if table in spaces else declared.get(table)} for table in catalogue.tenant_tables(owner)}
    assert {table: found.get(table) for table in expected} == expected


def test_GOV_T3_nobody_but_the_owner_may_truncate_or_reference(owner):
    wide = {
        (table, role): privileges - WRITES - {"SELECT"}
        for table, roles in catalogue.list_grants(owner).items()
        for role, privileges in roles.items()
        if privileges - WRITES - {"SELECT"}
    }
    assert wide == {}
    assert owner.execute(catalogue.COLUMN_GRANTS).fetchall() == []


def test_GOV_T3_partitions_have_no_grants_since_they_skip_their_parents_policy(owner):
    grants = catalogue.list_grants(owner)
    partitions = [table.name for table in catalogue.list_tables(owner) if table.is_partition]
    assert len(partitions) >= 20
    assert {name: grants[name] for name in partitions if name in grants} == {}


def test_platform_tables_and_their_grants_are_the_listed_ones(owner):
    grants = catalogue.list_grants(owner)
    tables = {table.name for table in catalogue.list_tables(owner)}
    assert set(PLATFORM_TABLES) <= tables
    expected = {table: {role: set(text.split(", ")) for role, text in roles.items()} for table, roles in PLATFORM_TABLES.items()}
    assert {table: grants.get(table, {}) for table in expected} == expected


def test_the_system_login_has_no_table_of_a_tenant(owner):
    grants = catalogue.list_grants(owner)
    assert {table for table, roles in grants.items() if "rag4c_system" in roles} <= set(PLATFORM_TABLES)
    assert all("public" not in roles for roles in grants.values())


def test_no_default_privileges_would_reach_a_new_table(owner):
    rows = owner.execute("SELECT defaclobjtype::text, defaclacl::text FROM pg_default_acl WHERE defaclobjtype = 'r'").fetchall()
    assert rows == []


def test_GOV_T9_views_run_as_their_caller(owner):
    rows = owner.execute(
        "SELECT relname, coalesce(reloptions::text, '') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')"
    ).fetchall()
    assert [name for name, options in rows if "security_invoker=true" not in options and "security_invoker=on" not in options] == []


def test_the_logins_are_plain(owner):
    rows = owner.execute(
        "SELECT rolname FROM pg_roles WHERE rolname IN ('rag4c_app', 'rag4c_system', 'rag4c_owner') "
        "AND NOT (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)"
    ).fetchall()
    assert len(rows) == 3
    members = owner.execute("SELECT 1 FROM pg_auth_members WHERE member IN ('rag4c_app'::regrole, 'rag4c_system'::regrole)").fetchall()
    assert members == []  # SET ROLE would lend the power of the role
