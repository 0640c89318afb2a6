"""Acting-tenant sessions: a platform operator looks into a tenant, for a reason, for a limited time, seen by both ledgers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT, Actor, Grant, Sensitivity
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.dbtime import ClockTimestamp, after
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import guarded, roles
from tenants.api.access import read_acl_rev
from tenants.both import check_operating_person, one_transaction, recorders
from tenants.models import SupportSession, Tenant

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

__all__ = [
    "ActingSession",
    "allow_support",
    "break_glass",
    "confirm_break_glass",
    "end_acting_session",
    "find_acting_actor",
    "open_acting_session",
]
MINUTES: Final = (5, 240)  # half a working day; who needs longer says so again
CONFIRM_HOURS: Final = 4  # within which a second operator looks at a broken glass


@dataclass(frozen=True, slots=True)
class ActingSession:
    """A session that was opened, or one that is in use."""

    id: uuid.UUID
    tenant_id: uuid.UUID
    tenant_name: str
    kind: str
    expires_at: datetime


def allow_support(*, actor: Actor, is_allowed: bool) -> None:
    """Let platform operators look into this tenant, or stop it: sessions that are open end at their next click.

    Raises: Denied("not_allowed").
    """
    check_permission(actor, "support.allow")
    with scope(actor.grant), transaction.atomic():
        if Tenant.objects.filter(pk=actor.tenant_id).exclude(allows_support_access=is_allowed).update(allows_support_access=is_allowed):
            ledger.record(actor, "tenant.support_allowed" if is_allowed else "tenant.support_forbidden", subject=("tenant", actor.tenant_id))


def open_acting_session(*, actor: Actor, tenant_id: uuid.UUID, reason: str, minutes: int) -> ActingSession:
    """Look into a tenant that lets operators in. Args: reason: 10 to 500 characters, shown to the tenant. minutes: 5 to 240.

    Raises: Denied("not_allowed" | "person_needed" | "support_not_allowed"), Invalid("reason_invalid" | "minutes_invalid"), Absent("tenant"),
    Blocked("approval_required" | "no_policy").
    Source: tenancy.md "Platform operators", GOV-T8.
    """
    return _open(actor, "support", tenant_id, reason, minutes)


def break_glass(*, actor: Actor, tenant_id: uuid.UUID, reason: str, minutes: int) -> ActingSession:
    """Look into a tenant although it lets nobody in. An alert in both ledgers; a second operator confirms within four hours, or it ends there.

    Arguments and errors as `open_acting_session`, without `support_not_allowed`. Source: GOV-A13.
    """
    return _open(actor, "break_glass", tenant_id, reason, minutes)


def confirm_break_glass(*, actor: Actor, tenant_id: uuid.UUID, session_id: uuid.UUID) -> None:
    """A second operator has looked at it, in time, even when the session is over.

    Raises: Denied("not_allowed" | "person_needed" | "second_person_needed"), Absent("session"), Conflict("confirmed_already" | "confirm_too_late").
    """
    check_operating_person(actor, "support.break_glass")
    with one_transaction():
        with scope(Grant(tenant_id)):
            row = SupportSession.objects.select_for_update().filter(pk=session_id, kind="break_glass").first()
            if row is None:
                raise Absent("session", "There is no such session.")
            if row.operator_id == actor.user_id:
                raise Denied("second_person_needed", "Somebody else confirms it.")
            if row.confirmed_at:
                raise Conflict("confirmed_already", "It is confirmed already.")
            due = SupportSession.objects.filter(pk=session_id, confirm_until__gt=ClockTimestamp())
            if not due.update(confirmed_at=Now(), confirmed_by=actor.user_id):
                raise Conflict("confirm_too_late", "The time to confirm it has passed; the ledgers say so.")
        told = {"by": actor.ref, "tenant": str(tenant_id)}
        for recorder in recorders(actor, tenant_id):
            with scope(recorder.grant):
                ledger.record(recorder, "support.glass_confirmed", subject=("support_session", session_id), data=told)


def end_acting_session(*, actor: Actor, session_id: uuid.UUID) -> None:
    """End a session at once: by its operator, while acting, or by the tenant. One that has ended stays so.

    Raises: Denied("not_allowed"), Absent("session").
    """
    if actor.session_id != session_id:
        check_permission(actor, "support.allow")
    with one_transaction():
        with scope(actor.grant):
            if not SupportSession.objects.filter(pk=session_id).exists():
                raise Absent("session", "There is no such session.")
            ended = SupportSession.objects.filter(pk=session_id, ended_at__isnull=True).update(ended_at=Now(), ended_by=actor.ref)
        told = {"by": actor.ref, "tenant": str(actor.tenant_id)}
        for recorder in recorders(actor, actor.tenant_id) if ended else ():
            with scope(recorder.grant):
                ledger.record(recorder, "support.session_ended", subject=("support_session", session_id), data=told)


def find_acting_actor(*, operator: Actor, tenant_id: uuid.UUID, session_id: uuid.UUID) -> tuple[Actor, ActingSession] | None:
    """The operator inside the tenant, or None: ended, out of time by the database's clock, not confirmed in time, no longer let in, or no longer an
    operator."""
    if operator.user_id is None or operator.tenant_id != PLATFORM_TENANT:
        return None
    with scope(Grant(tenant_id)):
        usable = Q(kind="support") | Q(confirmed_at__isnull=False) | Q(confirm_until__gt=ClockTimestamp())
        mine = SupportSession.objects.filter(pk=session_id, operator_id=operator.user_id, ended_at__isnull=True)
        row = mine.filter(usable, expires_at__gt=ClockTimestamp()).first()
        tenant = Tenant.objects.filter(pk=tenant_id, is_active=True).first()
        rev = read_acl_rev(tenant_id)
    if row is None or tenant is None:
        return None
    is_let_in = tenant.allows_support_access or row.kind == "break_glass"
    if not is_let_in or f"support.{'open' if row.kind == 'support' else row.kind}" not in operator.grant.permissions:
        return None
    grant = Grant(tenant_id, user_id=operator.user_id, permissions=roles.SUPPORT, clearance=Sensitivity.PUBLIC, acl_rev=rev)
    acting = Actor(grant, kind="operator", channel=operator.channel, session_id=session_id)
    return acting, ActingSession(row.pk, tenant_id, tenant.name, row.kind, row.expires_at)


def _open(actor: Actor, kind: str, tenant_id: uuid.UUID, reason: str, minutes: int) -> ActingSession:
    visit = read_visit(tenant_id, reason, minutes)
    check_operating_person(actor, "support.break_glass" if kind == "break_glass" else "support.open")
    with one_transaction():
        permit = ""  # break-glass asks nobody before, and a second operator within hours (GOV-A13)
        if kind == "support":
            permit = pass_gate(actor, visit)
        return open_session(actor, kind, visit, permit=permit)


def pass_gate(actor: Actor, visit: guarded.VisitDraft) -> str:
    """The gate of both ways to a session: at once where no approval is needed, or by the executor. Raises: Blocked("approval_required" | "no_policy")."""
    with scope(actor.grant):
        return gate.require(guarded.OPEN_SUPPORT, actor, visit)


def read_visit(tenant_id: uuid.UUID, reason: str, minutes: int) -> guarded.VisitDraft:
    """Raises: Invalid("reason_invalid" | "minutes_invalid")."""
    text = _clean_reason(reason)
    if not MINUTES[0] <= minutes <= MINUTES[1]:
        raise Invalid("minutes_invalid", f"A session lasts {MINUTES[0]} to {MINUTES[1]} minutes.")
    return guarded.VisitDraft(tenant_id, text, minutes)


def open_session(actor: Actor, kind: str, visit: guarded.VisitDraft, *, permit: str, session_id: uuid.UUID | None = None) -> ActingSession:
    """The row in the tenant and the events of both; inside `one_transaction`. Raises: Absent("tenant"), Denied("not_allowed" | "person_needed" |
    "support_not_allowed")."""
    is_glass = kind == "break_glass"
    operator_id = check_operating_person(actor, "support.break_glass" if is_glass else "support.open")
    with scope(Grant(visit.tenant_id)):
        tenant = _find_open_tenant(visit.tenant_id, is_glass=is_glass)
        row = SupportSession.objects.create(
            **({"pk": session_id} if session_id else {}),
            tenant_id=visit.tenant_id,
            kind=kind,
            operator_id=operator_id,
            reason=visit.reason,
            permit=permit,
            expires_at=after(timedelta(minutes=visit.minutes)),
            confirm_until=after(timedelta(hours=CONFIRM_HOURS)) if is_glass else None,
        )
        row.refresh_from_db()
    told = {
        "by": actor.ref, "tenant": str(visit.tenant_id), "permit": permit, "minutes": visit.minutes, "reason_sha256": sha256_hex(visit.reason)
    }  # fmt: skip
    for recorder in recorders(actor, visit.tenant_id):
        with scope(recorder.grant):
            subject = ("support_session", row.pk)
            ledger.record(recorder, "support.glass_broken" if is_glass else "support.session_opened", subject=subject, data=told)
    return ActingSession(row.pk, visit.tenant_id, tenant.name, kind, row.expires_at)


def _clean_reason(reason: str) -> str:
    text = reason.strip()
    if not 10 <= len(text) <= 500:
        raise Invalid("reason_invalid", "Say why in 10 to 500 characters; the tenant reads it.")
    return text


def _find_open_tenant(tenant_id: uuid.UUID, *, is_glass: bool) -> Tenant:
    tenant = Tenant.objects.filter(pk=tenant_id, is_active=True).first()
    if tenant is None or tenant_id == PLATFORM_TENANT:
        raise Absent("tenant", "There is no such tenant, or it is suspended.")
    if not is_glass and not tenant.allows_support_access:
        raise Denied("support_not_allowed", "This tenant lets no operator in; its admin can allow it.")
    return tenant
