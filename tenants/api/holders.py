"""Who stands behind principals: the reverse of a grant, for approvals and their previews."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Invalid
from rag4c.kernel.grant import EVERYONE, Grant
from rag4c.scope.manager import scope
from tenants import roles
from tenants.api.people import find_group, find_user
from tenants.models import Group, Membership, RoleAssignment, User

if TYPE_CHECKING:
    from collections.abc import Collection

    from rag4c.kernel.grant import Actor

__all__ = ["list_holders", "name_people", "name_principals", "read_principals"]


def list_holders(*, tenant_id: uuid.UUID, principals: Collection[str], permission: str) -> dict[str, frozenset[uuid.UUID]]:
    """principal -> active people behind it now whose roles allow `permission`; the key `tenant:*` has all of them. Two or three queries."""
    allowing = [role for role, permissions in roles.PERMISSIONS.items() if permission in permissions]
    with scope(Grant(tenant_id)):
        held = list(RoleAssignment.objects.filter(valid_to__isnull=True, user__is_active=True).values_list("role", "user_id"))
        able = frozenset(user for role, user in held if role in allowing)
        found: dict[str, set[uuid.UUID]] = {principal: set() for principal in principals}
        groups = [principal.removeprefix("group:") for principal in principals if principal.startswith("group:")]
        members = list(Membership.objects.filter(valid_to__isnull=True, group_id__in=groups).values_list("group_id", "user_id")) if groups else []
    pairs = [(f"role:{role}", user) for role, user in held] + [(f"group:{group}", user) for group, user in members] + [(f"user:{u}", u) for u in able]
    for principal, user in pairs:
        if principal in found and user in able:
            found[principal].add(user)
    return {EVERYONE: able, **{principal: frozenset(people) for principal, people in found.items() if principal != EVERYONE}}


def name_people(*, tenant_id: uuid.UUID, user_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """id -> display name, of people of this tenant."""
    with scope(Grant(tenant_id)):
        return {user.pk: str(user) for user in User.objects.filter(pk__in=list(user_ids))}


def name_principals(*, tenant_id: uuid.UUID, principals: Collection[str]) -> dict[str, str]:
    """principal -> how people read it: a person's or group's name, a role without underscores. What is unknown keeps its spelling."""
    ids: dict[str, list[uuid.UUID]] = {"user": [], "group": []}
    for kind, _, key in (principal.partition(":") for principal in principals):
        if kind in ids:
            ids[kind].append(uuid.UUID(key))
    with scope(Grant(tenant_id)):
        groups = {group.pk: group.name for group in Group.objects.filter(pk__in=ids["group"])}
    names = {f"user:{key}": name for key, name in name_people(tenant_id=tenant_id, user_ids=ids["user"]).items()}
    names |= {f"group:{key}": name for key, name in groups.items()}
    return {principal: names.get(principal, principal.removeprefix("role:").replace("_", " ")) for principal in principals}


def read_principals(*, actor: Actor, text: str) -> tuple[str, ...]:
    """`user:NAME`, `group:SLUG` and `role:CODE`, separated by commas, as principals in their order.

    Raises: Invalid("readers_invalid"), Absent("user" | "group").
    """
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        kind, _, name = word.partition(":")
        if kind == "user" and name:
            found.append(f"user:{find_user(actor=actor, username=name)}")
        elif kind == "group" and name:
            found.append(f"group:{find_group(actor=actor, slug=name)}")
        elif kind == "role" and name in roles.PERMISSIONS:
            found.append(word)
        else:
            raise Invalid("readers_invalid", "Write user:NAME, group:SLUG or role:CODE, separated by commas.")
    return tuple(found)
