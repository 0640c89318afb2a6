"""Guarded actions of tenants: their payload is what people approve (GOV-A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag4c.scope.gate import GuardedAction, declare

if TYPE_CHECKING:
    import uuid


@dataclass(frozen=True, slots=True)
class AclGrant:
    """What a change of readers gives. payload: frozen when it was proposed; it names who gains (`gains`, `everyone`, `members`)."""

    change_set_id: uuid.UUID
    base_acl_rev: int
    payload: dict[str, Any]


GRANT_ROLE = declare(GuardedAction("role.grant", payload=lambda subject: {"user": str(subject[0]), "role": subject[1]}, seeded="none"))
CREATE_TOKEN = declare(GuardedAction("token.create", payload=lambda subject: {"user": str(subject)}, seeded="none"))
GRANT_ACL = declare(GuardedAction("acl.grant", payload=lambda change: change.payload, seeded="none"))
