"""Roles are explicit sets of permissions. Pure: read by the api, the admin and the matrix page."""

from __future__ import annotations

from typing import Final

TENANT_ADMIN, KNOWLEDGE_MANAGER, MEMBER, OPERATOR = "tenant_admin", "knowledge_manager", "member", "platform_operator"
APPROVER, COMPLIANCE_OFFICER, AUDITOR, SERVICE_ACCOUNT = "approver", "compliance_officer", "auditor", "service_account"

_ASK = frozenset({"ask", "document.read", "answer.read_own", "token.create_own"})
_KNOWLEDGE = frozenset({"kb.manage", "source.manage", "source.sync", "manifest.read", "release", "rollback", "job.retry", "document.list"})
_TENANT = frozenset({"user.manage", "group.manage", "role.grant", "acl.manage", "token.manage", "ledger.read", "answer.read_all", "policy.manage"})
_VOTE = frozenset({"approval.read", "approval.vote", "task.work"})
_OVERSEE = frozenset({"approval.read", "ledger.read", "ledger.export", "access.explain", "document.list", "manifest.read"})

PERMISSIONS: Final[dict[str, frozenset[str]]] = {
    MEMBER: _ASK,
    KNOWLEDGE_MANAGER: _ASK | _KNOWLEDGE | {"approval.read", "task.work"},
    TENANT_ADMIN: _ASK | _KNOWLEDGE | _TENANT | _VOTE | {"access.explain", "support.allow"},
    APPROVER: _ASK | _VOTE | {"manifest.read", "document.list"},
    COMPLIANCE_OFFICER: _ASK | _OVERSEE | _VOTE | {"policy.manage"},
    AUDITOR: _OVERSEE,
    SERVICE_ACCOUNT: frozenset({"ask", "document.read", "answer.read_own", "source.sync"}),
    OPERATOR: _VOTE
    | {"policy.manage", "tenant.create", "tenant.suspend", "tenant.export", "support.open", "support.break_glass", "ledger.read", "ledger.export"},
}

# What a platform operator may do in a tenant that let them in: look, and change nothing. No principal is part of it: contents stay unread.
SUPPORT: Final = frozenset({"document.list", "manifest.read", "approval.read", "ledger.read", "access.explain"})
SUPPORT_NOTE: Final = (
    "A platform operator in an acting-tenant session holds these permissions of that tenant and no others, is no principal there and has the clearance "
    "`public`: lists and states are seen, contents of documents are not, and nothing can be changed."
)


def all_permissions() -> list[str]:
    """Every code that some role holds, sorted."""
    return sorted(frozenset().union(*PERMISSIONS.values()))


def permissions_of(roles: frozenset[str] | set[str]) -> frozenset[str]:
    """The union of what the roles allow; an unknown role allows nothing."""
    return frozenset().union(*(PERMISSIONS.get(role, frozenset()) for role in roles))
