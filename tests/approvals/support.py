"""A tenant with people who vote, and short words for what they do. Alice is the tenant admin, Bob a member, Charlie an approver."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from approvals import api
from approvals.models import ApprovalRequest, Execution, Permit, Vote
from rag4c.kernel import clock
from rag4c.ledger.models import Event
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import RoleAssignment
from tests.builders import TenantKit, make_user

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from rag4c.kernel.grant import Actor

REASON = "needed for the audit of spring"
ANYBODY = ("role:approver", "role:compliance_officer", "role:tenant_admin")
ROLE = "knowledge_manager"


@dataclass
class Desk:
    """People by name, and a policy for `role.grant`."""

    kit: TenantKit
    people: dict[str, Actor] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Actor:
        return self.people[name]

    def again(self, name: str) -> Actor:
        """The person with the grant of now."""
        return tenants.actor_for_user(tenant_id=self.kit.id, user_id=self.people[name].user_id)

    def ask(self, who: str = "alice", whom: str = "bob", role: str = ROLE) -> uuid.UUID:
        payload = {"user": str(self.people[whom].user_id), "role": role}
        return api.submit_request(actor=self.people[who], action="role.grant", payload=payload, reason=REASON)

    def vote(self, name: str, request_id: uuid.UUID, *, approves: bool = True, **options: Any) -> str:
        return api.vote(actor=self.again(name), request_id=request_id, approves=approves, **options)

    def run(self, request_id: uuid.UUID) -> str:
        return api.execute_request(actor=self.kit.system, request_id=request_id)

    def row(self, request_id: uuid.UUID) -> ApprovalRequest:
        with scope(self.kit.system.grant):
            return ApprovalRequest.objects.get(pk=request_id)

    def state(self, request_id: uuid.UUID) -> str:
        return self.row(request_id).state

    def standing(self, request_id: uuid.UUID) -> str:
        return api.read_request(actor=self.people["alice"], request_id=request_id).standing

    def age(self, request_id: uuid.UUID, hours: float) -> None:
        """As if that many hours had passed since the stage began, or since the approval."""
        row, back = self.row(request_id), timedelta(hours=hours)
        decided = row.decided_at - back if row.decided_at else None
        with scope(self.kit.system.grant):
            ApprovalRequest.objects.filter(pk=request_id).update(
                stage_started_at=row.stage_started_at - back, wake_at=row.wake_at - back, decided_at=decided
            )

    def holds(self, name: str, role: str = ROLE) -> bool:
        with scope(self.kit.system.grant):
            return RoleAssignment.objects.filter(user_id=self.people[name].user_id, role=role, valid_to__isnull=True).exists()

    def set_policy(self, *stages: api.StageSpec, action: str = "role.grant", by: str = "alice") -> int:
        return api.set_policy(actor=self.people[by], action=action, stages=stages)


def quorum(k: int = 1, approvers: Sequence[str] = ANYBODY, **options: Any) -> api.StageSpec:
    return api.StageSpec(tuple(approvers), "quorum", k, **{"veto": False, "ttl_hours": 24, **options})


def everyone(approvers: Sequence[str], **options: Any) -> api.StageSpec:
    return api.StageSpec(tuple(approvers), "all", 1, **{"veto": False, "ttl_hours": 24, **options})


def make_desk(kit: TenantKit, *stages: api.StageSpec, approvers: int = 3) -> Desk:
    """Alice, Bob and Charlie, further approvers `approver-2` …, and `officer`. People come before the policy: it guards their roles too."""
    people = {"alice": kit.alice, "bob": kit.bob}
    for number in range(1, approvers + 1):
        name = "charlie" if number == 1 else f"approver-{number}"
        people[name] = make_user(kit.id, name, "approver")
    people["officer"] = make_user(kit.id, "officer", "compliance_officer")
    desk = Desk(kit, people)
    if stages:
        desk.set_policy(*stages)
    return desk


def user(actor: Actor) -> str:
    return f"user:{actor.user_id}"


def in_days(days: float) -> Any:
    return clock.now() + timedelta(days=days)


def codes_about(kit: TenantKit, request_id: uuid.UUID) -> list[str]:
    with scope(kit.system.grant):
        return list(Event.objects.filter(subject_kind="approval", subject_id=str(request_id)).order_by("at", "id").values_list("code", flat=True))


def count_rows(kit: TenantKit, request_id: uuid.UUID) -> tuple[int, int, int]:
    """Votes, used permits and executions of a request."""
    with scope(kit.system.grant):
        return (
            Vote.objects.filter(request_id=request_id).count(),
            Permit.objects.filter(request_id=request_id, used_at__isnull=False).count(),
            Execution.objects.filter(request_id=request_id).count(),
        )
