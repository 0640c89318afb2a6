"""The grant: built once per request, before anything is retrieved (GOV principle 4, SYS-C1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Absent
from rag4c.kernel.grant import Actor, Grant
from rag4c.scope.manager import scope
from tenants.standing import read_standings

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

    from tenants.standing import Standing

__all__ = ["actor_for_user", "grant_at", "grant_for", "restrict_grant"]


def grant_for(
    *, tenant_id: uuid.UUID, user_id: uuid.UUID, workspace_id: uuid.UUID | None = None, purpose: str = "", task_family: str = "qa"
) -> Grant:
    """What this person may read and do now: through memberships, nested groups, units and roles. Two queries and the setting of the tenant.

    Raises: Absent("user") for an unknown, foreign or deactivated person, and for everybody of a suspended tenant.
    Source: SYS-C1, context.md "QueryGrant".
    """
    return _read_standing(tenant_id, user_id, None).to_grant(purpose=purpose, task_family=task_family, workspace_id=workspace_id)


def grant_at(*, tenant_id: uuid.UUID, user_id: uuid.UUID, at: datetime, purpose: str = "") -> Grant:
    """What `grant_for` would have said at that moment; for questions about the past, never to act with. Args: at: aware.

    An interval counts from the start of the transaction that made it. Raises: Absent("user") for somebody who had no usable account then.
    Source: SYS-G1.
    """
    return _read_standing(tenant_id, user_id, at).to_grant(purpose=purpose, at=at)


def _read_standing(tenant_id: uuid.UUID, user_id: uuid.UUID, at: datetime | None) -> Standing:
    with scope(Grant(tenant_id)):
        found = read_standings(tenant_id, [user_id], at)
    if not found:
        raise Absent("user", "There is no such person.")
    return found[0]


def actor_for_user(*, tenant_id: uuid.UUID, user_id: uuid.UUID, kind: str = "user", channel: str = "web") -> Actor:
    """The actor of a signed-in person. Raises: Absent("user")."""
    return Actor(grant_for(tenant_id=tenant_id, user_id=user_id), kind=kind, channel=channel)


def restrict_grant(
    grant: Grant, principals: frozenset[str] | None = None, *, workspace_id: uuid.UUID | None = None, purpose: str | None = None
) -> Grant:
    """A grant that reads at most what `grant` reads: principals are intersected, never added (api.md `acl`)."""
    kept = grant.principals if principals is None else grant.principals & principals
    return replace(grant, principals=kept, workspace_id=workspace_id or grant.workspace_id, purpose=grant.purpose if purpose is None else purpose)
