"""Approved visits of operators, from which their sessions in other tenants are opened."""

import django.db.models.deletion
import django.db.models.functions.datetime
import rag4c.scope.models
from django.db import migrations, models

from rag4c.scope.operations import EnableTenantRLS


class Migration(migrations.Migration):

    dependencies = [("tenants", "0004_acl_changes")]

    operations = [
        migrations.CreateModel(
            name="SupportVisit",
            fields=[
                ("id", models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ("operator_id", models.UUIDField()),
                ("target_id", models.UUIDField()),
                ("reason", models.CharField(max_length=500)),
                ("minutes", models.PositiveSmallIntegerField()),
                ("permit", models.CharField(max_length=80)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("outcome", models.CharField(blank=True, max_length=80)),
                ("tenant", models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.tenant")),
            ],
            options={
                "abstract": False,
                "constraints": [models.UniqueConstraint(fields=("tenant", "id"), name="tenants_supportvisit_tenant_id")],
            },
        ),
        EnableTenantRLS("tenants_supportvisit", grants="SELECT, INSERT, UPDATE"),
    ]
