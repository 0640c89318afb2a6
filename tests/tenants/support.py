"""Subjects without an app of their own, and what holds of them now."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from approvals.models import ActionPolicy
from rag4c.kernel.grant import EVERYONE
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import AclAssignment
from tenants.models_access import AclChangeSet

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor
    from tests.builders import TenantKit

REASON = "asked for by the owner"
STAFF = tenants.AclSpec(frozenset({EVERYONE}))
NOBODY = tenants.DENY_ALL


def only(*principals: str, level: tenants.Sensitivity = tenants.Sensitivity.INTERNAL, purpose: str = "") -> tenants.AclSpec:
    return tenants.AclSpec(frozenset(principals), level, purpose)


def me(actor: Actor) -> str:
    return f"user:{actor.user_id}"


def make_subject(kit: TenantKit, acl: tenants.AclSpec | None = STAFF, *, number: int = 1) -> uuid.UUID:
    """A document's id with its readers; without an assignment when None."""
    subject = uuid.UUID(int=number)
    if acl is not None:
        with scope(kit.system.grant):
            row = tenants.intern_acl(kit.id, acl)
            tenants.assign_acl(kit.id, subject_kind="document", subject_id=subject, acl_id=row.pk)
    return subject


def line(subject: uuid.UUID, new: tenants.AclSpec, **options: object) -> tenants.AclLine:
    return tenants.AclLine("document", subject, f"leave-{subject.int}.md", new, **options)


def propose(actor: Actor, *lines: tenants.AclLine) -> tenants.AclChange:
    return tenants.propose_acl_change(actor=actor, lines=lines, reason=REASON)


def reads(kit: TenantKit, actor: Actor, subject: uuid.UUID, purpose: str = "") -> bool:
    """Asked as retrieval asks: the number of the set that holds now, and the numbers that the grant satisfies."""
    grant = tenants.restrict_grant(tenants.grant_for(tenant_id=kit.id, user_id=actor.user_id), purpose=purpose)
    with scope(grant):
        held = AclAssignment.objects.filter(subject_kind="document", subject_id=subject, valid_to__isnull=True).select_related("acl").first()
        return held is not None and held.acl.number in tenants.allowed_acl_numbers(grant)


def ask_for_approval(kit: TenantKit, mode: str = "second_person") -> None:
    with scope(kit.system.grant):
        rev = ActionPolicy.objects.filter(action="acl.grant").count() + 1
        ActionPolicy.objects.create(tenant_id=kit.id, action="acl.grant", rev=rev, mode=mode)


def state_of(kit: TenantKit, change: tenants.AclChange) -> str:
    with scope(kit.system.grant):
        return AclChangeSet.objects.get(pk=change.id).state
