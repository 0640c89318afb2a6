import django.db.models.deletion
import django.db.models.functions.datetime
import rag4c.scope.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('tenants', '0002_walls'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ExportJob',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('requested_by', models.CharField(max_length=80)),
                ('permit', models.CharField(max_length=80)),
                ('query', models.JSONField(default=dict)),
                ('query_sha256', models.CharField(max_length=64)),
                ('views', models.CharField(blank=True, max_length=20)),
                ('from_seq', models.BigIntegerField()),
                ('to_seq', models.BigIntegerField()),
                ('prev_export_sha256', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='waiting', max_length=10)),
                ('next_seq', models.BigIntegerField()),
                ('files', models.JSONField(default=list)),
                ('count', models.BigIntegerField(default=0)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('manifest_sha256', models.CharField(blank=True, max_length=64)),
                ('error_code', models.CharField(blank=True, max_length=40)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['tenant', 'query_sha256', 'to_seq'], name='compliance_export_query')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'id'), name='compliance_exportjob_tenant_id')],
            },
        ),
        migrations.CreateModel(
            name='SavedSearch',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('filters', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('removed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'saved searches',
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('tenant', 'id'), name='compliance_savedsearch_tenant_id'), models.UniqueConstraint(condition=models.Q(('removed_at__isnull', True)), fields=('tenant', 'user', 'name'), name='compliance_search_name')],
            },
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=80)),
                ('subject_kind', models.CharField(max_length=40)),
                ('subject_id', models.CharField(max_length=80)),
                ('state', models.CharField(choices=[('open', 'open'), ('claimed', 'claimed'), ('snoozed', 'snoozed'), ('resolved', 'resolved')], default='open', max_length=10)),
                ('rev', models.PositiveIntegerField(default=1)),
                ('snoozed_until', models.DateTimeField(blank=True, null=True)),
                ('resolution', models.CharField(blank=True, max_length=500)),
                ('resolved_by', models.CharField(blank=True, max_length=80)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('assignee', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('tenant', 'id'), name='compliance_task_tenant_id'), models.UniqueConstraint(condition=models.Q(('state', 'resolved'), _negated=True), fields=('tenant', 'kind', 'subject_kind', 'subject_id'), name='compliance_task_open'), models.CheckConstraint(condition=models.Q(models.Q(('assignee__isnull', False), ('state', 'claimed')), models.Q(('state', 'claimed'), _negated=True), _connector='OR'), name='compliance_task_whose')],
            },
        ),
    ]
