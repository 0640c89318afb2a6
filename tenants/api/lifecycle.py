"""The life of a tenant as operators see it: which there are, founding one, suspending and resuming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models.functions import Now

from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT, Grant, system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from tenants import roles
from tenants.api.access import bump_acl_rev
from tenants.api.people import create_user
from tenants.api.tenancy import create_tenant
from tenants.both import check_operator, one_transaction, recorders
from tenants.models import Suspension, Tenant

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

    from rag4c.kernel.grant import Actor

__all__ = ["TenantInfo", "find_tenant_info", "found_tenant", "list_tenants", "resume_tenant", "suspend_tenant"]


@dataclass(frozen=True, slots=True)
class TenantInfo:
    """A tenant from outside: nothing of what is in it."""

    id: uuid.UUID
    slug: str
    name: str
    is_active: bool
    allows_support_access: bool
    created_at: datetime


def list_tenants(*, actor: Actor) -> list[TenantInfo]:
    """All tenants by slug, the platform's own too. Raises: Denied("not_allowed") for everybody who is no operator."""
    check_operator(actor, "tenant.create")
    with scope(actor.grant), connection.cursor() as cursor:
        cursor.execute("SELECT id, slug, name, is_active, allows_support_access, created_at FROM rag4c_platform_tenants()")
        return [TenantInfo(*row) for row in cursor.fetchall()]


def find_tenant_info(*, actor: Actor, slug: str) -> TenantInfo:
    """The tenant of a slug, suspended or not. Raises: Denied("not_allowed"), Absent("tenant")."""
    found = next((info for info in list_tenants(actor=actor) if info.slug == slug), None)
    if found is None:
        raise Absent("tenant", "There is no such tenant.")
    return found


def found_tenant(*, actor: Actor, slug: str, name: str, admin: str, password: str) -> uuid.UUID:
    """A new tenant with its first admin, all or nothing. Args: admin: their user name. password: for the first sign-in.

    Raises: Denied("not_allowed"), Invalid("slug_invalid" | "username_invalid" | "password_invalid"), Conflict("tenant_taken").
    """
    check_operator(actor, "tenant.create")
    with one_transaction():
        tenant_id = create_tenant(actor=actor, slug=slug, name=name)
        create_user(actor=system_actor(tenant_id, channel=actor.channel), username=admin, password=password, role=roles.TENANT_ADMIN)
        with scope(actor.grant):
            ledger.record(actor, "tenant.founded", subject=("tenant", tenant_id))
    return tenant_id


def suspend_tenant(*, actor: Actor, tenant_id: uuid.UUID, reason: str) -> None:
    """Nobody of the tenant gets a grant from now on: sessions, tokens and tasks stop. Rows, holds and the ledger stay as they are.

    Args: reason: 10 to 500 characters.
    Raises: Denied("not_allowed"), Invalid("reason_invalid"), Absent("tenant"), Conflict("tenant_suspended" | "platform_stays").
    """
    check_operator(actor, "tenant.suspend")
    text = reason.strip()
    if not 10 <= len(text) <= 500:
        raise Invalid("reason_invalid", "Say why in 10 to 500 characters.")
    with one_transaction():
        with scope(Grant(tenant_id)):
            if not _lock_tenant(tenant_id).is_active:
                raise Conflict("tenant_suspended", "This tenant is suspended already.")
            Suspension.objects.create(tenant_id=tenant_id, reason=text, started_by=actor.ref)
            Tenant.objects.filter(pk=tenant_id).update(is_active=False)
            bump_acl_rev(tenant_id)
        for recorder in recorders(actor, tenant_id):
            with scope(recorder.grant):
                ledger.record(recorder, "tenant.suspended", subject=("tenant", tenant_id), data={"by": actor.ref, "reason_sha256": sha256_hex(text)})


def resume_tenant(*, actor: Actor, tenant_id: uuid.UUID) -> None:
    """End a suspension; everything is as it was. Raises: Denied("not_allowed"), Absent("tenant"), Conflict("tenant_active" | "platform_stays")."""
    check_operator(actor, "tenant.suspend")
    with one_transaction():
        with scope(Grant(tenant_id)):
            if _lock_tenant(tenant_id).is_active:
                raise Conflict("tenant_active", "This tenant is not suspended.")
            Suspension.objects.filter(valid_to__isnull=True).update(valid_to=Now())
            Tenant.objects.filter(pk=tenant_id).update(is_active=True)
            bump_acl_rev(tenant_id)
        for recorder in recorders(actor, tenant_id):
            with scope(recorder.grant):
                ledger.record(recorder, "tenant.resumed", subject=("tenant", tenant_id), data={"by": actor.ref})


def _lock_tenant(tenant_id: uuid.UUID) -> Tenant:
    if tenant_id == PLATFORM_TENANT:
        raise Conflict("platform_stays", "The platform's own tenant is never suspended.")
    tenant = Tenant.objects.select_for_update().filter(pk=tenant_id).first()
    if tenant is None:
        raise Absent("tenant", "There is no such tenant.")
    return tenant
