"""Who stands behind principals now: for the diff that people approve, and for the page that says who may read."""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.grant import EVERYONE, Sensitivity
from tenants.models import Clearance, Group, Membership, RoleAssignment, User

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenants.acl import AclSpec

__all__ = ["Directory", "gains_between", "load_directory", "name_people", "name_principals", "people_under"]


@dataclass(frozen=True, slots=True)
class Directory:
    """Active people behind principals, with their clearances. A person without a clearance of their own reads up to INTERNAL."""

    members: dict[str, frozenset[uuid.UUID]]
    clearances: dict[uuid.UUID, Sensitivity]

    def may_read(self, person: uuid.UUID, acl: AclSpec) -> bool:
        """Whether the person reads under the set; for RESTRICTED: when the purpose is stated."""
        if self.clearances.get(person, Sensitivity.INTERNAL) < acl.sensitivity:
            return False
        return EVERYONE in acl.principals or any(person in self.members.get(name, ()) for name in acl.principals)


def load_directory(principals: Iterable[str]) -> Directory:
    """Four queries at most, inside a scope."""
    wanted = set(principals) - {EVERYONE}
    members: dict[str, set[uuid.UUID]] = defaultdict(set)
    for key in User.objects.filter(pk__in=_ids_of(wanted, "user"), is_active=True).values_list("pk", flat=True):
        members[f"user:{key}"].add(key)
    held = Membership.objects.filter(group_id__in=_ids_of(wanted, "group"), valid_to__isnull=True, user__is_active=True)
    for group, person in held.values_list("group_id", "user_id"):
        members[f"group:{group}"].add(person)
    codes = [name.removeprefix("role:") for name in wanted if name.startswith("role:")]
    for role, person in RoleAssignment.objects.filter(role__in=codes, valid_to__isnull=True, user__is_active=True).values_list("role", "user_id"):
        members[f"role:{role}"].add(person)
    people = set().union(*members.values())
    levels = Clearance.objects.filter(user_id__in=people, valid_to__isnull=True).values_list("user_id", "level")
    return Directory({name: frozenset(members.get(name, ())) for name in sorted(wanted)}, {person: Sensitivity(level) for person, level in levels})


def _ids_of(principals: Iterable[str], kind: str) -> list[uuid.UUID]:
    found = []
    for name in principals:
        head, _, tail = name.partition(":")
        if head == kind:
            try:
                found.append(uuid.UUID(tail))
            except ValueError:
                continue  # a principal that names nobody
    return found


def people_under(acl: AclSpec, directory: Directory) -> frozenset[uuid.UUID]:
    """The people whom a set names by user, group or role and whose clearance suffices; everyone of the tenant is not listed."""
    named: frozenset[uuid.UUID] = frozenset().union(*(directory.members.get(name, frozenset()) for name in acl.principals))
    return frozenset(person for person in named if directory.may_read(person, acl))


def gains_between(old: AclSpec, new: AclSpec, directory: Directory) -> frozenset[uuid.UUID]:
    """People named by `new` who may read under it and could not under `old` (GOV-A3, B3)."""
    return frozenset(person for person in people_under(new, directory) if not directory.may_read(person, old))


def name_people(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """How people are shown; who is not there any more has no name."""
    return {user.pk: str(user) for user in User.objects.filter(pk__in=list(ids))}


def name_principals(principals: Iterable[str]) -> dict[str, str]:
    """How principals are shown: names for people and groups, the code for roles."""
    wanted = set(principals)
    users = {f"user:{user.pk}": str(user) for user in User.objects.filter(pk__in=_ids_of(wanted, "user"))}
    groups = {f"group:{group.pk}": f"group {group.name}" for group in Group.objects.filter(pk__in=_ids_of(wanted, "group"))}
    shown = {name: name.replace(":", " ", 1) for name in wanted}
    return {**shown, EVERYONE: "everyone", **users, **groups}
