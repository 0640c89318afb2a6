"""Row-level security, least privileges and foreign keys with their tenant."""

from django.db import migrations

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = ("compliance_exportjob", "compliance_task", "compliance_savedsearch")
FOREIGN_KEYS = (("compliance_task", "assignee_id", "tenants_user"), ("compliance_savedsearch", "user_id", "tenants_user"))


class Migration(migrations.Migration):
    dependencies = [("compliance", "0001_initial"), ("tenants", "0002_walls")]
    operations = [
        *(EnableTenantRLS(table, grants="SELECT, INSERT, UPDATE") for table in TABLES),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
    ]
