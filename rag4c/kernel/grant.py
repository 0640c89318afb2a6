"""Who acts, and what they may read. Both are built once, before retrieval, and are never widened (SYS-C1)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

PLATFORM_TENANT = uuid.UUID("00000000-0000-7000-8000-000000000001")
EVERYONE = "tenant:*"


class Sensitivity(IntEnum):
    """How closely a document is kept; a reader needs at least this clearance."""

    PUBLIC = 0
    INTERNAL = 1
    CONFIDENTIAL = 2
    RESTRICTED = 3


@dataclass(frozen=True, slots=True)
class Grant:
    """What one asker may see, frozen before anything is retrieved.

    Args: user_id: None for the system. principals: `user:<id>`, `group:<id>`, `unit:<id>`, `role:<code>`, `tenant:*`.
    permissions: codes from the roles. purpose: free code, needed for RESTRICTED. as_of: None means now.
    Source: SYS-C1, context.md "QueryGrant".
    """

    tenant_id: uuid.UUID
    user_id: uuid.UUID | None = None
    workspace_id: uuid.UUID | None = None
    principals: frozenset[str] = frozenset()
    permissions: frozenset[str] = frozenset()
    clearance: Sensitivity = Sensitivity.INTERNAL
    purpose: str = ""
    task_family: str = "qa"
    allowed_tools: frozenset[str] = field(default_factory=frozenset)
    allow_network: bool = False
    acl_rev: int = 0
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who knocks at a door of an api: a person, a token of theirs, or the system itself.

    Args: kind: `user`, `token`, `operator` or `system`. channel: `web`, `api`, `admin`, `cli` or `task`. session_id: the acting-tenant session of a
    platform operator, whose `grant` is then of the tenant that is looked at.
    """

    grant: Grant
    kind: str = "user"
    channel: str = "api"
    session_id: uuid.UUID | None = None

    @property
    def tenant_id(self) -> uuid.UUID:
        """The tenant that everything this actor does belongs to."""
        return self.grant.tenant_id

    @property
    def user_id(self) -> uuid.UUID | None:
        """The person, or None for the system."""
        return self.grant.user_id

    @property
    def ref(self) -> str:
        """How the ledger names the actor: an id, never a name. An operator is named with their session, in 74 characters."""
        if self.session_id and self.user_id:
            return f"operator:{self.user_id.hex}:{self.session_id.hex}"
        return f"user:{self.user_id}" if self.user_id else self.kind


def system_actor(tenant_id: uuid.UUID | str, *, channel: str = "task") -> Actor:
    """The actor of tasks and sweeps inside one tenant."""
    return Actor(Grant(uuid.UUID(str(tenant_id)), permissions=frozenset({"system"})), kind="system", channel=channel)
