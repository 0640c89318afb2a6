"""Guarded actions of tenants: their payload is what people approve (GOV-A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag4c.kernel.canonical import sha256_hex
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


def _session_payload(subject: tuple[object, str, int]) -> dict[str, object]:
    """subject: (tenant, reason, minutes)."""
    return {"tenant": str(subject[0]), "reason_sha256": sha256_hex(subject[1]), "minutes": subject[2]}


OPEN_SUPPORT = declare(GuardedAction("support.open", payload=_session_payload, seeded="second_person"))
BREAK_GLASS = declare(GuardedAction("support.break_glass", payload=_session_payload, seeded="second_person"))
