"""The task centre: what a person must look at, opened by events, claimed, assigned, snoozed and resolved by compare-and-set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from compliance.models import Task
from compliance.states import TASK
from rag4c.kernel import clock
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.dbtime import plus_one
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

    from rag4c.kernel.grant import Actor

__all__ = ["TASK_SOURCES", "assign_task", "claim_task", "open_task", "release_task", "resolve_task", "snooze_task"]
# event -> the kind of what its subject is; wiring subscribes `open_task` to each
TASK_SOURCES: Final = {
    "break_glass.missed": "approval",
    "break_glass.used": "approval",
    "delivery.given_up": "delivery",
    "revision.failed": "revision",
    "seal.delayed": "event",
    "support.glass_broken": "support_session",
    "support.visit_refused": "support_visit",
}
MAX_SNOOZE_DAYS: Final = 90
MIN_REASON, MAX_REASON = 10, 500


def open_task(tenant_id: str, code: str, subject_id: str) -> None:
    """Open a task about an event's subject, unless one is open. Called by the delivery of the event; idempotent by kind and subject."""
    actor = system_actor(tenant_id)
    with scope(actor.grant):
        try:
            with transaction.atomic():
                task = Task.objects.create(tenant_id=tenant_id, kind=code, subject_kind=TASK_SOURCES[code], subject_id=subject_id)
                ledger.record(actor, "task.opened", subject=("task", task.pk), data={"kind": code, "subject": subject_id})
        except IntegrityError:
            return


def claim_task(*, actor: Actor, task_id: uuid.UUID, rev: int) -> None:
    """Take a task. Raises: Denied("not_allowed"), Absent("task"), Conflict("task_changed" | "state_move_refused")."""
    if actor.user_id is None:
        raise Denied("not_allowed", "Only a person can take a task.")
    with scope(actor.grant), transaction.atomic():
        _move(actor, task_id, rev, "claimed", assignee_id=actor.user_id)
        ledger.record(actor, "task.claimed", subject=("task", task_id))


def assign_task(*, actor: Actor, task_id: uuid.UUID, rev: int, username: str) -> None:
    """Give a task to a person who may work on it.

    Raises: Denied("not_allowed"), Absent("task" | "user"), Invalid("assignee_not_allowed"), Conflict("task_changed" | "state_move_refused").
    """
    check_permission(actor, "task.work")
    user_id = tenants.find_user(actor=actor, username=username)
    if "task.work" not in tenants.actor_for_user(tenant_id=actor.tenant_id, user_id=user_id).grant.permissions:
        raise Invalid("assignee_not_allowed", "The roles of this person do not let them work on tasks.")
    with scope(actor.grant), transaction.atomic():
        _move(actor, task_id, rev, "claimed", assignee_id=user_id)
        ledger.record(actor, "task.assigned", subject=("task", task_id), data={"assignee": str(user_id)})


def release_task(*, actor: Actor, task_id: uuid.UUID, rev: int) -> None:
    """Give a task back, or wake it. Raises: Denied("not_allowed"), Absent("task"), Conflict("task_changed" | "state_move_refused")."""
    with scope(actor.grant), transaction.atomic():
        _move(actor, task_id, rev, "open", assignee_id=None)
        ledger.record(actor, "task.released", subject=("task", task_id))


def snooze_task(*, actor: Actor, task_id: uuid.UUID, rev: int, until: datetime) -> None:
    """Put a task aside until a time; from then on it counts as open again, by itself.

    Raises: Denied("not_allowed"), Absent("task"), Invalid("snooze_invalid"), Conflict("task_changed" | "state_move_refused").
    """
    wait = until - clock.now()
    if not 0 < wait.total_seconds() <= MAX_SNOOZE_DAYS * 86_400:
        raise Invalid("snooze_invalid", f"Choose a time in the next {MAX_SNOOZE_DAYS} days.")
    with scope(actor.grant), transaction.atomic():
        _move(actor, task_id, rev, "snoozed", snoozed_until=until)
        ledger.record(actor, "task.snoozed", subject=("task", task_id), data={"until": until.isoformat()})


def resolve_task(*, actor: Actor, task_id: uuid.UUID, rev: int, reason: str) -> None:
    """Close a task with what was found. The text stays on the row, the ledger has its digest (GOV-U6).

    Raises: Denied("not_allowed"), Absent("task"), Invalid("reason_invalid"), Conflict("task_changed" | "state_move_refused").
    """
    text = reason.strip()
    if not MIN_REASON <= len(text) <= MAX_REASON:
        raise Invalid("reason_invalid", f"Say in {MIN_REASON} to {MAX_REASON} characters what was done.")
    with scope(actor.grant), transaction.atomic():
        _move(actor, task_id, rev, "resolved", resolution=text, resolved_by=actor.ref, resolved_at=Now())
        ledger.record(actor, "task.resolved", subject=("task", task_id), data={"reason_sha256": sha256_hex(text)})


def _move(actor: Actor, task_id: uuid.UUID, rev: int, target: str, **values: Any) -> None:
    """Compare-and-set on the revision that the person saw: of two who take a task one gets it (GOV-F1)."""
    check_permission(actor, "task.work")
    cleared = {"snoozed_until": None} if target != "snoozed" else {}
    task = Task.objects.filter(pk=task_id).first()
    if task is None:
        raise Absent("task", "There is no such task.")
    TASK.check(task.state, target)
    seen = Task.objects.filter(pk=task_id, rev=rev, state=task.state)
    if not seen.update(state=target, rev=plus_one("rev"), **cleared, **values):
        raise Conflict("task_changed", "Somebody else has changed this task meanwhile; look at it again.", {"task": str(task_id)})
