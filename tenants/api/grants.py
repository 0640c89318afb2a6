"""The grant: built once per request, before anything is retrieved (GOV principle 4, SYS-C1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import OuterRef, Subquery

from rag4c.kernel.errors import Absent
from rag4c.kernel.grant import EVERYONE, Actor, Grant, Sensitivity
from rag4c.scope.manager import scope
from tenants import roles
from tenants.models import AclRevision, Clearance, Membership, RoleAssignment, User

if TYPE_CHECKING:
    import uuid

__all__ = ["actor_for_user", "grant_for", "restrict_grant"]


def grant_for(
    *, tenant_id: uuid.UUID, user_id: uuid.UUID, workspace_id: uuid.UUID | None = None, purpose: str = "", task_family: str = "qa"
) -> Grant:
    """What this person may read and do now. Three queries.

    Raises: Absent("user") for an unknown, foreign or deactivated person.
    Source: SYS-C1, context.md "QueryGrant".
    """
    with scope(Grant(tenant_id)):
        clearance = Clearance.objects.filter(user=OuterRef("pk"), valid_to__isnull=True).values("level")[:1]
        rev = AclRevision.objects.filter(tenant_id=tenant_id).values("rev")[:1]
        user = User.objects.filter(pk=user_id, is_active=True).annotate(clearance=Subquery(clearance), acl_rev=Subquery(rev)).first()
        if user is None:
            raise Absent("user", "There is no such person.")
        held = set(RoleAssignment.objects.filter(user_id=user_id, valid_to__isnull=True).values_list("role", flat=True))
        groups = list(Membership.objects.filter(user_id=user_id, valid_to__isnull=True).values_list("group_id", flat=True))
    level = Sensitivity.INTERNAL if user.clearance is None else Sensitivity(user.clearance)
    return Grant(
        tenant_id=tenant_id,
        user_id=user_id,
        workspace_id=workspace_id,
        principals=frozenset({EVERYONE, f"user:{user_id}"} | {f"group:{group}" for group in groups} | {f"role:{role}" for role in held}),
        permissions=roles.permissions_of(held),
        clearance=level,
        purpose=purpose,
        task_family=task_family,
        acl_rev=user.acl_rev or 0,
    )


def actor_for_user(*, tenant_id: uuid.UUID, user_id: uuid.UUID, kind: str = "user", channel: str = "web") -> Actor:
    """The actor of a signed-in person. Raises: Absent("user")."""
    return Actor(grant_for(tenant_id=tenant_id, user_id=user_id), kind=kind, channel=channel)


def restrict_grant(
    grant: Grant, principals: frozenset[str] | None = None, *, workspace_id: uuid.UUID | None = None, purpose: str | None = None
) -> Grant:
    """A grant that reads at most what `grant` reads: principals are intersected, never added (api.md `acl`)."""
    kept = grant.principals if principals is None else grant.principals & principals
    return replace(grant, principals=kept, workspace_id=workspace_id or grant.workspace_id, purpose=grant.purpose if purpose is None else purpose)
