"""Pure rules of access: what an ACL set is, and which of them a grant satisfies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.grant import EVERYONE, Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag4c.kernel.grant import Grant


@dataclass(frozen=True, slots=True)
class AclSpec:
    """Who may read: any of the principals, with at least this clearance, and for RESTRICTED the stated purpose."""

    principals: frozenset[str]
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    purpose: str = ""

    @property
    def digest(self) -> str:
        """The key under which the set is interned."""
        return digest_of({"principals": sorted(self.principals), "purpose": self.purpose, "sensitivity": int(self.sensitivity)})


DENY_ALL = AclSpec(frozenset(), Sensitivity.RESTRICTED)


@dataclass(frozen=True, slots=True)
class AclSteps:
    """A change of readers in two steps that end at `new`: `interim` takes away and holds at once, the way from there to `new` gives (GOV-B1)."""

    old: AclSpec
    interim: AclSpec
    new: AclSpec

    @property
    def revokes(self) -> bool:
        """Whether somebody may lose something."""
        return self.interim != self.old

    @property
    def grants(self) -> bool:
        """Whether somebody may gain something: whatever is not provably narrower."""
        return self.interim != self.new


def simplify(acl: AclSpec) -> AclSpec:
    """The one spelling of all sets that admit the same readers: everyone swallows the others, a purpose counts for RESTRICTED only."""
    if not acl.principals or (acl.sensitivity >= Sensitivity.RESTRICTED and not acl.purpose):
        return DENY_ALL
    principals = frozenset({EVERYONE}) if EVERYONE in acl.principals else acl.principals
    return AclSpec(principals, acl.sensitivity, acl.purpose if acl.sensitivity >= Sensitivity.RESTRICTED else "")


def is_within(narrow: AclSpec, wide: AclSpec) -> bool:
    """Whether it is proven that whoever may read under `narrow` may read under `wide`, whatever groups and roles people hold.

    A person and a group that this person is in are not compared: memberships change.
    """
    return meet(narrow, wide) == simplify(narrow)


def meet(one: AclSpec, other: AclSpec) -> AclSpec:
    """A set within both: readers named by both, the higher sensitivity, and one purpose or nobody. Commutative, associative, idempotent."""
    left, right = simplify(one), simplify(other)
    if EVERYONE in left.principals:
        principals = right.principals
    elif EVERYONE in right.principals:
        principals = left.principals
    else:
        principals = left.principals & right.principals
    purposes = {acl.purpose for acl in (left, right) if acl.sensitivity >= Sensitivity.RESTRICTED}
    purpose = purposes.pop() if len(purposes) == 1 else ""
    return simplify(AclSpec(principals, max(left.sensitivity, right.sensitivity), purpose))


def split_change(old: AclSpec, new: AclSpec) -> AclSteps:
    """What holds at once and what waits. Source: GOV-B1."""
    return AclSteps(simplify(old), meet(old, new), simplify(new))


def satisfies(grant: Grant, acl: AclSpec) -> bool:
    """Whether the grant may read under this set: principal and clearance, and for RESTRICTED a purpose that is named and equal."""
    if grant.clearance < acl.sensitivity or not grant.principals & acl.principals:
        return False
    return acl.sensitivity < Sensitivity.RESTRICTED or (bool(acl.purpose) and grant.purpose == acl.purpose)


def refusals(grant: Grant, acl: AclSpec | None) -> tuple[str, ...]:
    """Every reason why the grant may not read under this set; none exactly when `satisfies` says yes. None stands for unknown readers (GOV-B6)."""
    if acl is None:
        return ("readers_unknown",)
    found = []
    if not grant.principals & acl.principals:
        found.append("not_a_reader" if acl.principals else "nobody_reads")
    if grant.clearance < acl.sensitivity:
        found.append("clearance_too_low")
    if acl.sensitivity >= Sensitivity.RESTRICTED and not acl.purpose:
        found.append("purpose_unnamed")
    elif acl.sensitivity >= Sensitivity.RESTRICTED and grant.purpose != acl.purpose:
        found.append("purpose_differs")
    return tuple(found)


def allowed_numbers(grant: Grant, sets: Iterable[tuple[int, AclSpec]]) -> frozenset[int]:
    """Numbers of the sets that the grant satisfies."""
    return frozenset(number for number, acl in sets if satisfies(grant, acl))
