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


def allowed_numbers(grant: Grant, sets: Iterable[tuple[int, AclSpec]]) -> frozenset[int]:
    """Numbers of the sets that the grant satisfies."""
    return frozenset(number for number, acl in sets if satisfies(grant, acl))
