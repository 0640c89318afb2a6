"""What needs me, what I asked, where it stands and why (ui.md "Approvals inbox")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from approvals import rules
from approvals.api.situations import find_request, payload_of, read_situation, read_situations
from approvals.contract import RequestView, VoteView
from approvals.models import ApprovalRequest, Vote
from approvals.states import OPEN
from rag4c.kernel.errors import Absent, DomainError
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from approvals.api.situations import Situation
    from rag4c.kernel.grant import Actor

__all__ = ["describe_payload", "describe_request", "list_inbox", "list_mine", "list_requests", "list_votes", "needs_of", "read_request", "view_rows"]
READ = "approval.read"
MAX_OPEN = 500  # open requests that an inbox looks through; more are not read by anybody


def list_inbox(*, actor: Actor, limit: int = 50) -> list[RequestView]:
    """Open requests on which this person may vote now, the oldest first. Raises: Denied("not_allowed")."""
    check_permission(actor, READ)
    with scope(actor.grant):
        found = [situation for situation in _open_situations(actor) if needs_vote(situation, actor.user_id)]
        return _views(actor, found[:limit])


def needs_of(actor: Actor) -> list[uuid.UUID]:
    """Ids of the inbox, for lists that show it. Inside a scope."""
    return [situation.request.pk for situation in _open_situations(actor) if needs_vote(situation, actor.user_id)]


def _open_situations(actor: Actor) -> list[Situation]:
    rows = ApprovalRequest.objects.visible_to(actor.grant).filter(state="pending").order_by("submitted_at", "pk")
    return read_situations(list(rows[:MAX_OPEN]))


def needs_vote(situation: Situation, user_id: uuid.UUID | None) -> bool:
    """Whether this person's vote would count now."""
    if user_id is None or situation.request.state != "pending" or situation.closing:
        return False
    stage, escalated = situation.request.stage, situation.clock.is_escalated
    authority = rules.find_authority(situation.poll, voter=user_id, stage=stage, is_escalated=escalated, now=situation.now)
    return authority.principal is not None


def list_mine(*, actor: Actor, limit: int = 50) -> list[RequestView]:
    """What this person asked, newest first; everybody may see their own."""
    with scope(actor.grant):
        rows = ApprovalRequest.objects.visible_to(actor.grant).filter(requested_by=actor.ref).order_by("-submitted_at", "-pk")
        return _views(actor, read_situations(list(rows[:limit])))


def list_requests(*, actor: Actor, after: uuid.UUID | None = None, limit: int = 50) -> list[RequestView]:
    """All requests of the tenant, newest first. Args: after: the last id of the page before. Raises: Denied("not_allowed")."""
    check_permission(actor, READ)
    with scope(actor.grant):
        rows = ApprovalRequest.objects.visible_to(actor.grant).order_by("-pk")
        rows = rows.filter(pk__lt=after) if after else rows
        return _views(actor, read_situations(list(rows[:limit])))


def read_request(*, actor: Actor, request_id: uuid.UUID) -> RequestView:
    """One request as it stands. Raises: Absent("approval"), also for those who may not see it."""
    with scope(actor.grant):
        return _views(actor, [read_situation(require_readable(actor, request_id))])[0]


def require_readable(actor: Actor, request_id: uuid.UUID) -> ApprovalRequest:
    """A request of one's own, or any for those who read approvals. Inside a scope. Raises: Absent("approval")."""
    request = find_request(request_id)
    if actor.user_id is not None and actor.user_id == request.requester_id:
        return request
    if actor.kind != "system" and READ not in actor.grant.permissions:
        raise Absent("approval", "There is no such request.")
    return request


def describe_request(*, actor: Actor, request_id: uuid.UUID) -> list[gate.Change]:
    """The diff of exactly what will run, from the payload that is hashed (GOV-B3). Raises: Absent("approval")."""
    with scope(actor.grant):
        return describe_payload(require_readable(actor, request_id))


def describe_payload(request: ApprovalRequest) -> list[gate.Change]:
    """The diff of a request's row; a sentence when what it is about is gone. Inside a scope."""
    try:
        return list(gate.find_action(request.action).describe(payload_of(request)))
    except DomainError as error:
        return [gate.Change(f"{request.subject_kind} {request.subject_id}", "", error.message)]


def view_rows(actor: Actor, requests: Sequence[ApprovalRequest]) -> list[RequestView]:
    """Rows of a list, in as many queries as for one; an edited subject is noticed by the request's page. Inside a scope."""
    return _views(actor, read_situations(requests, with_subjects=False))


def list_votes(*, actor: Actor, request_id: uuid.UUID) -> list[VoteView]:
    """The votes in their order, with both identities of a delegated one. Raises: Absent("approval")."""
    with scope(actor.grant):
        situation = read_situation(require_readable(actor, request_id))
        rows = list(Vote.objects.filter(request_id=request_id).select_related("voter", "principal").order_by("cast_at", "pk"))
        counting = {ballot.voter for ballot in situation.poll.ballots if rules.count_ballot(situation.poll, ballot)}
        return [
            VoteView(
                row.stage,
                str(row.voter),
                "" if row.principal_id == row.voter_id else str(row.principal),
                row.approves,
                row.comment,
                row.cast_at,
                row.voter_id in counting,
            )
            for row in rows
        ]


def _views(actor: Actor, situations: Sequence[Situation]) -> list[RequestView]:
    people = {situation.request.requester_id for situation in situations if situation.request.requester_id}
    names = tenants.name_people(tenant_id=actor.tenant_id, user_ids=people)
    return [_view(situation, actor, names) for situation in situations]


def _view(situation: Situation, actor: Actor, names: dict[uuid.UUID, str]) -> RequestView:
    request = situation.request
    return RequestView(
        id=request.pk,
        action=request.action,
        subject_kind=request.subject_kind,
        subject_id=request.subject_id,
        payload_sha256=request.payload_sha256,
        requested_by=request.requested_by,
        requester_name=names.get(request.requester_id, request.requested_by) if request.requester_id else request.requested_by,
        reason=request.reason,
        submitted_at=request.submitted_at,
        standing=situation.standing,
        stage=request.stage,
        stages=len(situation.stages),
        expires_at=situation.clock.expires_at if request.state in OPEN else None,
        needs_me=needs_vote(situation, actor.user_id),
    )
