"""Foreign keys and unique constraints carry the tenant (GOV-T4); SECURITY DEFINER functions are the listed ones."""

from __future__ import annotations

import re

from django.apps import apps

from rag4c.platform_tables import PLATFORM_TABLES
from rag4c.scope.reasons import DEFINER_FUNCTIONS
from tests.architecture import catalogue

OUR_APPS = {"tenants", "approvals", "documents", "retrieval", "verification", "compliance", "ledger"}
WITHOUT_TENANT = {"tenants_tenant_slug_key"}  # a slug is looked up before the tenant is known; only platform operators make tenants
NO_MODEL_TENANT = {"tenants.Tenant": "is the tenant", "retrieval.EmbeddingSpace": "platform row: a model with its dimensions"}


def our_models():
    return [model for model in apps.get_models() if model._meta.app_label in OUR_APPS]


def found_keys(conn):
    return {(row[1], tuple(row[5])): row for row in conn.execute(catalogue.FOREIGN_KEYS)}


def test_every_model_has_a_tenant_or_is_on_the_short_list():
    without = {model._meta.label for model in our_models() if "tenant" not in {field.name for field in model._meta.fields}}
    assert without == set(NO_MODEL_TENANT)


def test_GOV_T4_every_relation_of_every_model_has_its_composite_foreign_key(owner):
    keys, missing, tried = found_keys(owner), [], 0
    for model in our_models():
        for field in model._meta.local_fields:
            if not (field.many_to_one or field.one_to_one) or field.name == "tenant":
                continue
            tried += 1
            row = keys.get((model._meta.db_table, ("tenant_id", field.column)))
            target = field.related_model._meta.db_table
            if row is None or row[2] != target or row[6] != ["tenant_id", "id"] or row[3] or not row[4]:
                missing.append(f"{model._meta.label}.{field.name}")
    assert missing == []
    assert tried >= 45


def test_GOV_T4_tenant_columns_point_to_the_tenant(owner):
    keys = found_keys(owner)
    missing = [
        model._meta.label
        for model in our_models()
        if model._meta.label not in NO_MODEL_TENANT and keys.get((model._meta.db_table, ("tenant_id",)), [None] * 3)[2] != "tenants_tenant"
    ]
    assert missing == []


def test_GOV_T4_no_other_foreign_key_leaves_the_tenant_out(owner):
    walled = set(catalogue.tenant_tables(owner))
    loose = [
        row[0]
        for row in owner.execute(catalogue.FOREIGN_KEYS)
        if row[1] in walled and row[2] in walled and not (row[5] == ["tenant_id"] or row[5][0] == row[6][0] == "tenant_id")
    ]
    assert loose == []


def test_our_composite_keys_are_checked_at_once_so_that_no_error_comes_at_commit(owner):
    late = [row[0] for row in owner.execute(catalogue.FOREIGN_KEYS) if len(row[5]) > 1 and row[3]]
    assert late == []


def test_GOV_T4_every_unique_constraint_carries_the_tenant(owner):
    walled = set(catalogue.tenant_tables(owner))
    loose = {
        index
        for table, index, is_primary, columns in owner.execute(catalogue.UNIQUES)
        if table in walled and not is_primary and "tenant_id" not in columns and not index.endswith("_like")
    }
    assert loose == WITHOUT_TENANT


def test_no_tenant_table_has_a_many_to_many_field():
    assert [field for model in our_models() for field in model._meta.local_many_to_many] == []


def test_definer_functions_are_the_listed_ones_with_a_fixed_path_and_one_caller(owner):
    rows = owner.execute(catalogue.DEFINERS).fetchall()
    assert {row[0] for row in rows} == set(DEFINER_FUNCTIONS)
    for name, config, function_owner, _, callers, is_default_acl in rows:
        assert config == ["search_path=pg_catalog, pg_temp"], name
        assert function_owner == "rag4c_owner", name
        caller = "rag4c_" + DEFINER_FUNCTIONS[name].split(":")[0]
        assert not is_default_acl, name  # NULL means that PUBLIC may execute
        assert callers == [caller], name


def test_definer_functions_name_every_table_with_its_schema(owner):
    for name, _, _, body, _, _ in owner.execute(catalogue.DEFINERS):
        tables = re.findall(r"(?:FROM|JOIN)\s+([\w.]+)", body)
        assert tables, name
        assert all(table.startswith("public.") for table in tables), name


def test_no_other_function_of_ours_can_be_executed_by_everybody(owner):
    rows = owner.execute(
        "SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE') "
        "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
    ).fetchall()
    assert rows == []


def test_platform_tables_hold_no_tenant_column(owner):
    rows = owner.execute(
        "SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attname = 'tenant_id' AND c.relname = ANY(%s)",
        [list(PLATFORM_TABLES)],
    ).fetchall()
    assert rows == []
