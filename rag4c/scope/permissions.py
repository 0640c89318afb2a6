"""Who may: one function that every door asks before it looks at anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag4c.kernel.errors import Denied

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor


def check_permission(actor: Actor, permission: str) -> None:
    """Raises: Denied("not_allowed") unless the actor's roles allow it; the system may do what no person started."""
    if actor.kind != "system" and permission not in actor.grant.permissions:
        raise Denied("not_allowed", "Your roles do not allow this.", {"permission": permission})
