"""A delivery is owed until it was done: the row is the truth, the broker's message is a hint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from rag4c.celery import forget_inherited_pool
from rag4c.kernel.errors import Conflict, Transient
from rag4c.ledger import api, handlers, tasks
from rag4c.ledger.models import Delivery, Event
from rag4c.scope.manager import scope
from tests.scope.support import ACME, GLOBEX

TENANT = str(ACME.tenant_id)


@pytest.fixture
def system(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("rag4c_system", real_tenants), autocommit=True) as conn:
        yield conn


@pytest.fixture
def owner(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("rag4c_owner", real_tenants), autocommit=True) as conn:
        yield conn


def owe(actor, subject="7"):
    """One recorded event with its deliveries; returns the ids."""
    with scope(actor.grant):
        event_id = api.record(actor, "thing.happened", subject=("thing", subject))
        return [str(key) for key in Delivery.objects.filter(event_id=event_id).order_by("handler").values_list("pk", flat=True)]


def read(delivery_id):
    with scope(ACME):
        row = Delivery.objects.get(pk=delivery_id)
        return row.state, row.attempts


def due(system):
    return {(tenant, key) for tenant, key in system.execute("SELECT tenant_id::text, delivery_id::text FROM rag4c_due_deliveries(100)")}


def make_due(owner):
    owner.execute("UPDATE ledger_delivery SET due_at = clock_timestamp() - interval '1 second'")


def test_a_delivery_calls_its_handler_once(real_tenants, alice, subscribed):
    called = []
    subscribed(lambda tenant_id, subject_id: called.append((tenant_id, subject_id)))
    (key,) = owe(alice)
    assert tasks.deliver_event(TENANT, key) == "done"
    assert tasks.deliver_event(TENANT, key) == "absent"
    assert called == [(TENANT, "7")]
    assert read(key) == ("done", 1)
    with scope(ACME):
        assert str(Delivery.objects.get(pk=key)) == "thing.happened -> tests.handler"


def test_every_handler_has_a_delivery_of_its_own_and_one_that_fails_stops_no_other(real_tenants, alice, subscribed):
    called = []

    def fail(*_):
        raise Transient("not_now")

    subscribed(fail, "a.fails")
    subscribed(lambda *row: called.append(row), "b.works")
    failing, working = owe(alice)
    with pytest.raises(Transient):
        api.deliver(tenant_id=TENANT, delivery_id=failing)
    assert api.deliver(tenant_id=TENANT, delivery_id=working) == "done"
    assert called == [(TENANT, "7")]
    assert (read(failing), read(working)) == (("pending", 1), ("done", 1))


def test_an_event_nobody_wants_owes_nothing(real_tenants, alice):
    with scope(alice.grant):
        api.record(alice, "thing.ignored", subject=("thing", 1))
        assert Delivery.objects.count() == 0


def test_a_failed_delivery_is_tried_again_later_and_then_done(real_tenants, alice, subscribed, system, owner):
    outcomes = iter([Transient("not_now"), None])

    def handle(*_):
        outcome = next(outcomes)
        if outcome:
            raise outcome

    subscribed(handle)
    (key,) = owe(alice)
    with pytest.raises(Transient):
        api.deliver(tenant_id=TENANT, delivery_id=key)
    assert due(system) == set()  # not at once
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "absent"
    make_due(owner)
    assert due(system) == {(TENANT, key)}
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "done"
    assert read(key) == ("done", 2)
    assert due(system) == set()


def test_R15_the_waits_grow_so_that_the_lease_of_a_killed_worker_runs_out_before_we_give_up(real_tenants, alice, subscribed, owner):
    def fail(*_):
        raise Transient("not_now")

    subscribed(fail)
    (key,) = owe(alice)
    waits = []
    for _ in range(api.MAX_ATTEMPTS):
        make_due(owner)
        with pytest.raises(Transient):
            api.deliver(tenant_id=TENANT, delivery_id=key)
        waits.append(owner.execute("SELECT round(extract(epoch FROM due_at - clock_timestamp())) FROM ledger_delivery").fetchone()[0])
    assert [int(wait) for wait in waits] == [5, 10, 20, 40, 80, 160, 320, 640]
    assert sum(waits) > 2 * 120 * 3  # several leases of the default policy


def test_too_many_attempts_end_in_attention_and_never_in_done(real_tenants, alice, subscribed, system, owner):
    called = []

    def fail(*_):
        called.append(1)
        raise Transient("not_now")

    subscribed(fail)
    (key,) = owe(alice)
    for _ in range(api.MAX_ATTEMPTS):
        make_due(owner)
        with pytest.raises(Transient):
            api.deliver(tenant_id=TENANT, delivery_id=key)
    make_due(owner)
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "attention"
    assert len(called) == api.MAX_ATTEMPTS
    assert read(key)[0] == "attention"
    make_due(owner)
    assert (TENANT, key) not in due(system)
    with scope(ACME):
        told = Event.objects.get(code="delivery.given_up")
    assert (told.subject_kind, told.subject_id) == ("delivery", key)  # somebody hears of it
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "absent"


def test_a_delivery_whose_handler_is_gone_gets_attention(real_tenants, alice, subscribed):
    subscribed(lambda *_: None)
    (key,) = owe(alice)
    handlers._HANDLERS.pop("thing.happened")
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "attention"


def test_GOV_T7_a_foreign_pair_is_absent(real_tenants, alice, subscribed):
    called = []
    subscribed(lambda *row: called.append(row))
    (key,) = owe(alice)
    assert tasks.deliver_event(str(GLOBEX.tenant_id), key) == "absent"
    assert api.deliver(tenant_id=str(GLOBEX.tenant_id), delivery_id=key) == "absent"
    assert called == []
    assert read(key) == ("pending", 0)


def test_two_workers_with_the_same_message_call_the_handler_once(real_tenants, alice, subscribed):
    from django.db import connection

    called, outcomes, barrier = [], [], threading.Barrier(4)
    subscribed(lambda *row: called.append(row))
    (key,) = owe(alice)

    def work():
        try:
            barrier.wait(timeout=20)
            outcomes.append(api.deliver(tenant_id=TENANT, delivery_id=key))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(called), sorted(outcomes)) == (1, ["absent", "absent", "absent", "done"])


@pytest.mark.parametrize(("point", "calls_before"), [("ledger.deliver.before", 0), ("ledger.deliver.after", 1)])
def test_GOV_F9_a_worker_killed_at_a_delivery_loses_nothing(  # noqa: PLR0917  # fixtures
    real_tenants, alice, subscribed, system, owner, monkeypatch, tmp_path, point, calls_before
):
    log = tmp_path / "calls"
    log.touch()

    def handle(*_):
        with log.open("a") as stream:
            stream.write("x")

    subscribed(handle)
    (key,) = owe(alice)
    monkeypatch.setenv("RAG4C_FAILPOINTS", f"{point}=kill")
    child = os.fork()
    if child == 0:
        try:
            forget_inherited_pool()
            api.deliver(tenant_id=TENANT, delivery_id=key)
        finally:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    monkeypatch.delenv("RAG4C_FAILPOINTS")
    assert len(log.read_text()) == calls_before
    assert read(key) == ("pending", 1)  # the attempt was counted before work
    make_due(owner)
    assert due(system) == {(TENANT, key)}
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "done"
    assert len(log.read_text()) == calls_before + 1


def run_system(code, dbname):
    """Python code in a process under the system login."""
    environment = {**os.environ, "RAG4C_DB_ROLE": "system", "RAG4C_DB_NAME": dbname, "DJANGO_SETTINGS_MODULE": "rag4c.settings"}
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"], env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_GOV_T8_a_lost_message_is_found_by_the_sweep_under_the_system_login(real_tenants, alice, subscribed):
    subscribed(lambda *_: None)
    (key,) = owe(alice)  # its message waits in the test's Redis, where no worker listens: as good as lost
    result = run_system("from rag4c.ledger import api, tasks; print(api.find_due_deliveries()); print(tasks.sweep_deliveries())", real_tenants)
    assert result.stdout.splitlines() == [str([(TENANT, key)]), "1"], result.stderr


def test_GOV_T8_the_sweep_hints_each_due_delivery_again(real_tenants, broker, alice, subscribed, as_login):
    subscribed(lambda *_: None)
    keys = {owe(alice, str(number))[0] for number in range(3)}
    as_login("rag4c_system")
    assert set(api.find_due_deliveries()) == {(TENANT, key) for key in keys}
    assert len(api.find_due_deliveries(limit=2)) == 2
    assert tasks.sweep_deliveries() == 3


def test_GOV_T8_the_app_login_cannot_look_over_all_tenants(real_tenants):
    from django.db import ProgrammingError

    with pytest.raises(ProgrammingError, match="permission denied"), scope(ACME):
        api.find_due_deliveries()


def test_a_broker_that_is_away_costs_time_and_not_the_change(real_tenants, system):
    code = (
        "import os, uuid\n"
        "from rag4c.ledger import api, handlers\nfrom rag4c.kernel.grant import system_actor\nfrom rag4c.scope.manager import scope\n"
        f"actor = system_actor({TENANT!r})\nhandlers.subscribe('thing.happened', 'tests.handler', print)\n"
        "with scope(actor.grant):\n    api.record(actor, 'thing.happened', subject=('thing', 7))\nprint('recorded')\n"
    )
    environment = {
        **os.environ,
        "RAG4C_BROKER_URL": "redis://127.0.0.1:1/0",
        "RAG4C_DB_NAME": real_tenants,
        "DJANGO_SETTINGS_MODULE": "rag4c.settings",
    }
    result = subprocess.run(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.stdout.splitlines()[-1] == "recorded", result.stderr
    assert "delivery.hint_lost" in result.stdout + result.stderr
    assert len(due(system)) == 1


def test_the_oldest_due_deliveries_come_first_and_no_more_than_asked(real_tenants, alice, subscribed, system):
    subscribed(lambda *_: None)
    keys = [owe(alice, str(number))[0] for number in range(4)]
    rows = system.execute("SELECT delivery_id::text FROM rag4c_due_deliveries(2)").fetchall()
    assert [row[0] for row in rows] == keys[:2]


def test_GOV_T8_the_system_login_executes_the_listed_functions_and_no_other(real_tenants, system):
    for statement in ("SELECT * FROM rag4c_due_deliveries(1)", "SELECT * FROM rag4c_due_jobs(1)", "SELECT * FROM rag4c_tenant_ids()"):
        system.execute(statement)
    assert {row[0] for row in system.execute("SELECT * FROM rag4c_tenant_ids()")} >= {ACME.tenant_id, GLOBEX.tenant_id}
    with pytest.raises(InsufficientPrivilege):
        system.execute("SELECT rag4c_tenant_by_slug('acme')")


def test_GOV_T8_the_system_login_reads_and_writes_no_tenant_table(real_tenants, alice, subscribed, system):
    subscribed(lambda *_: None)
    owe(alice)
    system.execute("SELECT set_config('rag4c.tenant', %s, false)", [TENANT])
    for statement in (
        "SELECT * FROM ledger_delivery",
        "SELECT * FROM ledger_event",
        "UPDATE ledger_delivery SET state = 'done'",
        "SELECT * FROM tenants_tenant",
    ):
        with pytest.raises(InsufficientPrivilege):
            system.execute(statement)


def test_a_delivery_that_was_given_up_can_be_started_again(real_tenants, alice, subscribed, owner):
    called = []
    subscribed(lambda *row: called.append(row))
    (key,) = owe(alice)
    with pytest.raises(Conflict):
        api.retry_delivery(actor=alice, delivery_id=key)
    owner.execute("UPDATE ledger_delivery SET state = 'attention', attempts = 9")
    api.retry_delivery(actor=alice, delivery_id=key)
    assert read(key) == ("pending", 0)
    assert api.deliver(tenant_id=TENANT, delivery_id=key) == "done"
    assert called == [(TENANT, "7")]
