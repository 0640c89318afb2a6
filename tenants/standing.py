"""What people are at a moment: active, cleared, and members through which chain. One reading for the grant and for questions about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Subquery

from rag4c.kernel.grant import Grant, Sensitivity
from tenants import queries, roles
from tenants.models import AclRevision, ActivePeriod, Clearance, Suspension, User
from tenants.principals import map_edges, trace_principals

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from tenants.principals import Edge


@dataclass(frozen=True, slots=True)
class Standing:
    """An account that could be used at the moment asked for. chains: principal -> how the person came to be it."""

    tenant_id: uuid.UUID
    user_id: uuid.UUID
    name: str
    clearance: Sensitivity
    acl_rev: int
    chains: Mapping[str, tuple[Edge, ...]]

    def to_grant(self, *, purpose: str = "", task_family: str = "qa", workspace_id: uuid.UUID | None = None, at: datetime | None = None) -> Grant:
        held = {principal.removeprefix("role:") for principal in self.chains if principal.startswith("role:")}
        return Grant(
            tenant_id=self.tenant_id,
            user_id=self.user_id,
            workspace_id=workspace_id,
            principals=frozenset(self.chains),
            permissions=roles.permissions_of(held),
            clearance=self.clearance,
            purpose=purpose,
            task_family=task_family,
            acl_rev=self.acl_rev,
            as_of=at,
        )


def read_standings(tenant_id: uuid.UUID, user_ids: Sequence[uuid.UUID] | None, at: datetime | None = None) -> list[Standing]:
    """Those of the people whose account could be used, in a tenant that was not suspended; by id. Two queries, inside a scope.

    Args: user_ids: None for everybody. at: None for now.
    """
    users = User.objects.filter(
        Exists(ActivePeriod.objects.filter(ActivePeriod.in_force(at), user=OuterRef("pk"))),
        ~Exists(Suspension.objects.filter(Suspension.in_force(at))),
    )
    if user_ids is not None:
        users = users.filter(pk__in=user_ids)
    level = Clearance.objects.filter(Clearance.in_force(at), user=OuterRef("pk")).order_by("-valid_from").values("level")[:1]
    rev = AclRevision.objects.filter(tenant_id=tenant_id).values("rev")[:1]
    found = list(users.annotate(cleared=Subquery(level), acl_rev=Subquery(rev)).order_by("pk"))
    edges = map_edges(queries.load_edges(tenant_id, user_ids, at) if found else [])
    return [
        Standing(
            tenant_id=tenant_id,
            user_id=user.pk,
            name=str(user),
            clearance=Sensitivity.INTERNAL if user.cleared is None else Sensitivity(user.cleared),
            acl_rev=user.acl_rev or 0,
            chains=trace_principals(f"user:{user.pk}", edges),
        )
        for user in found
    ]
