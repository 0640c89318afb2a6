"""Changes of readers as change sets, and the mapping of a file system's users and groups."""

import django.db.models.deletion
import django.db.models.functions.datetime
import rag4c.scope.models
from django.db import migrations, models

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0003_grants'),
    ]

    operations = [
        migrations.AddField(
            model_name='aclassignment',
            name='origin',
            field=models.CharField(choices=[('readers', 'readers of the source'), ('template', 'template'), ('own', "the file's own"), ('denied', 'unknown, so nobody'), ('set', 'set by a person')], db_default='readers', max_length=10),
        ),
        migrations.CreateModel(
            name='AclChangeSet',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('applied', 'applied'), ('stale', 'stale'), ('withdrawn', 'withdrawn')], default='waiting', max_length=12)),
                ('origin', models.CharField(choices=[('person', 'a person'), ('sync', 'a sync')], default='person', max_length=10)),
                ('origin_id', models.UUIDField(blank=True, editable=False, null=True)),
                ('reason', models.CharField(max_length=500)),
                ('base_acl_rev', models.PositiveBigIntegerField()),
                ('payload', models.JSONField()),
                ('payload_sha256', models.CharField(max_length=64)),
                ('revoked', models.PositiveIntegerField(default=0)),
                ('granted', models.PositiveIntegerField(default=0)),
                ('permit', models.CharField(blank=True, max_length=80)),
                ('proposed_by', models.CharField(max_length=80)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('closed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='AclChangeLine',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('subject_kind', models.CharField(max_length=20)),
                ('subject_id', models.UUIDField()),
                ('label', models.CharField(max_length=1024)),
                ('base_assignment_id', models.UUIDField(editable=False, null=True)),
                ('assignment_origin', models.CharField(max_length=10)),
                ('ends', models.BooleanField(default=False)),
                ('interim', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.aclset')),
                ('new', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.aclset')),
                ('old', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.aclset')),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
                ('change_set', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='tenants.aclchangeset')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='PrincipalMapping',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('valid_to', models.DateTimeField(blank=True, editable=False, null=True)),
                ('kind', models.CharField(choices=[('user', 'user'), ('group', 'group'), ('other', 'everybody else')], max_length=10)),
                ('external', models.CharField(max_length=100)),
                ('principal', models.CharField(max_length=80)),
                ('tenant', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddIndex(
            model_name='aclchangeset',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['tenant', 'origin_id'], name='tenants_aclchange_waiting'),
        ),
        migrations.AddConstraint(
            model_name='aclchangeset',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_aclchangeset_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='aclchangeline',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_aclchangeline_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='aclchangeline',
            constraint=models.UniqueConstraint(fields=('tenant', 'change_set', 'subject_kind', 'subject_id'), name='tenants_aclchangeline_subject'),
        ),
        migrations.AddConstraint(
            model_name='principalmapping',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_principalmapping_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='principalmapping',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_to__isnull', True)), fields=('tenant', 'kind', 'external'), name='tenants_principalmapping_open'),
        ),
        EnableTenantRLS("tenants_aclchangeset", grants="SELECT, INSERT, UPDATE"),
        EnableTenantRLS("tenants_aclchangeline", grants="SELECT, INSERT"),
        EnableTenantRLS("tenants_principalmapping", grants="SELECT, INSERT, UPDATE"),
        AddTenantForeignKey("tenants_aclchangeline", "change_set_id", "tenants_aclchangeset"),
        AddTenantForeignKey("tenants_aclchangeline", "old_id", "tenants_aclset"),
        AddTenantForeignKey("tenants_aclchangeline", "interim_id", "tenants_aclset"),
        AddTenantForeignKey("tenants_aclchangeline", "new_id", "tenants_aclset"),
    ]
