"""Row-level security, least privileges and foreign keys with their tenant. Immutable tables take no UPDATE."""

from django.db import migrations

from rag4c.scope.operations import EnableTenantRLS

TABLES = {
    "approvals_actionpolicy": "SELECT, INSERT",
}


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]
    operations = [
        *(EnableTenantRLS(table, grants=grants) for table, grants in TABLES.items()),
    ]
