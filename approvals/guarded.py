"""The change of a policy is guarded itself: its payload is the whole new policy (GOV-A9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from approvals.contract import StageSpec, read_stage
from approvals.models import ActionPolicy
from rag4c.scope.gate import Change, GuardedAction, declare

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor


@dataclass(frozen=True, slots=True)
class PolicyDraft:
    """The policy that an action gets. base_rev: the revision that it replaces. stages: none for the explicit "no approval needed"."""

    action: str
    base_rev: int
    stages: tuple[StageSpec, ...]


def policy_payload(draft: PolicyDraft) -> dict[str, Any]:
    return {"action": draft.action, "base_rev": draft.base_rev, "stages": [stage.to_json() for stage in draft.stages]}


def load_draft(payload: Any) -> PolicyDraft:
    return PolicyDraft(str(payload["action"]), int(payload["base_rev"]), tuple(read_stage(stage) for stage in payload["stages"]))


def policy_in_force(action: str) -> ActionPolicy | None:
    return ActionPolicy.objects.filter(action=action).order_by("-rev").first()


def read_policy_rev(payload: Any) -> str:
    policy = policy_in_force(str(payload["action"]))
    return str(policy.rev if policy else 0)


def describe_policy(payload: Any) -> list[Change]:
    draft, policy = load_draft(payload), policy_in_force(str(payload["action"]))
    old = [str(stage) for stage in policy.stages.order_by("number")] if policy else []
    new = [f"{n}: {'all' if stage.mode == 'all' else stage.quorum} of {', '.join(stage.approvers)}" for n, stage in enumerate(draft.stages, start=1)]
    width = max(len(old), len(new), 1)
    old, new = old or ["no approval needed"], new or ["no approval needed"]
    return [Change(f"Policy of {draft.action}, stage {n + 1}", "".join(old[n : n + 1]), "".join(new[n : n + 1])) for n in range(width)]


def execute_policy(actor: Actor, payload: Any) -> None:
    from approvals.api.policies import set_policy  # the door imports this module

    draft = load_draft(payload)
    set_policy(actor=actor, action=draft.action, stages=draft.stages, base_rev=draft.base_rev)


CHANGE_POLICY = declare(
    GuardedAction(
        "approval_policy.change",
        payload=policy_payload,
        seeded="none",
        load=load_draft,
        describe=describe_policy,
        subject_ref=lambda payload: ("action_policy", str(payload["action"])),
        subject_rev=read_policy_rev,
        execute=execute_policy,
    )
)
