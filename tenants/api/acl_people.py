"""Who stands behind principals now: for the diff that people approve, and for the page that says who may read."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.grant import EVERYONE, Sensitivity
from rag4c.scope.manager import current_grant
from tenants.models import Group, OrgUnit, User
from tenants.standing import read_standings

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
    """Everybody's standing now, as the grant reads it: through nested groups, units and roles. Two queries, inside a scope."""
    standings = read_standings(current_grant().tenant_id, None)
    named = sorted(set(principals) - {EVERYONE})
    members = {name: frozenset(standing.user_id for standing in standings if name in standing.chains) for name in named}
    return Directory(members, {standing.user_id: standing.clearance for standing in standings})


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
    """The people whom a set names by user, group, unit or role and whose clearance suffices; everyone of the tenant is not listed."""
    named: frozenset[uuid.UUID] = frozenset().union(*(directory.members.get(name, frozenset()) for name in acl.principals))
    return frozenset(person for person in named if directory.may_read(person, acl))


def gains_between(old: AclSpec, new: AclSpec, directory: Directory) -> frozenset[uuid.UUID]:
    """People named by `new` who may read under it and could not under `old` (GOV-A3, B3)."""
    return frozenset(person for person in people_under(new, directory) if not directory.may_read(person, old))


def name_people(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """How people are shown; who is not there any more has no name."""
    return {user.pk: str(user) for user in User.objects.filter(pk__in=list(ids))}


def name_principals(principals: Iterable[str]) -> dict[str, str]:
    """How principals are shown: names for people, groups and units, the code for roles."""
    wanted = set(principals)
    users = {f"user:{user.pk}": str(user) for user in User.objects.filter(pk__in=_ids_of(wanted, "user"))}
    groups = {f"group:{group.pk}": f"group {group.name}" for group in Group.objects.filter(pk__in=_ids_of(wanted, "group"))}
    units = {f"unit:{unit.pk}": f"unit {unit.name}" for unit in OrgUnit.objects.filter(pk__in=_ids_of(wanted, "unit"))}
    shown = {name: name.replace(":", " ", 1) for name in wanted}
    return {**shown, EVERYONE: "everyone", **users, **groups, **units}
