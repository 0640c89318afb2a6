"""Break-glass: done at once by one person with a permission of its own, reviewed by a second within hours (GOV-A13)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction

from approvals import guarded
from approvals.api.moves import move_request
from approvals.api.policies import VOTE
from approvals.api.requests import MAX_COMMENT, Asking, check_reason, read_payload, require_person, store_request
from approvals.api.running import run_payload
from approvals.api.situations import lock_request
from approvals.models import BreakGlass
from approvals.queries import database_now
from approvals.states import BREAK_GLASS
from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Absent, Blocked, Denied, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    import uuid

    from approvals.models import ApprovalRequest
    from rag4c.kernel.grant import Actor

__all__ = ["break_glass", "miss_review", "review_break_glass"]


def break_glass(*, actor: Actor, action: str, payload: Any, reason: str) -> uuid.UUID:
    """Run a guarded action now, before anybody has approved it; returns the request that a second person must review in time.

    The door checks as always: this replaces the approval, not the permission for the change itself.
    Args: reason: 10 to 500 characters.
    Raises: Denied("not_allowed" | "person_needed"), Absent("action"), Invalid("reason_invalid" | "payload_invalid"), Blocked("no_policy"), and what
    the door raises; then nothing was done. Source: GOV-A13.
    """
    check_permission(actor, "support.break_glass")
    require_person(actor)
    declared = gate.find_action(action)
    check_reason(reason)
    with scope(actor.grant), transaction.atomic():
        read_payload(declared, payload)
        policy = guarded.policy_in_force(action)
        if policy is None:
            raise Blocked("no_policy", "No policy says whether this needs an approval, so it is refused.", {"action": action})
        request = store_request(actor, Asking(declared, payload, policy, (), reason, "executing"))
        run_payload(actor, request, actor)
        move_request(actor, request, "executed")
        review_by = database_now() + timedelta(hours=policy.review_hours)
        BreakGlass.objects.create(tenant_id=actor.tenant_id, request=request, review_by=review_by)
        data = {
            "action": action,
            "payload_sha256": request.payload_sha256,
            "reason_sha256": digest_of(request.reason),
            "review_by": review_by.isoformat(),
        }
        ledger.record(actor, "break_glass.used", subject=("approval", request.pk), data=data)
    return request.pk


def review_break_glass(*, actor: Actor, request_id: uuid.UUID, agrees: bool, comment: str = "") -> str:
    """The second person's word on what was done without an approval, also after the deadline. Returns `confirmed` or `disputed`.

    Raises: Denied("not_allowed" | "person_needed" | "own_request"), Absent("approval"), Invalid("comment_invalid"), Conflict("state_move_refused").
    """
    check_permission(actor, VOTE)
    person = require_person(actor)
    if len(comment) > MAX_COMMENT:
        raise Invalid("comment_invalid", f"A comment is at most {MAX_COMMENT:,} characters.")
    target = "confirmed" if agrees else "disputed"
    with scope(actor.grant), transaction.atomic():
        request = lock_request(request_id)
        row = BreakGlass.objects.filter(request=request).first()
        if row is None:
            raise Absent("approval", "There is no such break-glass execution.")
        if person == request.requester_id or person in request.beneficiaries:
            raise Denied("own_request", "You did this, or gained from it; somebody else has to review it.")
        BREAK_GLASS.check(row.state, target)
        changes = {"state": target, "reviewed_by": actor.ref, "reviewed_at": database_now(), "review": comment.strip()}
        BreakGlass.objects.filter(pk=row.pk, state=row.state).update(**changes)
        data = {"late": row.state == "overdue", "comment_sha256": digest_of(comment.strip()) if comment.strip() else ""}
        ledger.record(actor, "break_glass.confirmed" if agrees else "break_glass.disputed", subject=("approval", request.pk), data=data)
    return target


def miss_review(actor: Actor, request: ApprovalRequest) -> None:
    """Note that the deadline of a review has passed; inside the transaction that locks the request."""
    row = BreakGlass.objects.filter(request=request, state="open", review_by__lte=database_now()).first()
    if row is not None:
        BREAK_GLASS.check(row.state, "overdue")
        BreakGlass.objects.filter(pk=row.pk, state="open").update(state="overdue")
        ledger.record(actor, "break_glass.missed", subject=("approval", request.pk), data={"review_by": row.review_by.isoformat()})
