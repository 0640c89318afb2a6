"""What is ready to be published: documents at their newest completed revision, and the chunks of those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from documents.api.policies import chunk_settings_of, ingest_policy_in_force
from documents.models import ChunkVersion, Document, IngestJob, KnowledgeBase, RevisionChunk
from documents.states import RUNNING
from rag4c.kernel.errors import Absent, Conflict
from rag4c.kernel.grant import system_actor
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid
    from collections.abc import Collection, Sequence

    from rag4c.kernel.grant import Grant

__all__ = [
    "HeadItem",
    "Heads",
    "IndexText",
    "is_job_open",
    "list_chunk_ids",
    "list_heads",
    "list_live",
    "list_unfinished",
    "lock_document",
    "read_index_texts",
    "require_knowledge_base",
]


@dataclass(frozen=True, slots=True)
class HeadItem:
    """A document at the revision that a new manifest would hold."""

    document_id: uuid.UUID
    revision_id: uuid.UUID
    content_sha256: str


@dataclass(frozen=True, slots=True)
class Heads:
    """Everything of a knowledge base that is ready, and how many live documents are not (they failed, or have no revision yet)."""

    items: tuple[HeadItem, ...]
    settings_digest: str
    left_out: int


@dataclass(frozen=True, slots=True)
class IndexText:
    """The text of a chunk version that is embedded and indexed, and whose it is."""

    document_id: uuid.UUID
    index_text: str


def require_knowledge_base(knowledge_base_id: uuid.UUID) -> None:
    """Inside a scope. Raises: Absent("knowledge_base")."""
    if not KnowledgeBase.objects.filter(pk=knowledge_base_id).exists():
        raise Absent("knowledge_base", "There is no such knowledge base.")


def list_heads(*, tenant_id: uuid.UUID, knowledge_base_id: uuid.UUID) -> Heads:
    """Live documents at their head, completed under the chunk settings in force. Inside a scope.

    Raises: Conflict("indexing_unfinished") while a head is being chunked anew: publishing now would drop it.
    """
    settings = chunk_settings_of(ingest_policy_in_force(tenant_id)).digest()
    documents = list(Document.objects.filter(knowledge_base_id=knowledge_base_id, state="live").select_related("head").order_by("pk"))
    jobs = dict(
        IngestJob.objects.filter(revision__document__knowledge_base_id=knowledge_base_id, settings_digest=settings).values_list(
            "revision_id", "state"
        )
    )
    if any(document.head_id and jobs.get(document.head_id) in RUNNING for document in documents):
        raise Conflict("indexing_unfinished", "Documents are being indexed under new chunk settings; publish when they are done.")
    items = tuple(
        HeadItem(document.pk, document.head.pk, document.head.content_sha256)
        for document in documents
        if document.head is not None and jobs.get(document.head.pk) == "completed" and document.head.number >= document.served_from_number
    )
    return Heads(items, settings, len(documents) - len(items))


def list_chunk_ids(*, revision_ids: Collection[uuid.UUID], settings_digest: str) -> list[uuid.UUID]:
    """Chunk versions of these revisions, without repeats, by id. Inside a scope."""
    rows = RevisionChunk.objects.filter(revision_id__in=revision_ids, settings_digest=settings_digest)
    return sorted(set(rows.values_list("chunk_version_id", flat=True)))


def list_unfinished(*, revision_ids: Collection[uuid.UUID], settings_digest: str) -> list[uuid.UUID]:
    """Those of the revisions whose job under these settings is not completed. Inside a scope."""
    done = IngestJob.objects.filter(revision_id__in=revision_ids, settings_digest=settings_digest, state="completed").values_list(
        "revision_id", flat=True
    )
    return sorted(set(revision_ids) - set(done))


def lock_document(document_id: uuid.UUID) -> Document:
    """The document under its row lock; inside a scope and a transaction. Raises: Absent("document")."""
    document = Document.objects.select_for_update().filter(pk=document_id).first()
    if document is None:
        raise Absent("document", "There is nothing here for you.")
    return document


def list_live(document_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Those of the documents that are not deleted. Inside a scope."""
    return set(Document.objects.filter(pk__in=document_ids, state="live").values_list("pk", flat=True))


def read_index_texts(*, grant: Grant, chunk_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, IndexText]:
    """chunk version -> its index text."""
    with scope(grant):
        rows = ChunkVersion.objects.filter(pk__in=chunk_ids).values_list("pk", "document_id", "index_text")
        return {key: IndexText(document, text) for key, document, text in rows}


def is_job_open(*, tenant_id: str, job_id: str) -> bool:
    """Whether the job still waits for its index step."""
    with scope(system_actor(tenant_id).grant):
        return IngestJob.objects.filter(pk=job_id, state="indexing").exists()
