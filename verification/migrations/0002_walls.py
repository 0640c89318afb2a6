"""Row-level security, least privileges and foreign keys with their tenant. Immutable tables take no UPDATE."""

from django.db import migrations

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = {
    "verification_answerpolicy": "SELECT, INSERT",
    "verification_answerrecord": "SELECT, INSERT",
    "verification_contextmanifest": "SELECT, INSERT",
    "verification_evidencerow": "SELECT, INSERT",
    "verification_answerclaim": "SELECT, INSERT",
    "verification_citation": "SELECT, INSERT",
    "verification_findingrow": "SELECT, INSERT",
}
FOREIGN_KEYS = (
    ("verification_answerrecord", "asked_by_id", "tenants_user"),
    ("verification_answerrecord", "workspace_id", "tenants_workspace"),
    ("verification_contextmanifest", "answer_id", "verification_answerrecord"),
    ("verification_evidencerow", "answer_id", "verification_answerrecord"),
    ("verification_evidencerow", "revision_chunk_id", "documents_revisionchunk"),
    ("verification_evidencerow", "document_id", "documents_document"),
    ("verification_answerclaim", "answer_id", "verification_answerrecord"),
    ("verification_citation", "answer_id", "verification_answerrecord"),
    ("verification_citation", "claim_id", "verification_answerclaim"),
    ("verification_citation", "revision_chunk_id", "documents_revisionchunk"),
    ("verification_citation", "document_id", "documents_document"),
    ("verification_findingrow", "answer_id", "verification_answerrecord"),
)


class Migration(migrations.Migration):
    dependencies = [("verification", "0001_initial"), ("retrieval", "0002_walls")]
    operations = [
        *(EnableTenantRLS(table, grants=grants) for table, grants in TABLES.items()),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
    ]
