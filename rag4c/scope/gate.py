"""The gate that hangs on every guarded door (GOV-A, principle 7): no policy row means blocked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Blocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag4c.kernel.grant import Actor
    from rag4c.kernel.ports import ApprovalGate


@dataclass(frozen=True, slots=True)
class GuardedAction:
    """A change that may need approval. payload: what exactly will happen, as JSON values; its digest is what people approve.

    Args: code: `noun.verb`. payload: subject -> JSON value. seeded: `none` (no approval needed) or `second_person`, for new tenants.
    """

    code: str
    payload: Callable[[Any], Any]
    seeded: str


REGISTRY: Final[dict[str, GuardedAction]] = {}
_implementation: list[ApprovalGate] = []


def declare(action: GuardedAction) -> GuardedAction:
    """Register an action; codes are unique. Raises: ValueError for a second action of the same code."""
    if action.code in REGISTRY:
        raise ValueError(f"guarded action {action.code} is declared twice")
    REGISTRY[action.code] = action
    return action


def install(implementation: ApprovalGate) -> None:
    """Wiring hands over the implementation."""
    _implementation[:] = [implementation]


def require(action: GuardedAction, actor: Actor, subject: Any) -> str:
    """Pass or raise. Returns the permit or policy id that is stored with the change.

    Raises: Blocked("gate_missing") when nothing is wired, Blocked("no_policy"), Blocked("approval_required").
    """
    if not _implementation:
        raise Blocked("gate_missing", "No approval gate is wired; guarded actions are refused.", {"action": action.code})
    return _implementation[0].require(action=action.code, actor=actor, subject=subject, payload_sha256=digest_of(action.payload(subject)))
