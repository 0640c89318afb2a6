"""Seals: a chain of hashes a tenant over its committed events, written by one named function; signed checkpoints; stubs of pruned partitions.

Seals stay in one table when partitions of events are pruned: the chain and the roots of old checkpoints can be computed for ever.
"""
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import rag4c.scope.models
from rag4c.scope.operations import EnableTenantRLS

# the lint of migrations reads line by line: a table stands on one
INCARNATION = "CREATE TABLE ledger_incarnation (n integer PRIMARY KEY CHECK (n >= 1), started_at timestamptz NOT NULL DEFAULT clock_timestamp())"
EVENT = """
INSERT INTO ledger_incarnation (n) VALUES (1);
GRANT SELECT ON ledger_incarnation TO rag4c_app;

CREATE FUNCTION rag4c_place_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.xid := pg_current_xact_id();
    NEW.incarnation := (SELECT max(i.n) FROM public.ledger_incarnation i);
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_event_place BEFORE INSERT ON ledger_event FOR EACH ROW EXECUTE FUNCTION rag4c_place_event();
CREATE INDEX ledger_event_order ON ledger_event (tenant_id, incarnation, xid, id);
"""
EVENT_BACK = """
DROP INDEX ledger_event_order;
DROP TRIGGER ledger_event_place ON ledger_event;
DROP FUNCTION rag4c_place_event();
"""

SEAL = (
    "CREATE TABLE ledger_seal (tenant_id uuid NOT NULL REFERENCES tenants_tenant (id), seq bigint NOT NULL CHECK (seq >= 1), event_id uuid NOT NULL, "
    "event_at timestamptz NOT NULL, incarnation integer NOT NULL, xid xid8 NOT NULL, prev bytea NOT NULL, hash bytea NOT NULL, "
    "sealed_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (tenant_id, seq), "
    "CONSTRAINT ledger_seal_event UNIQUE (tenant_id, event_id))"
)
SEAL_BACK = "DROP TABLE ledger_seal;"

