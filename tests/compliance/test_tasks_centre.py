"""The task centre: one task a cause, taken by one person, put aside and resolved; every move is an event."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection

from compliance import api
from compliance.admin import AWAKE
from compliance.models import Task
from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Conflict, Denied, DomainError, Invalid
from rag4c.ledger import api as ledger
from rag4c.ledger.models import Delivery, Event
from rag4c.scope.manager import scope
from tests.builders import make_user, work_off

WHY = "looked at it and started it again"


@pytest.fixture
def task(audit):
    api.open_task(str(audit.kit.id), "delivery.given_up", "7")
    return read_task(audit.kit)


def read_task(kit):
    with scope(kit.system.grant):
        return Task.objects.get()


def codes(kit):
    with scope(kit.system.grant):
        return list(Event.objects.filter(code__startswith="task.").order_by("at", "id").values_list("code", flat=True))


def test_a_task_is_opened_once_a_cause_and_again_after_it_was_resolved(audit, task):
    api.open_task(str(audit.kit.id), "delivery.given_up", "7")
    assert read_task(audit.kit).pk == task.pk
    api.resolve_task(actor=audit.kit.alice, task_id=task.pk, rev=1, reason=WHY)
    api.open_task(str(audit.kit.id), "delivery.given_up", "7")
    with scope(audit.kit.system.grant):
        assert sorted(Task.objects.values_list("state", flat=True)) == ["open", "resolved"]


def test_a_delivery_that_was_given_up_becomes_a_task(audit):
    kit = audit.kit
    with scope(kit.system.grant):
        ledger.record(kit.system, "revision.failed", subject=("revision", "r1"))
        Delivery.objects.update(handler="nobody.knows")
        owed = Delivery.objects.get()
    assert ledger.deliver(tenant_id=str(kit.id), delivery_id=str(owed.pk)) == "attention"
    work_off(kit)
    task = read_task(kit)
    assert (task.kind, task.subject_kind, task.subject_id, task.state) == ("delivery.given_up", "delivery", str(owed.pk), "open")


def test_claim_give_back_assign_snooze_and_resolve(audit, task):
    kit, dora = audit.kit, make_user(audit.kit.id, "bob2", "approver")
    api.claim_task(actor=kit.alice, task_id=task.pk, rev=1)
    assert (read_task(kit).state, read_task(kit).assignee_id) == ("claimed", kit.alice.user_id)
    api.release_task(actor=kit.alice, task_id=task.pk, rev=2)
    assert (read_task(kit).state, read_task(kit).assignee_id) == ("open", None)
    api.assign_task(actor=kit.alice, task_id=task.pk, rev=3, username="bob2")
    assert read_task(kit).assignee_id == dora.user_id
    api.snooze_task(actor=dora, task_id=task.pk, rev=4, until=clock.now() + timedelta(days=1))
    assert read_task(kit).state == "snoozed"
    api.claim_task(actor=kit.alice, task_id=task.pk, rev=5)
    assert read_task(kit).snoozed_until is None
    api.resolve_task(actor=kit.alice, task_id=task.pk, rev=6, reason=WHY)
    done = read_task(kit)
    assert (done.state, done.resolution, done.resolved_by) == ("resolved", WHY, kit.alice.ref)
    assert codes(kit) == ["task.opened", "task.claimed", "task.released", "task.assigned", "task.snoozed", "task.claimed", "task.resolved"]


def test_GOV_U6_what_was_written_is_in_the_ledger_as_a_digest(audit, task):
    api.resolve_task(actor=audit.kit.alice, task_id=task.pk, rev=1, reason=WHY)
    with scope(audit.kit.system.grant):
        assert WHY.encode() not in bytes(Event.objects.get(code="task.resolved").canonical)


def test_a_snoozed_task_is_open_again_by_itself(audit, task):
    with scope(audit.kit.system.grant):
        assert Task.objects.filter(AWAKE).count() == 1
        Task.objects.update(state="snoozed", snoozed_until=clock.now() + timedelta(hours=1))
        assert Task.objects.filter(AWAKE).count() == 0
        Task.objects.update(snoozed_until=clock.now() - timedelta(seconds=1))
        assert Task.objects.filter(AWAKE).count() == 1


def test_GOV_F1_of_many_who_take_a_task_at_once_one_gets_it(audit, task):
    outcomes, barrier = [], threading.Barrier(6)

    def take():
        barrier.wait()
        try:
            api.claim_task(actor=audit.kit.alice, task_id=task.pk, rev=1)
            outcomes.append("mine")
        except Conflict as error:
            outcomes.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["mine", *["task_changed"] * 5]
    assert codes(audit.kit).count("task.claimed") == 1


def snooze_by(days):
    return lambda actor, task: api.snooze_task(actor=actor, task_id=task.pk, rev=1, until=clock.now() + timedelta(days=days))


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (lambda actor, task: api.claim_task(actor=actor, task_id=task.pk, rev=2), Conflict, "task_changed"),
        (lambda actor, task: api.release_task(actor=actor, task_id=task.pk, rev=1), Conflict, "state_move_refused"),
        (lambda actor, task: api.claim_task(actor=actor, task_id=actor.user_id, rev=1), Absent, "task"),
        (lambda actor, task: api.assign_task(actor=actor, task_id=task.pk, rev=1, username="bob"), Invalid, "assignee_not_allowed"),
        (lambda actor, task: api.resolve_task(actor=actor, task_id=task.pk, rev=1, reason="done"), Invalid, "reason_invalid"),
        (snooze_by(-1), Invalid, "snooze_invalid"),
        (snooze_by(91), Invalid, "snooze_invalid"),
    ],
)
def test_what_cannot_be_done_with_a_task_changes_nothing(audit, task, call, kind, code):
    with pytest.raises(kind) as caught:
        call(audit.kit.alice, task)
    assert caught.value.code == code
    assert (read_task(audit.kit).state, read_task(audit.kit).rev) == ("open", 1)
    assert codes(audit.kit) == ["task.opened"]


def test_tasks_are_for_those_who_may_and_of_their_tenant(audit, task):
    from tests.builders import make_tenant

    for actor in (audit.kit.bob, make_tenant("globex").alice):
        with pytest.raises((Denied, Absent)):
            api.claim_task(actor=actor, task_id=task.pk, rev=1)
    with pytest.raises(DomainError):
        api.claim_task(actor=audit.kit.system, task_id=task.pk, rev=1)
