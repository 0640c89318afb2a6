"""The event table is partitioned by month; a DEFAULT partition catches what no month holds, so that nothing is ever refused for a missing one."""
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import rag4c.scope.models
from rag4c.scope.operations import EnableTenantRLS

EVENT = """
CREATE TABLE ledger_event (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants_tenant (id),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    incarnation integer NOT NULL DEFAULT 1 CHECK (incarnation >= 1),
    code varchar(80) NOT NULL CHECK (code <> ''),
    actor varchar(80) NOT NULL CHECK (actor <> ''),
    channel varchar(20) NOT NULL,
    subject_kind varchar(40) NOT NULL CHECK (subject_kind <> ''),
    subject_id varchar(80) NOT NULL CHECK (subject_id <> ''),
    canonical bytea NOT NULL,
    PRIMARY KEY (tenant_id, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE ledger_event_default PARTITION OF ledger_event DEFAULT;
CREATE INDEX ledger_event_subject ON ledger_event (tenant_id, subject_kind, subject_id, at);

CREATE FUNCTION rag4c_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER ledger_event_append_only BEFORE UPDATE OR DELETE ON ledger_event FOR EACH ROW EXECUTE FUNCTION rag4c_refuse_change();
CREATE TRIGGER ledger_event_no_truncate BEFORE TRUNCATE ON ledger_event FOR EACH STATEMENT EXECUTE FUNCTION rag4c_refuse_change();

CREATE FUNCTION rag4c_due_deliveries(p_limit integer) RETURNS TABLE (tenant_id uuid, delivery_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT d.tenant_id, d.id FROM public.ledger_delivery d WHERE d.state = 'pending' AND d.due_at <= pg_catalog.clock_timestamp() ORDER BY d.due_at LIMIT p_limit $$;
"""
EVENT_BACK = """
DROP FUNCTION rag4c_due_deliveries(integer);
DROP TABLE ledger_event;
DROP FUNCTION rag4c_refuse_change();
"""
GRANTS = """
GRANT EXECUTE ON FUNCTION rag4c_due_deliveries(integer) TO rag4c_system;
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("tenants", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                ("event_id", models.UUIDField()),
                ("event_at", models.DateTimeField()),
                ("code", models.CharField(max_length=80)),
                ("handler", models.CharField(max_length=80)),
                ("subject_id", models.CharField(max_length=80)),
                ("state", models.CharField(choices=[("pending", "pending"), ("done", "done"), ("attention", "attention")], default="pending", max_length=10)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("tenant", models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.tenant")),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "abstract": False,
                "indexes": [models.Index(condition=models.Q(("state", "pending")), fields=["due_at"], name="ledger_delivery_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "id"), name="ledger_delivery_tenant_id"),
                    models.UniqueConstraint(fields=("tenant", "event_id", "handler"), name="ledger_delivery_once"),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Event",
                    fields=[
                        ("id", models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
                        ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                        ("xid", models.BigIntegerField(editable=False)),
                        ("incarnation", models.PositiveIntegerField(db_default=1, editable=False)),
                        ("code", models.CharField(max_length=80)),
                        ("actor", models.CharField(max_length=80)),
                        ("channel", models.CharField(max_length=20)),
                        ("subject_kind", models.CharField(max_length=40)),
                        ("subject_id", models.CharField(max_length=80)),
                        ("canonical", models.BinaryField()),
                    ],
                    options={"db_table": "ledger_event", "ordering": ("-at", "-id"), "managed": False},
                ),
            ],
            database_operations=[migrations.RunSQL(EVENT, EVENT_BACK)],
        ),
        EnableTenantRLS("ledger_event", grants="SELECT, INSERT"),
        EnableTenantRLS("ledger_delivery", grants="SELECT, INSERT, UPDATE"),
        migrations.RunSQL(
            "ALTER TABLE ledger_delivery ADD CONSTRAINT ledger_delivery_event_tfk FOREIGN KEY (tenant_id, event_at, event_id) "
            "REFERENCES ledger_event (tenant_id, at, id) DEFERRABLE INITIALLY IMMEDIATE",
            "ALTER TABLE ledger_delivery DROP CONSTRAINT ledger_delivery_event_tfk",
        ),
        migrations.RunSQL(GRANTS, migrations.RunSQL.noop),
    ]
