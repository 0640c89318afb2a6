"""The one executor: everything is checked again after the row lock, then permit, change, execution and event commit together (GOV-A1, A7, A8, A11)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.db import transaction

from approvals import rules
from approvals.api.break_glass import miss_review
from approvals.api.moves import SENTENCES, apply_verdict, close_if_due, move_request
from approvals.api.policies import VOTE
from approvals.api.running import SUPERSEDED, run_payload
from approvals.api.situations import lock_request, read_situation
from approvals.models import ApprovalRequest
from approvals.queries import due_approvals
from rag4c.kernel.errors import Conflict, DomainError, Transient, Unavailable
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid

    from approvals.api.situations import Situation
    from rag4c.kernel.grant import Actor

__all__ = ["advance_request", "execute_approved", "execute_request", "find_due_approvals"]
RETRY_S: Final = 30
MAX_RETRY_S: Final = 3600


def execute_request(*, actor: Actor, request_id: uuid.UUID) -> str:
    """Run what was approved, in the requester's name and with the rights that they hold now. Returns the request's state after it.

    `executed`; `failed` when the door refuses; `pending` when a vote does not count any more, so that another is needed.
    Raises: Denied("not_allowed"), Absent("approval"), Conflict("request_not_approved" | "request_expired" | "request_superseded"),
    Unavailable and Transient, after which nothing is changed and the sweep tries again.
    """
    with scope(actor.grant), transaction.atomic():
        request = lock_request(request_id)
        if actor.user_id is None or actor.user_id != request.requester_id:
            check_permission(actor, VOTE)
        situation = read_situation(request)
        closed = close_if_due(actor, situation)
        if not closed:
            if request.state != "approved":
                raise Conflict("request_not_approved", SENTENCES[request.state], {"state": request.state})
            _execute(actor, situation)
        fp("approval.commit.before")
    fp("approval.commit.after")
    if closed:
        raise Conflict(f"request_{closed}", SENTENCES[closed])
    return request.state


def _execute(actor: Actor, situation: Situation) -> None:
    request = situation.request
    verdict = rules.settle(situation.poll)
    if verdict.state != rules.APPROVED:
        apply_verdict(actor, situation, verdict)
        return
    move_request(actor, request, "executing")
    try:
        with transaction.atomic():
            executor = _requester_of(request)
            run_payload(actor, request, executor)
    except (Transient, Unavailable):
        raise
    except DomainError as error:
        is_edited = error.code == SUPERSEDED
        fault = {"fault_code": error.code[:80], "fault_message": error.message[:500]}
        move_request(actor, request, "superseded" if is_edited else "failed", **fault)
        data = {"action": request.action, "code": error.code}
        ledger.record(actor, "approval.superseded" if is_edited else "approval.failed", subject=("approval", request.pk), data=data)
    else:
        move_request(actor, request, "executed")


def _requester_of(request: ApprovalRequest) -> Actor:
    """The requester with what their roles allow now (GOV-A7). Raises: Absent("user") when they have left."""
    if request.requester_id is None:
        return system_actor(request.tenant_id)
    return tenants.actor_for_user(tenant_id=request.tenant_id, user_id=request.requester_id, channel="task")


def advance_request(*, tenant_id: str, request_id: str) -> str:
    """What the sweep does with a request whose time has come: expire, tell an escalation, run, or note a missed review. Returns its state.

    Nothing relies on it: votes and executions derive all of this themselves (GOV-A11).
    """
    actor = system_actor(tenant_id)
    with scope(actor.grant), transaction.atomic():
        request = ApprovalRequest.objects.select_for_update().filter(pk=request_id).first()
        if request is None:
            return "absent"
        miss_review(actor, request)
        if request.state in {"pending", "approved"}:
            situation = read_situation(request)
            if close_if_due(actor, situation):
                return request.state
            _set_next_look(actor, situation)
    return _run_approved(actor, request)


def _set_next_look(actor: Actor, situation: Situation) -> None:
    request, now, clock = situation.request, situation.now, situation.clock
    rows = ApprovalRequest.objects.filter(pk=request.pk)
    if request.state == "approved":  # counted before work, so that a killed executor is followed by another later on
        wait_s = min(RETRY_S * 2**request.attempts, MAX_RETRY_S)
        rows.update(attempts=request.attempts + 1, wake_at=now + timedelta(seconds=wait_s))
        return
    if clock.is_escalated and not request.is_escalated:
        rows.update(is_escalated=True, wake_at=clock.expires_at)
        ledger.record(actor, "approval.escalated", subject=("approval", request.pk), data={"action": request.action, "stage": request.stage})
    elif not clock.is_escalated and clock.escalates_at:
        rows.update(wake_at=clock.escalates_at)
    else:
        rows.update(wake_at=clock.expires_at)


def _run_approved(actor: Actor, request: ApprovalRequest) -> str:
    if request.state != "approved":
        return request.state
    try:
        return execute_request(actor=actor, request_id=request.pk)
    except Conflict as error:  # another executor was first, or it closed meanwhile
        return error.code


def execute_approved(tenant_id: str, subject_id: str) -> None:
    """Handler of `approval.approved`: runs it at once. Raises: Transient, Unavailable, to be called again later."""
    _run_approved(system_actor(tenant_id), _read_state(tenant_id, subject_id))


def _read_state(tenant_id: str, request_id: str) -> ApprovalRequest:
    with scope(system_actor(tenant_id).grant):
        return ApprovalRequest.objects.get(pk=request_id)


def find_due_approvals(limit: int = 500) -> list[tuple[str, str]]:
    """(tenant, request) pairs whose time has come, over all tenants. Only under the system login."""
    return due_approvals(limit)
