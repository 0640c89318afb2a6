"""Which guarded action needs whom: seeded for new tenants, changed as new revisions that never touch open requests (GOV-A9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction

from approvals import guarded
from approvals.models import ActionPolicy, Stage
from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Conflict, Invalid
from rag4c.kernel.grant import EVERYONE, system_actor
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from approvals.contract import StageSpec
    from rag4c.kernel.grant import Actor

__all__ = ["VOTE", "list_offers", "preview_policy", "seed_policies", "set_policy"]
VOTE: Final = "approval.vote"
PRINCIPAL: Final = re.compile(r"role:[a-z_]{1,40}|(?:user|group|unit):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_STAGES, MAX_APPROVERS, MAX_QUORUM, MAX_TTL_HOURS = 5, 50, 20, 24 * 90  # what a page can still show
# governance.md "Approvals": the second person of a fresh tenant is anybody whose roles allow to vote
SECOND_PERSON: Final = (
    "role:approver",
    "role:compliance_officer",
    "role:tenant_admin",
    "role:platform_operator",
)  # operators decide in their own tenant only
SECOND_PERSON_TTL_S: Final = 7 * 24 * 3600


def seed_policies(*, tenant_id: uuid.UUID) -> int:
    """Give a tenant a policy row for every guarded action that has none yet; returns how many were made. Idempotent."""
    actor = system_actor(tenant_id)
    with scope(actor.grant), transaction.atomic():
        have = set(ActionPolicy.objects.values_list("action", flat=True))
        missing = [
            ActionPolicy(tenant_id=tenant_id, action=code, mode=action.seeded) for code, action in sorted(gate.REGISTRY.items()) if code not in have
        ]
        ActionPolicy.objects.bulk_create(missing)
        Stage.objects.bulk_create(
            [
                Stage(tenant_id=tenant_id, policy=row, number=1, mode="quorum", quorum=1, approvers=list(SECOND_PERSON), ttl_s=SECOND_PERSON_TTL_S)
                for row in missing
                if row.mode != "none"
            ]
        )
        if missing:
            ledger.record(actor, "policy.seeded", subject=("tenant", tenant_id), data={"actions": [row.action for row in missing]})
    return len(missing)


def set_policy(*, actor: Actor, action: str, stages: Sequence[StageSpec], base_rev: int | None = None) -> int:
    """A new revision of an action's policy; no stages is the explicit "no approval needed". Returns the revision.

    Args: stages: in their order. base_rev: the revision that it replaces; the one in force when None.
    Raises: Denied("not_allowed"), Absent("action"), Invalid("stages_invalid" | "policy_too_weak" | "policy_would_lock"), Conflict("policy_moved"),
    Blocked("approval_required" | "no_policy"). Source: GOV-A9.
    """
    check_permission(actor, "policy.manage")
    declared = gate.find_action(action)
    _check_stages(stages)
    if not stages and declared.seeded != "none":
        raise Invalid("policy_too_weak", "This action needs a second person always; name at least one stage.")
    with scope(actor.grant), transaction.atomic():
        current = guarded.policy_in_force(action)
        rev = current.rev if current else 0
        if base_rev not in {None, rev}:
            raise Conflict("policy_moved", "Somebody else changed this policy meanwhile; look again.")
        if action == guarded.CHANGE_POLICY.code:
            _check_not_locked(actor, stages)
        draft = guarded.PolicyDraft(action, rev, tuple(stages))
        permit = gate.require(guarded.CHANGE_POLICY, actor, draft)
        policy = _store_policy(actor, draft)
        data = {"action": action, "rev": policy.rev, "stages": len(stages), "sha256": digest_of(guarded.policy_payload(draft)), "permit": permit}
        ledger.record(actor, "policy.changed", subject=("policy", policy.pk), data=data)
    return policy.rev


def preview_policy(*, actor: Actor, action: str, stages: Sequence[StageSpec]) -> list[str]:
    """What `set_policy` would change, line by line as those read it who approve it. Changes nothing.

    Raises: Denied("not_allowed"), Absent("action"), Invalid("stages_invalid").
    """
    check_permission(actor, "policy.manage")
    gate.find_action(action)
    _check_stages(stages)
    with scope(actor.grant):
        current = guarded.policy_in_force(action)
        draft = guarded.PolicyDraft(action, current.rev if current else 0, tuple(stages))
        return [f"{line.what}: {line.before or '–'} → {line.after or '–'}" for line in guarded.describe_policy(guarded.policy_payload(draft))]


def _store_policy(actor: Actor, draft: guarded.PolicyDraft) -> ActionPolicy:
    mode = "stages" if draft.stages else "none"
    try:
        with transaction.atomic():
            policy = ActionPolicy.objects.create(
                tenant_id=actor.tenant_id, action=draft.action, rev=draft.base_rev + 1, mode=mode, set_by=actor.ref, review_hours=24
            )
    except IntegrityError as error:
        raise Conflict("policy_moved", "Somebody else changed this policy meanwhile; look again.") from error
    Stage.objects.bulk_create(
        [
            Stage(
                tenant_id=actor.tenant_id,
                policy=policy,
                number=number,
                mode=spec.mode,
                quorum=spec.quorum,
                approvers=sorted(set(spec.approvers)),
                veto=spec.veto,
                ttl_s=spec.ttl_hours * 3600,
                escalation=sorted(set(spec.escalation)),
            )
            for number, spec in enumerate(draft.stages, start=1)
        ]
    )
    return policy


def _check_stages(stages: Sequence[StageSpec]) -> None:
    if len(stages) > MAX_STAGES:
        raise Invalid("stages_invalid", f"A policy has at most {MAX_STAGES} stages.")
    for number, spec in enumerate(stages, start=1):
        if problem := _find_problem(spec):
            raise Invalid("stages_invalid", f"Stage {number}: {problem}", {"stage": number})


def _find_problem(spec: StageSpec) -> str:
    if not 1 <= len(spec.approvers) <= MAX_APPROVERS or len(spec.escalation) > MAX_APPROVERS:
        return f"name 1 to {MAX_APPROVERS} approvers."
    if any(not PRINCIPAL.fullmatch(principal) for principal in (*spec.approvers, *spec.escalation)):
        return "approvers are user:<id>, group:<id>, unit:<id> or role:<code>."
    if spec.mode not in {"all", "quorum"} or not 1 <= spec.quorum <= MAX_QUORUM:
        return f"the mode is `all` or `quorum` with 1 to {MAX_QUORUM} votes."
    return "" if 1 <= spec.ttl_hours <= MAX_TTL_HOURS else f"the time limit is 1 to {MAX_TTL_HOURS} hours."


def _check_not_locked(actor: Actor, stages: Sequence[StageSpec]) -> None:
    """A policy of policies that nobody can fulfil could never be changed back."""
    holders = tenants.list_holders(tenant_id=actor.tenant_id, principals={p for spec in stages for p in spec.approvers}, permission=VOTE)
    for spec in stages:
        people = frozenset().union(*(holders[principal] for principal in spec.approvers)) - {actor.user_id}
        if len(people) < (1 if spec.mode == "all" else spec.quorum):
            raise Invalid("policy_would_lock", "Nobody but you could approve the next change of policies; name approvers that are there.")


def list_offers(*, actor: Actor) -> list[str]:
    """Guarded actions that need no approval although a second approver is there, so that switching on can be offered.

    Raises: Denied("not_allowed").
    """
    check_permission(actor, "policy.manage")
    with scope(actor.grant):
        able = tenants.list_holders(tenant_id=actor.tenant_id, principals=(), permission=VOTE)[EVERYONE]
        if len(able) < 2:
            return []
        latest: dict[str, str] = dict(ActionPolicy.objects.order_by("action", "rev").values_list("action", "mode"))
    return sorted(action for action, mode in latest.items() if mode == "none" and action in gate.REGISTRY)
