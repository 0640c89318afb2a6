"""Row-level security, least privileges and foreign keys with their tenant. Immutable tables take no UPDATE."""

from django.db import migrations

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = {
    "documents_ingestpolicy": "SELECT, INSERT",
    "documents_knowledgebase": "SELECT, INSERT, UPDATE",
    "documents_datasource": "SELECT, INSERT, UPDATE",
    "documents_document": "SELECT, INSERT, UPDATE",
    "documents_blob": "SELECT, INSERT",
    "documents_revision": "SELECT, INSERT",
    "documents_parseattempt": "SELECT, INSERT",
    "documents_element": "SELECT, INSERT",
    "documents_chunkversion": "SELECT, INSERT",
    "documents_revisionchunk": "SELECT, INSERT",
    "documents_fact": "SELECT, INSERT",
    "documents_ingestjob": "SELECT, INSERT, UPDATE",
    "documents_syncrun": "SELECT, INSERT, UPDATE",
    "documents_refusedfile": "SELECT, INSERT",
    "documents_factmapping": "SELECT, INSERT",
}
FOREIGN_KEYS = (
    ("documents_knowledgebase", "workspace_id", "tenants_workspace"),
    ("documents_datasource", "knowledge_base_id", "documents_knowledgebase"),
    ("documents_datasource", "acl_id", "tenants_aclset"),
    ("documents_document", "knowledge_base_id", "documents_knowledgebase"),
    ("documents_document", "source_id", "documents_datasource"),
    ("documents_document", "head_id", "documents_revision"),
    ("documents_revision", "document_id", "documents_document"),
    ("documents_revision", "blob_id", "documents_blob"),
    ("documents_parseattempt", "revision_id", "documents_revision"),
    ("documents_element", "parse_id", "documents_parseattempt"),
    ("documents_chunkversion", "document_id", "documents_document"),
    ("documents_revisionchunk", "parse_id", "documents_parseattempt"),
    ("documents_revisionchunk", "revision_id", "documents_revision"),
    ("documents_revisionchunk", "chunk_version_id", "documents_chunkversion"),
    ("documents_fact", "parse_id", "documents_parseattempt"),
    ("documents_fact", "document_id", "documents_document"),
    ("documents_fact", "revision_id", "documents_revision"),
    ("documents_ingestjob", "revision_id", "documents_revision"),
    ("documents_syncrun", "source_id", "documents_datasource"),
    ("documents_refusedfile", "run_id", "documents_syncrun"),
)

DUE = """
CREATE FUNCTION rag4c_due_jobs(p_limit integer) RETURNS TABLE (tenant_id uuid, job_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT j.tenant_id, j.id FROM public.documents_ingestjob j
      WHERE j.state IN ('waiting', 'parsing', 'splitting') AND (j.lease_until IS NULL OR j.lease_until < pg_catalog.clock_timestamp())
      ORDER BY j.created_at LIMIT p_limit $$;
GRANT EXECUTE ON FUNCTION rag4c_due_jobs(integer) TO rag4c_system;
"""
DUE_BACK = "DROP FUNCTION rag4c_due_jobs(integer);"


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_initial"), ("tenants", "0002_walls")]
    operations = [
        *(EnableTenantRLS(table, grants=grants) for table, grants in TABLES.items()),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
        migrations.RunSQL(DUE, DUE_BACK),
    ]
