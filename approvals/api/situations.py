"""What a request's state follows from, read at one moment: stages, people, votes, delegations, the subject's revision and the database's clock."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from approvals import rules
from approvals.api.policies import VOTE
from approvals.models import ApprovalRequest, Delegation, Stage, Vote
from approvals.queries import database_now
from rag4c.kernel.canonical import digest_of, sha256_hex
from rag4c.kernel.errors import Absent, DomainError
from rag4c.kernel.grant import EVERYONE
from rag4c.scope import gate
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping, Sequence
    from datetime import datetime

__all__ = ["Situation", "binding_of", "find_request", "lock_request", "payload_of", "read_links", "read_situation", "read_situations"]


@dataclass(frozen=True, slots=True)
class Situation:
    """A request with all that decides about it, now. subject_rev: read now; None when the subject is gone."""

    request: ApprovalRequest
    stages: tuple[Stage, ...]
    poll: rules.Poll
    now: datetime
    subject_rev: str | None

    @property
    def clock(self) -> rules.StageClock:
        """The time limits of the stage, or of the approval that waits for its execution."""
        request = self.request
        if request.state == "approved":
            return rules.read_clock(started_at=request.decided_at or self.now, ttl_s=self.stages[-1].ttl_s, has_escalation=False, now=self.now)
        stage = self.stages[request.stage - 1]
        return rules.read_clock(started_at=request.stage_started_at, ttl_s=stage.ttl_s, has_escalation=bool(stage.escalation), now=self.now)

    @property
    def closing(self) -> str:
        """`expired` or `superseded` when an open request is that, by the clock and the subject; else empty (GOV-A8, A11)."""
        if self.request.state not in {"pending", "approved"}:
            return ""
        if self.clock.is_expired:
            return "expired"
        return "superseded" if self.subject_rev != self.request.subject_rev else ""

    @property
    def standing(self) -> str:
        """The state as people see it; `blocked` when those who are there cannot fill a stage (GOV-A6)."""
        if self.closing:
            return self.closing
        if self.request.state == "pending" and rules.find_shortfall(self.poll, self.now) is not None:
            return "blocked"
        return self.request.state


def find_request(request_id: uuid.UUID) -> ApprovalRequest:
    """Inside a scope. Raises: Absent("approval")."""
    request = ApprovalRequest.objects.filter(pk=request_id).first()
    if request is None:
        raise Absent("approval", "There is no such request.")
    return request


def lock_request(request_id: uuid.UUID) -> ApprovalRequest:
    """The one row that vote, cancel and execution take (GOV-A12). Raises: Absent("approval")."""
    request = ApprovalRequest.objects.select_for_update().filter(pk=request_id).first()
    if request is None:
        raise Absent("approval", "There is no such request.")
    return request


def payload_of(request: ApprovalRequest) -> Any:
    """The JSON value that was approved."""
    return json.loads(bytes(request.payload))


def binding_of(request: ApprovalRequest) -> str:
    """The digest of what a request binds; votes carry it, so that one for anything else does not count (GOV-A8)."""
    return digest_of(
        {
            "tenant": str(request.tenant_id),
            "action": request.action,
            "subject": [request.subject_kind, request.subject_id, request.subject_rev],
            "payload_sha256": sha256_hex(bytes(request.payload)),
            "policy": str(request.policy_id),
        }
    )


def read_situation(request: ApprovalRequest) -> Situation:
    """The situation of one request. Inside a scope."""
    return read_situations([request])[0]


def read_situations(requests: Sequence[ApprovalRequest], *, with_subjects: bool = True) -> list[Situation]:
    """Of several requests of one tenant: six queries, and what each subject's revision costs. Inside a scope.

    Args: with_subjects: False for lists that must not grow in queries; then an edited subject is not noticed.
    """
    if not requests:
        return []
    now, tenant_id = database_now(), requests[0].tenant_id
    stages: dict[Any, list[Stage]] = defaultdict(list)
    for stage in Stage.objects.filter(policy_id__in={request.policy_id for request in requests}).order_by("number"):
        stages[stage.policy_id].append(stage)
    principals = {name for rows in stages.values() for stage in rows for name in (*stage.approvers, *stage.escalation)}
    holders = tenants.list_holders(tenant_id=tenant_id, principals=principals, permission=VOTE)
    votes: dict[Any, list[Vote]] = defaultdict(list)
    for vote in Vote.objects.filter(request__in=requests).order_by("cast_at", "pk"):
        votes[vote.request_id].append(vote)
    links = read_links(min(request.submitted_at for request in requests) - timedelta(seconds=1))
    return [
        Situation(
            request,
            tuple(stages[request.policy_id]),
            make_poll(request, stages[request.policy_id], holders, votes[request.pk], links),
            now,
            _read_rev(request) if with_subjects else request.subject_rev,
        )
        for request in requests
    ]


def make_poll(
    request: ApprovalRequest, stages: Sequence[Stage], holders: Mapping[str, frozenset[uuid.UUID]], votes: Sequence[Vote], links: Sequence[rules.Link]
) -> rules.Poll:
    """Rows as the pure rules read them. Floors are those of the submit: neither an edited policy nor a departure lowers them (GOV-A9, A10)."""
    binding = binding_of(request)
    return rules.Poll(
        tuple(rules.StageRule(stage.mode, request.floors[n], stage.veto) for n, stage in enumerate(stages)),
        tuple(rules.Pool(_people(holders, stage.approvers), _people(holders, stage.escalation)) for stage in stages),
        holders[EVERYONE],
        _excluded(request),
        tuple(
            rules.Ballot(vote.voter_id, vote.principal_id, vote.stage, vote.approves, vote.cast_at, vote.by_escalation)
            for vote in votes
            if vote.binding_sha256 == binding
        ),
        tuple(links),
    )


def _people(holders: Mapping[str, frozenset[uuid.UUID]], principals: Sequence[str]) -> frozenset[uuid.UUID]:
    return frozenset().union(*(holders.get(principal, frozenset()) for principal in principals))


def _excluded(request: ApprovalRequest) -> frozenset[uuid.UUID]:
    """The requester, and who gains: as frozen at submit and as it would be now (GOV-A2, A3)."""
    people = set(request.beneficiaries) | ({request.requester_id} if request.requester_id else set())
    declared = gate.REGISTRY.get(request.action)
    try:
        return frozenset(people | (declared.beneficiaries(payload_of(request)) if declared else frozenset()))
    except DomainError:
        return frozenset(people)


def _read_rev(request: ApprovalRequest) -> str | None:
    declared = gate.REGISTRY.get(request.action)
    try:
        return declared.subject_rev(payload_of(request)) if declared else None
    except DomainError:
        return None


def read_links(since: datetime) -> list[rules.Link]:
    """Delegations that were in force at some time after `since`."""
    rows = Delegation.objects.filter(valid_to__gt=since)
    return [rules.Link(row.delegator_id, row.delegate_id, row.valid_from, min(row.valid_to, row.ended_at or row.valid_to)) for row in rows]
