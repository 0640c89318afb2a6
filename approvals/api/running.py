"""Going through a guarded door with a one-time permit: after an approval, or behind a broken glass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from approvals.api.situations import payload_of
from approvals.models import Execution, Permit
from rag4c.kernel.errors import Blocked
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.scope import gate

if TYPE_CHECKING:
    from approvals.models import ApprovalRequest
    from rag4c.kernel.grant import Actor

__all__ = ["SUPERSEDED", "run_payload"]
SUPERSEDED: Final = "request_superseded"  # raised by the gate when the subject was edited before the door had its lock


def run_payload(actor: Actor, request: ApprovalRequest, executor: Actor) -> None:
    """Go through the door with a one-time permit; inside the transaction that locks the request in state `executing`.

    Raises: what the door raises; Blocked("permit_unused") when the door did not meet the gate.
    """
    permit = Permit.objects.create(tenant_id=request.tenant_id, request=request, action=request.action, payload_sha256=request.payload_sha256)
    fp("approval.execute.before")
    with gate.using_permit(gate.PermitToken(permit.pk, request.action, request.payload_sha256)):
        gate.find_action(request.action).execute(executor, payload_of(request))
    fp("approval.execute.after")
    if not Permit.objects.filter(pk=permit.pk, used_at__isnull=False).exists():
        raise Blocked("permit_unused", "Nothing was changed: it is so already, or what it is about has gone.")
    Execution.objects.create(tenant_id=request.tenant_id, request=request, permit=permit, executed_by=actor.ref)
    data = {"action": request.action, "permit": str(permit.pk), "payload_sha256": request.payload_sha256, "in_name_of": executor.ref}
    ledger.record(actor, "approval.executed", subject=("approval", request.pk), data=data)
