"""Row-level security, least privileges and foreign keys with their tenant. Immutable tables take no UPDATE."""

from django.db import migrations

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = {
    "tenants_tenant": "SELECT, INSERT, UPDATE",
    "tenants_workspace": "SELECT, INSERT, UPDATE",
    "tenants_user": "SELECT, INSERT, UPDATE",
    "tenants_group": "SELECT, INSERT, UPDATE",
    "tenants_membership": "SELECT, INSERT, UPDATE",
    "tenants_roleassignment": "SELECT, INSERT, UPDATE",
    "tenants_clearance": "SELECT, INSERT, UPDATE",
    "tenants_aclset": "SELECT, INSERT",
    "tenants_aclassignment": "SELECT, INSERT, UPDATE",
    "tenants_aclrevision": "SELECT, INSERT, UPDATE",
    "tenants_apitoken": "SELECT, INSERT, UPDATE",
}
FOREIGN_KEYS = (
    ("tenants_membership", "group_id", "tenants_group"),
    ("tenants_membership", "user_id", "tenants_user"),
    ("tenants_roleassignment", "user_id", "tenants_user"),
    ("tenants_clearance", "user_id", "tenants_user"),
    ("tenants_aclassignment", "acl_id", "tenants_aclset"),
    ("tenants_apitoken", "user_id", "tenants_user"),
)

LOOKUPS = """
CREATE FUNCTION rag4c_tenant_by_slug(p_slug text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT id FROM public.tenants_tenant WHERE slug = p_slug AND is_active $$;
CREATE FUNCTION rag4c_tenant_ids() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT id FROM public.tenants_tenant WHERE is_active ORDER BY id $$;
GRANT EXECUTE ON FUNCTION rag4c_tenant_by_slug(text) TO rag4c_app;
GRANT EXECUTE ON FUNCTION rag4c_tenant_ids() TO rag4c_system;
"""
LOOKUPS_BACK = "DROP FUNCTION rag4c_tenant_by_slug(text); DROP FUNCTION rag4c_tenant_ids();"


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]
    operations = [
        *(EnableTenantRLS(table, grants=grants, column="id" if table == "tenants_tenant" else "tenant_id") for table, grants in TABLES.items()),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
        migrations.RunSQL(LOOKUPS, LOOKUPS_BACK),
    ]
