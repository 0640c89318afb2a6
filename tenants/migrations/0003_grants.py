"""Units, nested groups, service accounts, periods of accounts and tenants, sessions of operators; with their walls."""

import django.db.models.deletion
import django.db.models.functions.datetime
import rag4c.scope.models
from django.conf import settings
from django.db import migrations, models

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = {
    "tenants_orgunit": "SELECT, INSERT, UPDATE",
    "tenants_unitparent": "SELECT, INSERT, UPDATE",
    "tenants_unitplacement": "SELECT, INSERT, UPDATE",
    "tenants_groupnesting": "SELECT, INSERT, UPDATE",
    "tenants_activeperiod": "SELECT, INSERT, UPDATE",
    "tenants_suspension": "SELECT, INSERT, UPDATE",
    "tenants_supportsession": "SELECT, INSERT, UPDATE",
}
FOREIGN_KEYS = (
    ("tenants_unitparent", "unit_id", "tenants_orgunit"),
    ("tenants_unitparent", "parent_id", "tenants_orgunit"),
    ("tenants_unitplacement", "user_id", "tenants_user"),
    ("tenants_unitplacement", "unit_id", "tenants_orgunit"),
    ("tenants_groupnesting", "child_id", "tenants_group"),
    ("tenants_groupnesting", "parent_id", "tenants_group"),
    ("tenants_activeperiod", "user_id", "tenants_user"),
)
# Accounts made earlier: active since they were created; the deactivated until the ledger's event, and without one never.
PERIODS = """
INSERT INTO tenants_activeperiod (id, tenant_id, user_id, valid_from, valid_to)
SELECT u.id, u.tenant_id, u.id, u.created_at,
       CASE WHEN u.is_active THEN NULL ELSE coalesce((
           SELECT max(e.at) FROM ledger_event e
           WHERE e.tenant_id = u.tenant_id AND e.subject_kind = 'user' AND e.subject_id = u.id::text AND e.code = 'user.deactivated'), u.created_at) END
FROM tenants_user u
"""
# Which tenants there are is told to the platform's own tenant alone.
LOOKUPS = """
CREATE FUNCTION rag4c_platform_tenants() RETURNS TABLE (id uuid, slug text, name text, is_active boolean, allows_support_access boolean, created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT t.id, t.slug, t.name, t.is_active, t.allows_support_access, t.created_at FROM public.tenants_tenant t
      WHERE NULLIF(current_setting('rag4c.tenant', true), '')::uuid = '00000000-0000-7000-8000-000000000001' ORDER BY t.slug $$;
GRANT EXECUTE ON FUNCTION rag4c_platform_tenants() TO rag4c_app;
"""
LOOKUPS_BACK = "DROP FUNCTION rag4c_platform_tenants();"


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0001_initial'),
        ('tenants', '0002_walls'),
    ]

    operations = [
        migrations.CreateModel(
            name='ActivePeriod',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('valid_to', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='GroupNesting',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('valid_to', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='OrgUnit',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField()),
                ('name', models.CharField(max_length=200)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SupportSession',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('support', 'support'), ('break_glass', 'break-glass')], max_length=12)),
                ('operator_id', models.UUIDField()),
                ('reason', models.CharField(max_length=500)),
                ('permit', models.CharField(blank=True, max_length=80)),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('expires_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('ended_by', models.CharField(blank=True, max_length=80)),
                ('confirm_until', models.DateTimeField(blank=True, null=True)),
                ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                ('confirmed_by', models.UUIDField(blank=True, null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Suspension',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('valid_to', models.DateTimeField(blank=True, editable=False, null=True)),
                ('reason', models.CharField(max_length=500)),
                ('started_by', models.CharField(max_length=80)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='UnitParent',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('valid_to', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='UnitPlacement',
            fields=[
                ('id', models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('valid_to', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='user',
            name='kind',
            field=models.CharField(choices=[('person', 'person'), ('service', 'service account')], db_default='person', default='person', max_length=10),
        ),
        migrations.AddIndex(
            model_name='aclassignment',
            index=models.Index(fields=['tenant', 'subject_kind', 'subject_id', 'valid_from'], name='tenants_aclassignment_past'),
        ),
        migrations.AddIndex(
            model_name='membership',
            index=models.Index(fields=['tenant', 'user'], name='tenants_membership_user'),
        ),
        migrations.AddField(
            model_name='activeperiod',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='activeperiod',
            name='user',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='periods', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='groupnesting',
            name='child',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.group'),
        ),
        migrations.AddField(
            model_name='groupnesting',
            name='parent',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.group'),
        ),
        migrations.AddField(
            model_name='groupnesting',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='orgunit',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='supportsession',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='suspension',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='unitparent',
            name='parent',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.orgunit'),
        ),
        migrations.AddField(
            model_name='unitparent',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='unitparent',
            name='unit',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.orgunit'),
        ),
        migrations.AddField(
            model_name='unitplacement',
            name='tenant',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='unitplacement',
            name='unit',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.orgunit'),
        ),
        migrations.AddField(
            model_name='unitplacement',
            name='user',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='placements', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='activeperiod',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_activeperiod_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='activeperiod',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_to__isnull', True)), fields=('tenant', 'user'), name='tenants_activeperiod_open'),
        ),
        migrations.AddConstraint(
            model_name='groupnesting',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_groupnesting_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='groupnesting',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_to__isnull', True)), fields=('tenant', 'child', 'parent'), name='tenants_groupnesting_open'),
        ),
        migrations.AddConstraint(
            model_name='groupnesting',
            constraint=models.CheckConstraint(condition=models.Q(('child', models.F('parent')), _negated=True), name='tenants_groupnesting_other'),
        ),
        migrations.AddConstraint(
            model_name='orgunit',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_orgunit_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='orgunit',
            constraint=models.UniqueConstraint(fields=('tenant', 'slug'), name='tenants_orgunit_slug'),
        ),
        migrations.AddConstraint(
            model_name='supportsession',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_supportsession_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='supportsession',
            constraint=models.CheckConstraint(condition=models.Q(('confirmed_by__isnull', True), models.Q(('confirmed_by', models.F('operator_id')), _negated=True), _connector='OR'), name='tenants_supportsession_second'),
        ),
        migrations.AddConstraint(
            model_name='supportsession',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('opened_at'))), name='tenants_supportsession_limited'),
        ),
        migrations.AddConstraint(
            model_name='suspension',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_suspension_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='suspension',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_to__isnull', True)), fields=('tenant',), name='tenants_suspension_open'),
        ),
        migrations.AddConstraint(
            model_name='unitparent',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_unitparent_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='unitparent',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_to__isnull', True)), fields=('tenant', 'unit'), name='tenants_unitparent_open'),
        ),
        migrations.AddConstraint(
            model_name='unitparent',
            constraint=models.CheckConstraint(condition=models.Q(('unit', models.F('parent')), _negated=True), name='tenants_unitparent_other'),
        ),
        migrations.AddConstraint(
            model_name='unitplacement',
            constraint=models.UniqueConstraint(fields=('tenant', 'id'), name='tenants_unitplacement_tenant_id'),
        ),
        migrations.AddConstraint(
            model_name='unitplacement',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_to__isnull', True)), fields=('tenant', 'user'), name='tenants_unitplacement_open'),
        ),
        migrations.RunSQL(PERIODS, migrations.RunSQL.noop),
        *(EnableTenantRLS(table, grants=grants) for table, grants in TABLES.items()),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
        migrations.RunSQL(LOOKUPS, LOOKUPS_BACK),
    ]
