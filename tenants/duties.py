"""Segregation of duties: which roles one account may not hold together, or should not. Pure; the matrix page prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tenants import roles

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class RoleConflict:
    """Two roles on one account. effect: `refuse` or `warn`. why: a sentence for people."""

    one: str
    other: str
    effect: str
    why: str


CONFLICTS: Final[tuple[RoleConflict, ...]] = (
    RoleConflict(roles.AUDITOR, roles.TENANT_ADMIN, "refuse", "Who audits cannot have made what is audited."),
    RoleConflict(roles.AUDITOR, roles.KNOWLEDGE_MANAGER, "refuse", "Who audits cannot have published what is audited."),
    RoleConflict(roles.AUDITOR, roles.APPROVER, "refuse", "Who audits cannot have agreed to what is audited."),
    RoleConflict(roles.AUDITOR, roles.OPERATOR, "refuse", "Who audits cannot run the platform that is audited."),
    RoleConflict(roles.OPERATOR, roles.APPROVER, "warn", "Approvals of operators' sessions should come from somebody who opens none."),
    RoleConflict(roles.APPROVER, roles.KNOWLEDGE_MANAGER, "warn", "Who publishes should not be the one who agrees; their own requests never count."),
    RoleConflict(roles.APPROVER, roles.TENANT_ADMIN, "warn", "Who gives out access should not be the one who agrees to it."),
    RoleConflict(roles.COMPLIANCE_OFFICER, roles.TENANT_ADMIN, "warn", "Who sets the rules of oversight should not be overseen by them."),
    RoleConflict(roles.COMPLIANCE_OFFICER, roles.KNOWLEDGE_MANAGER, "warn", "Who keeps holds and retention should not decide what is published."),
)


def find_conflicts(held: Iterable[str], role: str) -> tuple[RoleConflict, ...]:
    """The rows that a new role meets with the roles held already; those that refuse come first."""
    have = set(held) - {role}
    found = [row for row in CONFLICTS if (row.one == role and row.other in have) or (row.other == role and row.one in have)]
    return tuple(sorted(found, key=lambda row: (row.effect != "refuse", row.one, row.other)))


def refuse_role_of(*, kind: str, role: str, is_platform: bool) -> str | None:
    """Why this role is not for this account at all, as a code, or None.

    Operators are people of the platform's own tenant; service accounts hold their one role, since programs agree to nothing and govern nobody.
    """
    if role == roles.OPERATOR and not is_platform:
        return "role_of_platform"
    if (kind == "service") != (role == roles.SERVICE_ACCOUNT):
        return "role_of_service_accounts" if role == roles.SERVICE_ACCOUNT else "role_of_people"
    return None
