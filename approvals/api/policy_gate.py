"""The gate's implementation: a permit of the executor, or a policy that says "no approval needed", or blocked (principle 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from approvals import guarded
from approvals.api.requests import find_open, submit_request
from approvals.api.running import SUPERSEDED
from approvals.models import Permit
from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Blocked, Conflict
from rag4c.scope import gate
from rag4c.scope.dbtime import ClockTimestamp
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

__all__ = ["PolicyGate"]
ASK_AT: Final = "/api/enterprise/approvals"  # POST {action, payload, reason}


class PolicyGate:
    """Implements kernel.ports.ApprovalGate over ActionPolicy, ApprovalRequest and Permit rows."""

    def require(self, *, action: str, actor: Actor, payload: Any) -> str:
        """Returns `permit:<id>` or `policy:<id>`. Raises: Blocked("no_policy" | "approval_required"), Conflict("request_superseded")."""
        sha256 = digest_of(payload)
        with scope(actor.grant):
            if self._use_permit(action, payload, sha256):
                return f"permit:{gate.current_permit().id}"  # type: ignore[union-attr]  # just used
            policy = guarded.policy_in_force(action)
            if policy is None:
                raise Blocked(
                    "no_policy",
                    "No policy says whether this needs an approval, so it is refused. Ask a tenant admin to set one.",
                    {"action": action, "payload_sha256": sha256},
                )
            if policy.mode != "none":
                data = {"action": action, "payload": payload, "payload_sha256": sha256, "ask_at": ASK_AT, **find_open(action, sha256)}
                raise Blocked("approval_required", "This needs an approval. Ask for one; when it is given, the change runs by itself.", data)
        return f"policy:{policy.pk}"

    def _use_permit(self, action: str, payload: Any, sha256: str) -> bool:
        """Mark the executor's permit used, once. The door holds its own lock by now, so the subject's revision is read again (GOV-A8, F5)."""
        token = gate.current_permit()
        if token is None or (token.action, token.payload_sha256) != (action, sha256):
            return False
        rows = Permit.objects.filter(pk=token.id, used_at__isnull=True, payload_sha256=sha256, action=action, request__state="executing")
        permit = rows.select_related("request").first()
        if permit is None:
            return False
        if gate.find_action(action).subject_rev(payload) != permit.request.subject_rev:
            raise Conflict(SUPERSEDED, "What it is about was changed meanwhile; ask anew.")
        return bool(rows.update(used_at=ClockTimestamp()))

    def submit(self, *, actor: Actor, action: str, payload: Any, reason: str) -> uuid.UUID:
        """As submit_request."""
        return submit_request(actor=actor, action=action, payload=payload, reason=reason)
