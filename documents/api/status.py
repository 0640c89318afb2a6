"""Status of sources and documents, for lists: what is there, where it stands, and what failed with which code."""

from __future__ import annotations

import uuid  # noqa: TC003  # read by the API's serializers
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003
from typing import TYPE_CHECKING

from django.db.models import OuterRef, Subquery

from documents.models import DataSource, Document, IngestJob, RefusedFile, SyncRun
from rag4c.kernel.errors import Absent
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

__all__ = ["DocumentInfo", "SourceInfo", "find_document_id", "list_documents", "list_failures", "list_sources"]


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document in a list. job_state is of its newest revision."""

    id: uuid.UUID
    path: str
    knowledge_base: str
    state: str
    job_state: str
    error_code: str
    error_message: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A source with what its last sync said."""

    id: uuid.UUID
    knowledge_base: str
    key: str
    kind: str
    freshness: str
    generation: int
    last_sync_at: datetime | None
    last_added: int
    last_updated: int
    last_deleted: int
    last_refused: int


def list_documents(
    *, actor: Actor, knowledge_base_id: uuid.UUID | None = None, after: uuid.UUID | None = None, limit: int = 100
) -> list[DocumentInfo]:
    """Documents by id, a page at a time, for those who manage knowledge. Raises: Denied("not_allowed")."""
    check_permission(actor, "document.list")
    with scope(actor.grant):
        newest = IngestJob.objects.filter(revision__document=OuterRef("pk")).order_by("-created_at")
        rows = Document.objects.visible_to(actor.grant).select_related("knowledge_base").order_by("pk")
        if knowledge_base_id is not None:
            rows = rows.filter(knowledge_base_id=knowledge_base_id)
        if after is not None:
            rows = rows.filter(pk__gt=after)
        annotated = rows.annotate(
            job_state=Subquery(newest.values("state")[:1]),
            code=Subquery(newest.values("error_code")[:1]),
            sentence=Subquery(newest.values("error_message")[:1]),
        )
        return [
            DocumentInfo(
                row.pk, row.path, row.knowledge_base.slug, row.state, row.job_state or "", row.code or "", row.sentence or "", row.created_at
            )
            for row in annotated[:limit]
        ]


def find_document_id(*, actor: Actor, knowledge_base_id: uuid.UUID, path: str) -> uuid.UUID:
    """The document of a path, for those who manage knowledge. Raises: Denied("not_allowed"), Absent("document")."""
    check_permission(actor, "document.list")
    with scope(actor.grant):
        key = Document.objects.filter(knowledge_base_id=knowledge_base_id, path=path).values_list("pk", flat=True).first()
    if key is None:
        raise Absent("document", "There is no such document.")
    return key


def list_sources(*, actor: Actor) -> list[SourceInfo]:
    """All sources by knowledge base and key. Raises: Denied("not_allowed")."""
    check_permission(actor, "document.list")
    with scope(actor.grant):
        infos = []
        for source in DataSource.objects.visible_to(actor.grant).select_related("knowledge_base").order_by("knowledge_base__slug", "key"):
            run = SyncRun.objects.filter(source=source).order_by("-started_at").first()
            infos.append(
                SourceInfo(
                    source.pk,
                    source.knowledge_base.slug,
                    source.key,
                    source.kind,
                    source.freshness,
                    source.generation,
                    run.finished_at if run else None,
                    run.added if run else 0,
                    run.updated if run else 0,
                    run.deleted if run else 0,
                    run.refused if run else 0,
                )
            )
    return infos


def list_failures(*, actor: Actor, limit: int = 100) -> list[tuple[str, str, str]]:
    """(path, code, sentence) of jobs in error and of the files that the last syncs refused, newest first. Raises: Denied("not_allowed")."""
    check_permission(actor, "document.list")
    with scope(actor.grant):
        jobs = (
            IngestJob.objects.filter(state="error").order_by("-progressed_at").values_list("revision__document__path", "error_code", "error_message")
        )
        newest = list(SyncRun.objects.order_by("source_id", "-started_at").distinct("source_id").values_list("pk", flat=True))
        files = RefusedFile.objects.filter(run_id__in=newest).values_list("path", "code", "message")
        return [*jobs[:limit], *files[:limit]]
