"""Voting: the one function behind page, REST, command line and message link (GOV-A2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from django.db import transaction

from approvals import rules
from approvals.api.moves import SENTENCES, apply_verdict, close_if_due
from approvals.api.policies import VOTE
from approvals.api.requests import MAX_COMMENT, require_person
from approvals.api.situations import binding_of, lock_request, read_situation
from approvals.models import Delegation, Vote
from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Conflict, Denied, DomainError, Invalid
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    import uuid

    from approvals.api.situations import Situation
    from rag4c.kernel.grant import Actor

__all__ = ["vote"]
_REFUSALS: Final[dict[str, DomainError]] = {
    "own_request": Denied("own_request", "You asked for this, or would gain from it; somebody else has to decide."),
    "not_an_approver": Denied("not_an_approver", "You are not among those who decide about this stage."),
    "already_voted": Conflict("already_voted", "Your vote on this request was cast already."),
    "counted_together": Conflict("counted_together", "Who delegated to you, or your delegate, has voted already; the two of you count once."),
}


def vote(*, actor: Actor, request_id: uuid.UUID, approves: bool, comment: str = "", seen_sha256: str = "") -> str:
    """Cast the one vote of a person on a request; returns the request's state after it.

    Everything is read after the row lock: state, expiry by the database's clock, the subject's revision, who may vote (GOV-A7, A8, A11, A12).
    Args: comment: at most 2,000 characters. seen_sha256: the payload digest that the voter looked at, compared when given.
    Raises: Denied("not_allowed" | "person_needed" | "own_request" | "not_an_approver"), Absent("approval"), Invalid("comment_invalid"),
    Conflict("request_closed" | "request_expired" | "request_superseded" | "already_voted" | "counted_together" | "payload_stale").
    """
    check_permission(actor, VOTE)
    voter = require_person(actor)
    if len(comment) > MAX_COMMENT:
        raise Invalid("comment_invalid", f"A comment is at most {MAX_COMMENT:,} characters.")
    with scope(actor.grant), transaction.atomic():
        request = lock_request(request_id)
        situation = read_situation(request)
        closed = close_if_due(actor, situation)
        if not closed:
            if request.state != "pending":
                raise Conflict("request_closed", SENTENCES[request.state], {"state": request.state})
            if seen_sha256 and seen_sha256 != request.payload_sha256:
                raise Conflict("payload_stale", "This request is about something else than what you looked at; look again.")
            apply_verdict(actor, situation, rules.settle(situation.poll))  # somebody who voted may have left since
            ballot = _cast(actor, situation, voter, approves=approves, comment=comment)
            poll = replace(situation.poll, ballots=(*situation.poll.ballots, ballot))
            apply_verdict(actor, replace(situation, poll=poll), rules.settle(poll))
            fp("approval.vote.commit.before")
    fp("approval.vote.commit.after")
    if closed:
        raise Conflict(f"request_{closed}", SENTENCES[closed])
    return request.state


def _cast(actor: Actor, situation: Situation, voter: uuid.UUID, *, approves: bool, comment: str) -> rules.Ballot:
    request, now = situation.request, situation.now
    if request.state != "pending":
        raise Conflict("request_closed", SENTENCES[request.state], {"state": request.state})
    is_escalated = situation.clock.is_escalated
    authority = rules.find_authority(situation.poll, voter=voter, stage=request.stage, is_escalated=is_escalated, now=now)
    if authority.principal is None:
        raise _refusal(authority.refusal)
    row = Vote.objects.create(
        tenant_id=actor.tenant_id,
        request=request,
        stage=request.stage,
        voter_id=voter,
        principal_id=authority.principal,
        delegation=_find_delegation(authority.principal, voter, situation),
        approves=approves,
        by_escalation=is_escalated,
        binding_sha256=binding_of(request),
        comment=comment.strip(),
        cast_at=now,
    )
    data = {
        "vote": str(row.pk),
        "stage": row.stage,
        "approves": approves,
        "principal": f"user:{row.principal_id}",
        "delegation": str(row.delegation_id or ""),
        "binding_sha256": row.binding_sha256,
        "comment_sha256": digest_of(row.comment) if row.comment else "",
    }
    ledger.record(actor, "approval.voted", subject=("approval", request.pk), data=data)
    return rules.Ballot(voter, authority.principal, request.stage, approves, now, is_escalated)


def _refusal(code: str) -> DomainError:
    known = _REFUSALS[code]
    return type(known)(known.code, known.message)


def _find_delegation(principal: uuid.UUID, voter: uuid.UUID, situation: Situation) -> Delegation | None:
    if principal == voter:
        return None
    rows = Delegation.objects.filter(delegator_id=principal, delegate_id=voter, valid_from__lte=situation.now, valid_to__gt=situation.now)
    return rows.filter(ended_at__isnull=True).first()
