"""Every change of a request's state: compare-and-set under the row lock, with its ledger event in the same transaction (GOV-A12)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from approvals import rules
from approvals.models import ApprovalRequest
from approvals.states import APPROVAL
from rag4c.kernel.errors import Conflict
from rag4c.ledger import api as ledger

if TYPE_CHECKING:
    from approvals.api.situations import Situation
    from rag4c.kernel.grant import Actor

__all__ = ["SENTENCES", "apply_verdict", "close_if_due", "move_request"]
HINT_S: Final = 30  # the sweep runs an approved request when the message of its event was lost
SENTENCES: Final = {
    "pending": "It has not been approved yet.",
    "approved": "It is approved already.",
    "executing": "It is being executed just now.",
    "executed": "It has been executed.",
    "failed": "It was approved, but the change was refused when it ran; ask anew.",
    "rejected": "It was rejected.",
    "expired": "Its time is over; ask anew.",
    "superseded": "What it is about was changed meanwhile; ask anew.",
    "cancelled": "It was cancelled.",
}


def move_request(actor: Actor, request: ApprovalRequest, target: str, **changes: Any) -> None:
    """One transition of the machine. Raises: Conflict("state_move_refused")."""
    APPROVAL.check(request.state, target)
    if not ApprovalRequest.objects.filter(pk=request.pk, state=request.state).update(state=target, **changes):
        raise Conflict("state_move_refused", "Somebody else moved this request meanwhile; look again.")
    request.state = target
    for name, value in changes.items():
        setattr(request, name, value)


def close_if_due(actor: Actor, situation: Situation) -> str:
    """Write down that a request is expired or superseded, if it is; returns which, or an empty text."""
    request, target = situation.request, situation.closing
    if target:
        move_request(actor, request, target, decided_at=situation.now)
        ledger.record(
            actor, "approval.expired" if target == "expired" else "approval.superseded", subject=("approval", request.pk), data=_ids(request)
        )
    return target


def apply_verdict(actor: Actor, situation: Situation, verdict: rules.Verdict) -> None:
    """Bring a pending or approved request to what its votes say."""
    request = situation.request
    if verdict.state == rules.REJECTED:
        move_request(actor, request, "rejected", decided_at=situation.now)
        ledger.record(actor, "approval.rejected", subject=("approval", request.pk), data=_ids(request))
    elif verdict.state == rules.APPROVED and request.state == "pending":
        move_request(actor, request, "approved", decided_at=situation.now, wake_at=situation.now + timedelta(seconds=HINT_S))
        ledger.record(actor, "approval.approved", subject=("approval", request.pk), data=_ids(request))
    elif verdict.state == rules.PENDING and (request.state, request.stage) != ("pending", verdict.stage):
        goes_back = request.state == "approved" or verdict.stage < request.stage
        stage = situation.stages[verdict.stage - 1]
        wake_at = situation.now + timedelta(seconds=stage.ttl_s)
        changes = {"stage": verdict.stage, "stage_started_at": situation.now, "is_escalated": False, "wake_at": wake_at, "decided_at": None}
        move_request(actor, request, "pending", **changes)
        ledger.record(actor, "approval.reopened" if goes_back else "approval.stage_passed", subject=("approval", request.pk), data=_ids(request))


def _ids(request: ApprovalRequest) -> dict[str, Any]:
    """What an event carries: ids, codes and digests (GOV-U6)."""
    return {
        "action": request.action,
        "stage": request.stage,
        "payload_sha256": request.payload_sha256,
        "subject": [request.subject_kind, request.subject_id],
    }