KEEP = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION rag4c_refuse_change();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION rag4c_refuse_change();
"""
KEEP_BACK = """
DROP TRIGGER {table}_append_only ON {table};
DROP TRIGGER {table}_no_truncate ON {table};
"""

# The lock is tried, not waited for: a second sealer leaves the tenant to the first. Each statement of the function sees its own snapshot, so
# the head is read after the lock, and the events together with the xmin that bounds them.
FUNCTIONS = """
CREATE FUNCTION rag4c_seal(p_tenant uuid, p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now integer;
    v_seq bigint := 0;
    v_hash bytea := decode(repeat('00', 32), 'hex');
    v_next bytea;
    v_incarnation integer := 0;
    v_xid xid8 := '0';
    v_id uuid := '00000000-0000-0000-0000-000000000000';
    v_count integer := 0;
    e record;
BEGIN
    IF NOT pg_try_advisory_xact_lock(1918985059, hashtext(p_tenant::text)) THEN
        RETURN 0;
    END IF;
    SELECT max(i.n) INTO v_now FROM public.ledger_incarnation i;
    FOR e IN SELECT s.seq, s.hash, s.incarnation, s.xid, s.event_id FROM public.ledger_seal s
             WHERE s.tenant_id = p_tenant ORDER BY s.seq DESC LIMIT 1 LOOP
        v_seq := e.seq; v_hash := e.hash; v_incarnation := e.incarnation; v_xid := e.xid; v_id := e.event_id;
    END LOOP;
    IF v_incarnation = v_now AND v_xid >= pg_snapshot_xmax(pg_current_snapshot()) THEN
        RAISE EXCEPTION 'the transaction counter stands before the last seal' USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'After a restore run `rag4c maintain new-incarnation`.';
    END IF;
    FOR e IN SELECT ev.id, ev.at, ev.incarnation, ev.xid, ev.canonical FROM public.ledger_event ev
             WHERE ev.tenant_id = p_tenant AND (ev.incarnation, ev.xid, ev.id) > (v_incarnation, v_xid, v_id)
               AND (ev.incarnation < v_now OR ev.xid < pg_snapshot_xmin(pg_current_snapshot()))
             ORDER BY ev.incarnation, ev.xid, ev.id LIMIT p_limit LOOP
        v_seq := v_seq + 1;
        v_next := sha256('\\x01'::bytea || v_hash || e.canonical);
        INSERT INTO public.ledger_seal (tenant_id, seq, event_id, event_at, incarnation, xid, prev, hash)
            VALUES (p_tenant, v_seq, e.id, e.at, e.incarnation, e.xid, v_hash, v_next);
        v_hash := v_next;
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

CREATE FUNCTION rag4c_unsealed() RETURNS TABLE (tenant_id uuid, event_id uuid, event_at timestamptz, is_held boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT t.id, first.id, first.at, first.xid >= pg_snapshot_xmin(pg_current_snapshot())
      FROM public.tenants_tenant t, LATERAL (
          SELECT e.id, e.at, e.xid FROM public.ledger_event e
          WHERE e.tenant_id = t.id AND (e.incarnation, e.xid, e.id) > (
              coalesce((SELECT s.incarnation FROM public.ledger_seal s WHERE s.tenant_id = t.id ORDER BY s.seq DESC LIMIT 1), 0),
              coalesce((SELECT s.xid FROM public.ledger_seal s WHERE s.tenant_id = t.id ORDER BY s.seq DESC LIMIT 1), '0'),
              coalesce((SELECT s.event_id FROM public.ledger_seal s WHERE s.tenant_id = t.id ORDER BY s.seq DESC LIMIT 1),
                       '00000000-0000-0000-0000-000000000000'))
          ORDER BY e.incarnation, e.xid, e.id LIMIT 1) first $$;

CREATE FUNCTION rag4c_seal_lag() RETURNS TABLE (tenants bigint, oldest_at timestamptz, is_held boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT count(*), min(u.event_at), coalesce(bool_or(u.is_held), false) FROM public.rag4c_unsealed() u $$;

CREATE FUNCTION rag4c_unchecked_seals(p_seals integer, p_age interval) RETURNS TABLE (tenant_id uuid, event_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT t.id, head.event_id
      FROM public.tenants_tenant t,
           LATERAL (SELECT coalesce(max(c.seq), 0) AS seq FROM public.ledger_checkpoint c WHERE c.tenant_id = t.id) done,
           LATERAL (SELECT s.seq, s.event_id FROM public.ledger_seal s WHERE s.tenant_id = t.id ORDER BY s.seq DESC LIMIT 1) head,
           LATERAL (SELECT s.sealed_at FROM public.ledger_seal s WHERE s.tenant_id = t.id AND s.seq = done.seq + 1) first
      WHERE head.seq >= done.seq + p_seals OR first.sealed_at <= clock_timestamp() - p_age $$;

CREATE FUNCTION rag4c_chains() RETURNS TABLE (tenant_id uuid, slug text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT t.id, t.slug::text FROM public.tenants_tenant t ORDER BY t.id $$;

GRANT EXECUTE ON FUNCTION rag4c_seal(uuid, integer) TO rag4c_system;
GRANT EXECUTE ON FUNCTION rag4c_unsealed() TO rag4c_system;
GRANT EXECUTE ON FUNCTION rag4c_unchecked_seals(integer, interval) TO rag4c_system;
GRANT EXECUTE ON FUNCTION rag4c_chains() TO rag4c_system;
GRANT EXECUTE ON FUNCTION rag4c_seal_lag() TO rag4c_app;
"""
FUNCTIONS_BACK = """
DROP FUNCTION rag4c_chains();
DROP FUNCTION rag4c_unchecked_seals(integer, interval);
DROP FUNCTION rag4c_seal_lag();
DROP FUNCTION rag4c_unsealed();
DROP FUNCTION rag4c_seal(uuid, integer);
"""


def tenant_row(name, table, *fields):
    """A model with a tenant and an id, as `scope.models.TenantModel` makes them."""
    return migrations.CreateModel(
        name=name,
        fields=[
            ("id", models.UUIDField(default=rag4c.scope.models.new_id, editable=False, primary_key=True, serialize=False)),
            *fields,
            ("tenant", models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.tenant")),
        ],
        options={
            "abstract": False,
            "constraints": [
                models.UniqueConstraint(fields=("tenant", "id"), name=f"{table}_tenant_id"),
                models.UniqueConstraint(fields=("tenant", "seq" if name == "Checkpoint" else "name"), name=f"{table}_once"),
            ],
        },
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial"), ("tenants", "0002_walls")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Seal",
                    fields=[
                        ("event_id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                        ("seq", models.BigIntegerField(editable=False)),
                        ("event_at", models.DateTimeField(editable=False)),
                        ("incarnation", models.PositiveIntegerField(editable=False)),
                        ("xid", models.BigIntegerField(editable=False)),
                        ("prev", models.BinaryField()),
                        ("hash", models.BinaryField()),
                        ("sealed_at", models.DateTimeField(editable=False)),
                    ],
                    options={"db_table": "ledger_seal", "ordering": ("-seq",), "managed": False},
                ),
            ],
            database_operations=[
                migrations.RunSQL(INCARNATION, "DROP TABLE ledger_incarnation"),
                migrations.RunSQL(EVENT, EVENT_BACK),
                migrations.RunSQL(SEAL, SEAL_BACK),
            ],
        ),
        tenant_row(
            "Checkpoint",
            "ledger_checkpoint",
            ("seq", models.BigIntegerField()),
            ("body", models.BinaryField()),
            ("signature", models.BinaryField()),
            ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
        ),
        tenant_row(
            "Stub",
            "ledger_stub",
            ("name", models.CharField(max_length=40)),
            ("body", models.BinaryField()),
            ("signature", models.BinaryField()),
            ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
        ),
        EnableTenantRLS("ledger_seal", grants="SELECT"),
        EnableTenantRLS("ledger_checkpoint", grants="SELECT, INSERT"),
        EnableTenantRLS("ledger_stub", grants="SELECT"),
        *(migrations.RunSQL(KEEP.format(table=table), KEEP_BACK.format(table=table)) for table in ("ledger_seal", "ledger_checkpoint", "ledger_stub")),
        migrations.RunSQL(FUNCTIONS, FUNCTIONS_BACK),
    ]
