"""Events live and die with the transaction of the change that they record, and are never changed."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import psycopg
import pytest
from django.db import transaction
from psycopg.errors import InsufficientPrivilege

from rag4c.kernel import clock
from rag4c.kernel.canonical import canonical_json
from rag4c.ledger import api
from rag4c.ledger.models import Delivery, Event
from rag4c.ledger.partitions import ensure_event_partitions
from rag4c.scope.manager import scope
from tests.scope.support import ACME, GLOBEX


@pytest.fixture
def owner(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("rag4c_owner", real_tenants), autocommit=True) as conn:
        yield conn


@pytest.fixture
def app(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("rag4c_app", real_tenants), autocommit=True) as conn:
        conn.execute("SELECT set_config('rag4c.tenant', %s, false)", [str(ACME.tenant_id)])
        yield conn


def record(actor, data=None, code="thing.happened"):
    with scope(actor.grant):
        return api.record(actor, code, subject=("thing", 7), data=data)


def test_GOV_U5_an_event_needs_the_transaction_of_its_change(real_tenants, alice):
    with pytest.raises(transaction.TransactionManagementError, match="transaction"):
        api.record(alice, "thing.happened", subject=("thing", 7))


def test_GOV_U5_a_rollback_leaves_neither_event_nor_delivery_nor_message(real_tenants, alice, subscribed):
    called = []
    subscribed(lambda *row: called.append(row))
    with pytest.raises(ValueError, match="on purpose"), scope(alice.grant):
        api.record(alice, "thing.happened", subject=("thing", 7))
        assert (Event.objects.count(), Delivery.objects.count()) == (1, 1)
        raise ValueError("on purpose")
    with scope(alice.grant):
        assert (Event.objects.count(), Delivery.objects.count()) == (0, 0)
    assert called == []


def test_GOV_U5_a_rolled_back_savepoint_takes_its_event_along(real_tenants, alice):
    with scope(alice.grant):
        api.record(alice, "thing.kept", subject=("thing", 1))
        with pytest.raises(ValueError, match="inner"), transaction.atomic():
            api.record(alice, "thing.lost", subject=("thing", 2))
            raise ValueError("inner")
    with scope(alice.grant):
        assert [row.code for row in Event.objects.all()] == ["thing.kept"]


def test_GOV_U2_the_stored_bytes_are_canonical_and_say_what_the_columns_say(real_tenants, alice):
    event_id = record(alice, {"z": 1, "a": ["é", None, True, 0.5]})
    with scope(alice.grant):
        row = Event.objects.get(pk=event_id)
    body = json.loads(bytes(row.canonical))
    assert canonical_json(body) == bytes(row.canonical)
    assert body == {
        "id": str(event_id), "tenant": str(ACME.tenant_id), "at": row.at.isoformat(), "code": "thing.happened", "actor": "system", "channel": "api",
        "subject": ["thing", "7"], "data": {"a": ["é", None, True, 0.5], "z": 1},
    }  # fmt: skip
    assert (row.code, row.actor, row.channel, row.subject_kind, row.subject_id, row.tenant_id) == (
        "thing.happened",
        "system",
        "api",
        "thing",
        "7",
        ACME.tenant_id,
    )
    assert (row.incarnation, row.xid > 0) == (1, True)
    assert str(row) == "thing.happened thing:7"


def test_GOV_U2_an_event_whose_data_is_no_json_is_refused_together_with_its_change(real_tenants, alice):
    with pytest.raises(ValueError, match="datetime"), scope(alice.grant):
        api.record(alice, "thing.happened", subject=("thing", 7), data={"at": clock.now()})
    with scope(alice.grant):
        assert Event.objects.count() == 0


def test_GOV_U1_the_transaction_id_is_the_databases_and_the_same_for_one_change(real_tenants, alice):
    with scope(alice.grant):
        for _ in range(2):
            api.record(alice, "thing.happened", subject=("thing", 7))
    record(alice)
    with scope(alice.grant):
        first, second, third = Event.objects.order_by("at", "id").values_list("xid", flat=True)
    assert first == second < third


def test_GOV_T3_events_of_another_tenant_are_invisible(real_tenants, alice):
    record(alice)
    with scope(GLOBEX):
        assert Event.objects.count() == Event._base_manager.count() == 0
        assert api.events_of("thing", 7) == []
    with scope(ACME):
        assert len(api.events_of("thing", 7)) == 1
        assert api.events_of("thing", 8) == []


def test_an_event_cannot_be_recorded_for_another_tenant_than_the_scopes(real_tenants, alice):
    from django.db import ProgrammingError

    with pytest.raises(ProgrammingError, match="row-level security"), scope(GLOBEX):
        api.record(alice, "thing.happened", subject=("thing", 7))


def test_the_latest_events_come_first(real_tenants, alice):
    ids = [record(alice, {"n": number}) for number in range(5)]
    with scope(ACME):
        assert [row.pk for row in api.events_of("thing", 7, limit=3)] == ids[:1:-1]


@pytest.mark.parametrize(
    "statement",
    ["UPDATE ledger_event SET code = 'x'", "DELETE FROM ledger_event", "TRUNCATE ledger_event", "TRUNCATE ledger_event CASCADE",
     "ALTER TABLE ledger_event DISABLE TRIGGER ALL", "DROP TABLE ledger_event", "SET session_replication_role = replica",
     "INSERT INTO ledger_event_default (tenant_id, id) VALUES (gen_random_uuid(), gen_random_uuid())"],
)  # fmt: skip
def test_GOV_U7_the_app_may_only_insert_and_read(real_tenants, alice, app, statement):
    record(alice)
    with pytest.raises(InsufficientPrivilege):
        app.execute(statement)
    assert app.execute("SELECT count(*) FROM ledger_event").fetchone() == (1,)


def event_tables(owner):
    rows = owner.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'ledger_event'::regclass").fetchall()
    return ["ledger_event", *(row[0] for row in rows)]


def test_GOV_U7_even_the_owner_is_refused_on_the_table_and_on_every_partition(real_tenants, alice, owner):
    record(alice)
    put_into_default(owner)
    tables = event_tables(owner)
    assert len(tables) >= 14
    tried = 0
    for table in tables:
        statements = [f"TRUNCATE {table} CASCADE"]
        if owner.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
            statements += [f"UPDATE {table} SET code = 'x'", f"DELETE FROM {table}"]
        for statement in statements:
            with pytest.raises(InsufficientPrivilege, match="append-only"):
                owner.execute(statement)
            tried += 1
    assert tried >= len(tables) + 6  # the table itself, this month's partition and the default one hold rows
    with pytest.raises(InsufficientPrivilege):
        owner.execute("SET session_replication_role = replica")


def put_into_default(owner):
    owner.execute(
        "INSERT INTO ledger_event (tenant_id, id, at, code, actor, channel, subject_kind, subject_id, canonical) "
        "VALUES (%s, gen_random_uuid(), '1999-12-31T23:59:59Z', 'thing.happened', 'system', 'cli', 'thing', '1', '')",
        [ACME.tenant_id],
    )


def test_an_event_lands_in_the_partition_of_its_month(real_tenants, alice, owner):
    event_id = record(alice)
    (place,) = owner.execute("SELECT tableoid::regclass::text FROM ledger_event WHERE id = %s", [event_id]).fetchone()
    assert place == f"ledger_event_{clock.now():%Y%m}"


def test_an_event_of_a_month_that_has_no_partition_is_kept_all_the_same(real_tenants, alice, owner):
    with clock.frozen(datetime(2199, 1, 1, tzinfo=UTC)):
        event_id = record(alice)
    (place,) = owner.execute("SELECT tableoid::regclass::text FROM ledger_event WHERE id = %s", [event_id]).fetchone()
    assert place == "ledger_event_default"


@pytest.fixture
def as_owner(as_login):
    """Django under the owner, as at init-db."""
    as_login("rag4c_owner")


def test_partitions_are_made_once(as_owner):
    assert ensure_event_partitions(clock.now().date()) == []
    assert ensure_event_partitions(date(2031, 11, 30), months_ahead=2) == ["ledger_event_203111", "ledger_event_203112", "ledger_event_203201"]
    assert ensure_event_partitions(date(2031, 12, 1), months_ahead=2) == ["ledger_event_203202"]
    assert ensure_event_partitions(date(2031, 12, 1), months_ahead=2) == []


def test_a_new_partition_refuses_truncate_and_gives_nobody_a_grant(as_owner, owner):
    ensure_event_partitions(date(2031, 1, 15), months_ahead=0)
    with pytest.raises(InsufficientPrivilege, match="append-only"):
        owner.execute("TRUNCATE ledger_event_203101 CASCADE")
    assert owner.execute("SELECT relacl FROM pg_class WHERE relname = 'ledger_event_203101'").fetchone() == (None,)


def test_a_month_whose_rows_are_in_the_default_partition_is_left_to_it(as_owner, owner):
    put_into_default(owner)
    assert ensure_event_partitions(date(1999, 12, 1), months_ahead=1) == ["ledger_event_200001"]


def test_a_missing_truncate_trigger_is_put_back(as_owner, owner):
    owner.execute("DROP TRIGGER ledger_event_no_truncate ON ledger_event_default")
    ensure_event_partitions(clock.now().date())
    with pytest.raises(InsufficientPrivilege, match="append-only"):
        owner.execute("TRUNCATE ledger_event_default CASCADE")
