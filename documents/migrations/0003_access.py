"""Where the readers of documents come from: a mode for each source, templates by path, and sources as subjects of ACL assignments."""

import django.db.models.deletion
import django.db.models.functions.datetime
import rag4c.scope.models
from django.db import migrations, models

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

SOURCES = """
INSERT INTO tenants_aclassignment (id, tenant_id, subject_kind, subject_id, acl_id, origin, valid_from)
SELECT gen_random_uuid(), s.tenant_id, 'source', s.id, s.acl_id, 'set', s.created_at FROM documents_datasource s
WHERE NOT EXISTS (SELECT 1 FROM tenants_aclassignment a WHERE a.tenant_id = s.tenant_id AND a.subject_kind = 'source' AND a.subject_id = s.id)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('documents', '0002_walls'),
        ('tenants', '0004_acl_changes'),
    ]

    operations = [
        migrations.AddField(
            model_name='datasource',
            name='acl_mode',
            field=models.CharField(choices=[('none', 'none'), ('template', 'template'), ('posix', 'posix'), ('manifest', 'manifest')], db_default='none', default='none', max_length=10),
        ),
        migrations.CreateModel(
            name='AclTemplate',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('path_prefix', models.CharField(max_length=1024)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('source', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='templates', to='documents.datasource')),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('tenant', 'id'), name='documents_acltemplate_tenant_id'), models.UniqueConstraint(fields=('tenant', 'source', 'path_prefix'), name='documents_acltemplate_prefix')],
            },
        ),
        EnableTenantRLS("documents_acltemplate", grants="SELECT, INSERT"),
        AddTenantForeignKey("documents_acltemplate", "source_id", "documents_datasource"),
        migrations.RunSQL(SOURCES, migrations.RunSQL.noop),  # the assignments may stay: the column still says the same
    ]
