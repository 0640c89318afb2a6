"""Roles are explicit sets of permissions. Pure: read by the api, the admin and the matrix page."""

from __future__ import annotations

from typing import Final

TENANT_ADMIN, KNOWLEDGE_MANAGER, MEMBER, OPERATOR = "tenant_admin", "knowledge_manager", "member", "platform_operator"

_ASK = frozenset({"ask", "document.read", "answer.read_own", "token.create_own"})
_KNOWLEDGE = frozenset({"kb.manage", "source.manage", "source.sync", "manifest.read", "release", "rollback", "job.retry", "document.list"})
_TENANT = frozenset({"user.manage", "group.manage", "role.grant", "acl.manage", "token.manage", "ledger.read", "answer.read_all", "policy.manage"})

PERMISSIONS: Final[dict[str, frozenset[str]]] = {
    MEMBER: _ASK,
    KNOWLEDGE_MANAGER: _ASK | _KNOWLEDGE,
    TENANT_ADMIN: _ASK | _KNOWLEDGE | _TENANT,
    OPERATOR: frozenset({"tenant.create", "ledger.read"}),
}
STAFF_ROLES: Final = frozenset({TENANT_ADMIN, KNOWLEDGE_MANAGER, OPERATOR})  # may open the admin


def permissions_of(roles: frozenset[str] | set[str]) -> frozenset[str]:
    """The union of what the roles allow; an unknown role allows nothing."""
    return frozenset().union(*(PERMISSIONS.get(role, frozenset()) for role in roles))
