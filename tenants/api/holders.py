"""Who stands behind principals: the reverse of a grant, for approvals and their previews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag4c.kernel.errors import Invalid
from rag4c.kernel.grant import EVERYONE, Grant
from rag4c.scope.manager import scope
from tenants import roles
from tenants.api import acl_people
from tenants.api.mappings import resolve_principals
from tenants.models import RoleAssignment
from tenants.standing import read_standings

if TYPE_CHECKING:
    import uuid
    from collections.abc import Collection

    from rag4c.kernel.grant import Actor

__all__ = ["list_holders", "name_people", "name_principals", "read_principals"]


def list_holders(*, tenant_id: uuid.UUID, principals: Collection[str], permission: str) -> dict[str, frozenset[uuid.UUID]]:
    """principal -> active people behind it now whose roles allow `permission`; the key `tenant:*` has all of them. Three queries.

    Groups in groups, units and roles count as they do for the grant: both read the same standing.
    """
    allowing = [role for role, permissions in roles.PERMISSIONS.items() if permission in permissions]
    with scope(Grant(tenant_id)):
        able = set(RoleAssignment.objects.filter(role__in=allowing, valid_to__isnull=True).values_list("user_id", flat=True))
        standings = read_standings(tenant_id, sorted(able)) if able else []
    found = {principal: frozenset(row.user_id for row in standings if principal in row.chains) for principal in principals}
    return {**found, EVERYONE: frozenset(row.user_id for row in standings)}


def name_people(*, tenant_id: uuid.UUID, user_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """id -> display name, of people of this tenant; who is not there any more has no name."""
    with scope(Grant(tenant_id)):
        return acl_people.name_people(user_ids)


def name_principals(*, tenant_id: uuid.UUID, principals: Collection[str]) -> dict[str, str]:
    """principal -> how people read it: names for people, groups and units, the code for roles."""
    with scope(Grant(tenant_id)):
        return acl_people.name_principals(principals)


def read_principals(*, actor: Actor, text: str) -> tuple[str, ...]:
    """`user:NAME`, `group:SLUG`, `unit:SLUG` and `role:CODE`, separated by commas, as principals in their order.

    Raises: Invalid("readers_invalid") naming the first word that is nobody here.
    """
    words = [word for word in (part.strip() for part in text.split(",")) if word]
    with scope(actor.grant):
        found = resolve_principals(words)
    if unknown := [word for word in words if word not in found or word == "everyone"]:
        raise Invalid("readers_invalid", f"{unknown[0][:80]}: write user:NAME, group:SLUG, unit:SLUG or role:CODE of somebody who exists.")
    return tuple(found[word] for word in words)
