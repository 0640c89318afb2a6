"""Row-level security, least privileges and foreign keys with their tenant. Immutable tables take no UPDATE."""

from django.db import migrations

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = {
    "retrieval_retrievalpolicy": "SELECT, INSERT",
    "retrieval_lexsegment": "SELECT, INSERT",
    "retrieval_lexblock": "SELECT, INSERT",
    "retrieval_manifestcounter": "SELECT, INSERT, UPDATE",
    "retrieval_manifest": "SELECT, INSERT",
    "retrieval_publisheditem": "SELECT, INSERT, UPDATE",
    "retrieval_channel": "SELECT, INSERT, UPDATE",
    "retrieval_release": "SELECT, INSERT",
    "retrieval_takedown": "SELECT, INSERT, UPDATE",
    "retrieval_denyrevision": "SELECT, INSERT, UPDATE",
}
FOREIGN_KEYS = (
    ("retrieval_lexsegment", "knowledge_base_id", "documents_knowledgebase"),
    ("retrieval_lexblock", "segment_id", "retrieval_lexsegment"),
    ("retrieval_manifestcounter", "knowledge_base_id", "documents_knowledgebase"),
    ("retrieval_manifest", "knowledge_base_id", "documents_knowledgebase"),
    ("retrieval_publisheditem", "knowledge_base_id", "documents_knowledgebase"),
    ("retrieval_publisheditem", "document_id", "documents_document"),
    ("retrieval_publisheditem", "revision_id", "documents_revision"),
    ("retrieval_channel", "knowledge_base_id", "documents_knowledgebase"),
    ("retrieval_channel", "manifest_id", "retrieval_manifest"),
    ("retrieval_release", "channel_id", "retrieval_channel"),
    ("retrieval_release", "manifest_id", "retrieval_manifest"),
    ("retrieval_release", "previous_id", "retrieval_manifest"),
    ("retrieval_takedown", "document_id", "documents_document"),
)

# postings are packed already: compression would only cost time at every read
PAYLOAD = "ALTER TABLE retrieval_lexblock ALTER COLUMN payload SET STORAGE EXTERNAL;"
PAYLOAD_BACK = "ALTER TABLE retrieval_lexblock ALTER COLUMN payload SET STORAGE EXTENDED;"

# vector tables are made by init-db, one a space; going back takes them along
DROP_SPACES = """
DO $$
DECLARE space record;
BEGIN
    FOR space IN SELECT table_name FROM retrieval_embeddingspace LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', space.table_name);
    END LOOP;
    DELETE FROM retrieval_embeddingspace;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0001_initial"), ("documents", "0002_walls")]
    operations = [
        *(EnableTenantRLS(table, grants=grants) for table, grants in TABLES.items()),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
        migrations.RunSQL(PAYLOAD, PAYLOAD_BACK),
        migrations.RunSQL(migrations.RunSQL.noop, DROP_SPACES),
    ]
