"""Adding a revision: bytes by digest, an immutable row, and a job that waits."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max

from documents.api.blobs import StoredBlob, keep_blob
from documents.hints import hint_job
from documents.identity import document_id
from documents.models import Document, IngestJob, Revision
from rag4c.ledger import api as ledger

if TYPE_CHECKING:
    from documents.models import DataSource
    from rag4c.kernel.grant import Actor

__all__ = ["NewRevision", "add_document", "add_revision", "queue_job"]


@dataclass(frozen=True, slots=True)
class NewRevision:
    """What a sync found for one path."""

    path: str
    stored: StoredBlob


def add_document(actor: Actor, source: DataSource, path: str) -> Document:
    """The document of a path, made when new. Inside the sync's transaction."""
    key = uuid.UUID(hex=document_id(source.knowledge_base_id.hex, source.key, path))
    document, is_new = Document.objects.get_or_create(
        id=key, defaults={"tenant_id": actor.tenant_id, "knowledge_base_id": source.knowledge_base_id, "source": source, "path": path}
    )
    if is_new:
        ledger.record(actor, "document.added", subject=("document", document.pk), data={"source": str(source.pk)})
    return document


def add_revision(actor: Actor, document: Document, stored: StoredBlob, settings_digest: str) -> Revision:
    """A new immutable revision with its waiting job. Inside the sync's transaction."""
    highest = Revision.objects.filter(document=document).aggregate(highest=Max("number"))["highest"] or 0
    revision = Revision.objects.create(
        tenant_id=actor.tenant_id,
        document=document,
        number=highest + 1,
        blob=keep_blob(actor.tenant_id, stored),
        content_sha256=stored.sha256,
        added_by=actor.ref,
    )
    ledger.record(actor, "revision.added", subject=("revision", revision.pk), data={"document": str(document.pk), "sha256": stored.sha256})
    queue_job(actor, revision.pk, settings_digest)
    return revision


def queue_job(actor: Actor, revision_id: uuid.UUID, settings_digest: str) -> None:
    """One job per revision and chunk settings; asking twice changes nothing."""
    job, is_new = IngestJob.objects.get_or_create(tenant_id=actor.tenant_id, revision_id=revision_id, settings_digest=settings_digest)
    if is_new:
        key = str(job.pk)
        transaction.on_commit(lambda: hint_job(str(actor.tenant_id), key))
