"""Approved visits: the approval is given in the operators' tenant, the session opens in the other one, in a transaction of its own."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db import transaction

from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import DomainError, Transient, Unavailable
from rag4c.kernel.grant import Grant, system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from tenants import guarded
from tenants.api.grants import actor_for_user
from tenants.api.support import open_session, pass_gate
from tenants.both import check_operating_person, one_transaction
from tenants.models import SupportSession, SupportVisit

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

__all__ = ["approve_visit", "open_approved_visit"]


def approve_visit(*, actor: Actor, visit: guarded.VisitDraft) -> uuid.UUID:
    """Write down that this session may open; the event's handler opens it, since one transaction scope shows one tenant only. Returns its id.

    Raises: Denied("not_allowed" | "person_needed"), Blocked("approval_required" | "no_policy").
    """
    operator_id = check_operating_person(actor, "support.open")
    with scope(actor.grant), transaction.atomic():
        permit = pass_gate(actor, visit)
        row = SupportVisit.objects.create(
            tenant_id=actor.tenant_id, operator_id=operator_id, target_id=visit.tenant_id, reason=visit.reason, minutes=visit.minutes, permit=permit
        )
        told = {"tenant": str(visit.tenant_id), "minutes": visit.minutes, "permit": permit, "reason_sha256": sha256_hex(visit.reason)}
        ledger.record(actor, "support.visit_approved", subject=("support_visit", row.pk), data=told)
    return row.pk


def open_approved_visit(tenant_id: str, subject_id: str) -> None:
    """Handler of `support.visit_approved`: opens the session under the visit's id, once; a refusal of the tenant is kept with the visit."""
    home = system_actor(tenant_id)
    with scope(home.grant):
        row = SupportVisit.objects.get(pk=uuid.UUID(subject_id))
    if row.outcome:
        return
    visit = guarded.VisitDraft(row.target_id, row.reason, row.minutes)
    try:
        operator = actor_for_user(tenant_id=home.tenant_id, user_id=row.operator_id, channel="task")
        with one_transaction():
            with scope(Grant(row.target_id)):
                is_open = SupportSession.objects.filter(pk=row.pk).exists()
            if not is_open:
                open_session(operator, "support", visit, permit=row.permit, session_id=row.pk)
        outcome = "opened"
    except (Transient, Unavailable):
        raise
    except DomainError as error:
        outcome = error.code
    with scope(home.grant), transaction.atomic():
        if SupportVisit.objects.filter(pk=row.pk, outcome="").update(outcome=outcome) and outcome != "opened":
            ledger.record(home, "support.visit_refused", subject=("support_visit", row.pk), data={"code": outcome})
