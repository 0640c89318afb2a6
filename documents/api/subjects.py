"""A document by what people write: its id, its path, or `base/path`. For questions about access, which lower apps ask."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from documents.models import Document
from rag4c.kernel.errors import Absent, Invalid
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

__all__ = ["find_document_by_name"]


def find_document_by_name(*, actor: Actor, text: str) -> tuple[uuid.UUID, str]:
    """(id, path) of the one document that is meant; a tombstone counts, since the past may be asked about.

    Raises: Denied("not_allowed"), Absent("document"), Invalid("document_ambiguous").
    """
    check_permission(actor, "document.list")
    name = text.strip()
    with scope(actor.grant):
        rows = Document.objects.filter(path=name)
        base, _, path = name.partition("/")
        if (key := _read_id(name)) is not None:
            rows = Document.objects.filter(pk=key)
        elif path and not rows.exists():
            rows = Document.objects.filter(knowledge_base__slug=base, path=path)
        found = list(rows.values_list("pk", "path")[:2])
    if not found:
        raise Absent("document", "There is no such document.")
    if len(found) > 1:
        raise Invalid("document_ambiguous", "More than one document has this path: write base/path, or the id.")
    return found[0]


def _read_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
