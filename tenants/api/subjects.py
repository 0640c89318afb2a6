"""What can be asked about is known to higher apps: wiring hands over how to find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag4c.kernel.errors import Absent

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor
    from rag4c.kernel.ports import SubjectFinder

__all__ = ["find_subject", "install_subject_finder"]
_finders: dict[str, SubjectFinder] = {}


def install_subject_finder(kind: str, find: SubjectFinder) -> None:
    """Args: kind: as ACL assignments name it, such as `document`."""
    _finders[kind] = find


def find_subject(*, actor: Actor, text: str, kind: str = "document") -> tuple[uuid.UUID, str]:
    """(id, name) of what a person wrote. Raises: as the finder, and Absent(kind) for a kind that nobody finds."""
    if kind not in _finders:
        raise Absent(kind, "There is no such thing.")
    return _finders[kind](actor=actor, text=text)
