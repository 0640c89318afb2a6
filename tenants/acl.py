"""Pure rules of access: what an ACL set is, and which of them a grant satisfies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.grant import Sensitivity

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
