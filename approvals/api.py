"""The gate's implementation: one policy row per guarded action, or the action is blocked (principle 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from approvals.models import ActionPolicy
from rag4c.kernel.errors import Blocked
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.gate import REGISTRY
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

__all__ = ["PolicyGate", "seed_policies"]


class PolicyGate:
    """Implements kernel.ports.ApprovalGate over ActionPolicy rows."""

    def require(self, *, action: str, actor: Actor, subject: Any, payload_sha256: str) -> str:
        """Returns `policy:<id>`. Raises: Blocked("no_policy" | "approval_required")."""
        with scope(actor.grant):
            policy = ActionPolicy.objects.filter(action=action).order_by("-rev").first()
        data = {"action": action, "payload_sha256": payload_sha256}
        if policy is None:
            raise Blocked("no_policy", "No policy says whether this needs an approval, so it is refused. Ask a tenant admin to set one.", data)
        if policy.mode != "none":
            raise Blocked("approval_required", "This needs the approval of a second person.", data)
        return f"policy:{policy.pk}"


def seed_policies(*, tenant_id: uuid.UUID) -> int:
    """Give a tenant a policy row for every guarded action that has none yet; returns how many were made. Idempotent."""
    actor = system_actor(tenant_id)
    with scope(actor.grant), transaction.atomic():
        have = set(ActionPolicy.objects.values_list("action", flat=True))
        missing = [
            ActionPolicy(tenant_id=tenant_id, action=code, mode=action.seeded) for code, action in sorted(REGISTRY.items()) if code not in have
        ]
        ActionPolicy.objects.bulk_create(missing)
        if missing:
            ledger.record(actor, "policy.seeded", subject=("tenant", tenant_id), data={"actions": [row.action for row in missing]})
    return len(missing)
