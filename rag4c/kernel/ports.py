"""Protocols that higher apps implement for lower ones; `rag4c.wiring` registers the implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor


class ApprovalGate(Protocol):
    """Says whether a guarded action may run now, and takes requests for those that may not yet."""

    def require(self, *, action: str, actor: Actor, payload: Any) -> str:
        """Returns the id of the permit or policy that lets it pass. Raises: Blocked("approval_required" | "no_policy")."""
        ...

    def submit(self, *, actor: Actor, action: str, payload: Any, reason: str) -> uuid.UUID:
        """Ask for the approval of exactly this payload; returns the request's id. Raises: DomainError."""
        ...


class SubjectFinder(Protocol):
    """Finds what a person wrote, among what this actor may list."""

    def __call__(self, *, actor: Actor, text: str) -> tuple[uuid.UUID, str]:
        """Returns (id, name). Raises: Absent, Invalid for something ambiguous."""
        ...
