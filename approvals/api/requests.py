"""Asking for an approval, talking about it, taking it back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction

from approvals import guarded
from approvals.api.moves import SENTENCES, close_if_due, move_request
from approvals.api.policies import VOTE
from approvals.api.situations import find_request, lock_request, read_situation
from approvals.models import ApprovalRequest, Comment
from approvals.queries import database_now
from approvals.rules import ALL
from approvals.states import OPEN
from rag4c.kernel.canonical import canonical_json, digest_of, sha256_hex
from rag4c.kernel.errors import Blocked, Conflict, Denied, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from approvals.models import ActionPolicy, Stage
    from rag4c.kernel.grant import Actor

__all__ = ["Asking", "cancel_request", "check_reason", "comment", "read_payload", "store_request", "submit_request"]
MAX_COMMENT = 2000  # the column


def submit_request(*, actor: Actor, action: str, payload: Any, reason: str) -> uuid.UUID:
    """Ask for the approval of exactly this payload. It is bound to the subject's revision and the policy of this moment (GOV-A8, A9).

    The door is knocked at first: who may not do it, what is not there or would change nothing, is refused now and not after the approval.
    Args: payload: as Blocked("approval_required") carried it. reason: 10 to 500 characters.
    Raises: what the door raises; Absent("action"), Invalid("reason_invalid" | "payload_invalid"), Blocked("no_policy" | "policy_without_stages"),
    Conflict("approval_not_needed" | "nothing_to_do" | "payload_stale" | "request_open").
    """
    declared = gate.find_action(action)
    check_reason(reason)
    with scope(actor.grant), transaction.atomic():
        body = read_payload(declared, payload)
        policy = guarded.policy_in_force(action)
        stages = _require_stages(policy, action)
        _knock(actor, declared, payload, sha256_hex(body))
        try:
            with transaction.atomic():
                request = store_request(actor, Asking(declared, payload, stages[0].policy, stages, reason))
        except IntegrityError as error:
            raise Conflict("request_open", "This was asked for already and is open.", find_open(action, sha256_hex(body))) from error
    return request.pk


def check_reason(reason: str) -> None:
    """Raises: Invalid("reason_invalid")."""
    if not 10 <= len(reason.strip()) <= 500:
        raise Invalid("reason_invalid", "Give a reason of 10 to 500 characters.")


def read_payload(declared: gate.GuardedAction, payload: Any) -> bytes:
    """The canonical bytes of a payload that its action understands completely. Raises: Invalid("payload_invalid")."""
    try:
        body = canonical_json(payload)
        if canonical_json(declared.payload(declared.load(payload))) != body:
            raise ValueError("the payload holds more than the action reads")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Invalid("payload_invalid", "This is no payload of this action; take it from the refusal that named it.") from error
    return body


def _require_stages(policy: ActionPolicy | None, action: str) -> list[Stage]:
    if policy is None:
        raise Blocked(
            "no_policy", "No policy says whether this needs an approval, so it is refused. Ask a tenant admin to set one.", {"action": action}
        )
    if policy.mode == "none":
        raise Conflict("approval_not_needed", "This needs no approval; do it directly.", {"action": action})
    stages = list(policy.stages.select_related("policy").order_by("number"))
    if not stages:
        raise Blocked("policy_without_stages", "The policy names nobody who could approve; ask a tenant admin to set it.", {"action": action})
    return stages


def _knock(actor: Actor, declared: gate.GuardedAction, payload: Any, sha256: str) -> None:
    """Go through the door without a permit: it must stop at the gate, with exactly this payload."""
    try:
        with transaction.atomic():
            declared.execute(actor, payload)
            raise Conflict("nothing_to_do", "This would change nothing now.")
    except Blocked as error:
        if error.code != "approval_required":
            raise
        if error.data.get("payload_sha256") != sha256:
            raise Conflict("payload_stale", "What this is about has changed; look again and ask anew.") from error


@dataclass(frozen=True, slots=True)
class Asking:
    """What is written down at submit."""

    declared: gate.GuardedAction
    payload: Any
    policy: ActionPolicy
    stages: Sequence[Stage]
    reason: str
    state: str = "pending"


def store_request(actor: Actor, asking: Asking) -> ApprovalRequest:
    """The row with its event; inside a scope and a transaction."""
    declared, stages = asking.declared, asking.stages
    body, now = canonical_json(asking.payload), database_now()
    gains = declared.beneficiaries(asking.payload)
    kind, key = declared.subject_ref(asking.payload)
    request = ApprovalRequest.objects.create(
        tenant_id=actor.tenant_id,
        action=declared.code,
        policy=asking.policy,
        payload=body,
        payload_sha256=sha256_hex(body),
        subject_kind=kind,
        subject_id=key,
        subject_rev=declared.subject_rev(asking.payload),
        requested_by=actor.ref,
        requester_id=actor.user_id,
        reason=asking.reason.strip(),
        beneficiaries=sorted(gains),
        floors=_count_floors(actor, stages, gains),
        submitted_at=now,
        state=asking.state,
        stage_started_at=now,
        wake_at=now + timedelta(seconds=stages[0].ttl_s if stages else 0),
    )
    data = {
        "action": request.action,
        "subject": [kind, key, request.subject_rev],
        "payload_sha256": request.payload_sha256,
        "policy": str(asking.policy.pk),
        "reason_sha256": digest_of(request.reason),
    }
    ledger.record(actor, "approval.requested", subject=("approval", request.pk), data=data)
    return request


def _count_floors(actor: Actor, stages: Sequence[Stage], gains: frozenset[uuid.UUID]) -> list[int]:
    """How many each stage needs at least, whatever becomes of its people later; `all` are those who could vote now."""
    holders = tenants.list_holders(tenant_id=actor.tenant_id, principals={name for stage in stages for name in stage.approvers}, permission=VOTE)
    floors = []
    for stage in stages:
        people = frozenset().union(*(holders[name] for name in stage.approvers)) - gains - {actor.user_id}
        floors.append(max(1, len(people)) if stage.mode == ALL else stage.quorum)
    return floors


def find_open(action: str, payload_sha256: str) -> dict[str, str]:
    """`{"request": id}` of the open request for this payload, or nothing; for the data of an error."""
    key = ApprovalRequest.objects.filter(action=action, payload_sha256=payload_sha256, state__in=OPEN).values_list("pk", flat=True).first()
    return {"request": str(key)} if key else {}


def cancel_request(*, actor: Actor, request_id: uuid.UUID) -> None:
    """Take an open request back: the requester, or who manages policies.

    Raises: Denied("not_allowed"), Absent("approval"), Conflict("request_closed" | "request_expired" | "request_superseded").
    """
    with scope(actor.grant), transaction.atomic():
        request = lock_request(request_id)
        if actor.user_id is None or actor.user_id != request.requester_id:
            check_permission(actor, "policy.manage")
        if request.state not in OPEN:
            raise Conflict("request_closed", SENTENCES[request.state], {"state": request.state})
        closed = close_if_due(actor, read_situation(request))
        if not closed:
            move_request(actor, request, "cancelled", decided_at=database_now())
            ledger.record(actor, "approval.cancelled", subject=("approval", request.pk), data={"action": request.action})
    if closed:
        raise Conflict(f"request_{closed}", SENTENCES[closed])


def comment(*, actor: Actor, request_id: uuid.UUID, text: str) -> uuid.UUID:
    """Say something about a request; it decides nothing. Args: text: 1 to 2,000 characters.

    Raises: Denied("not_allowed"), Absent("approval"), Invalid("comment_invalid").
    """
    if not 1 <= len(text.strip()) <= MAX_COMMENT:
        raise Invalid("comment_invalid", f"A comment is 1 to {MAX_COMMENT:,} characters.")
    with scope(actor.grant), transaction.atomic():
        request = find_request(request_id)
        if actor.user_id is None or actor.user_id != request.requester_id:
            check_permission(actor, "approval.read")
        row = Comment.objects.create(tenant_id=actor.tenant_id, request=request, author=actor.ref, text=text.strip())
        ledger.record(
            actor, "approval.commented", subject=("approval", request.pk), data={"comment": str(row.pk), "text_sha256": digest_of(row.text)}
        )
    return row.pk


def require_person(actor: Actor) -> uuid.UUID:
    """Raises: Denied("person_needed") for the system: a voice belongs to a person (GOV-A2)."""
    if actor.user_id is None:
        raise Denied("person_needed", "Only a person can do this; name one.")
    return actor.user_id
