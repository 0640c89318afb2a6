"""Protocols that higher apps implement for lower ones; `rag4c.wiring` registers the implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor


class ApprovalGate(Protocol):
    """Says whether a guarded action may run now."""

    def require(self, *, action: str, actor: Actor, subject: Any, payload_sha256: str) -> str:
        """Returns the id of the permit or policy that lets it pass. Raises: Blocked("approval_required" | "no_policy")."""
        ...


class SubjectFinder(Protocol):
    """Finds what a person wrote, among what this actor may list."""

    def __call__(self, *, actor: Actor, text: str) -> tuple[uuid.UUID, str]:
        """Returns (id, name). Raises: Absent, Invalid for something ambiguous."""
        ...
