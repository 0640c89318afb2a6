"""The steps of the ingest machine that belong to documents: parse, split, and closing what retrieval has indexed."""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from django.db import transaction

from documents.api.blobs import read_blob
from documents.api.jobs import Claim, move_on
from documents.api.policies import chunk_settings_of, fact_mapping_in_force, ingest_policy_in_force
from documents.chunking import split
from documents.identity import chunk_version_ids
from documents.models import ChunkVersion, Document, Element, Fact, ParseAttempt, Revision, RevisionChunk
from documents.parsing.contract import ElementDraft, Extract
from documents.parsing.pool import ParserPool
from documents.records import read_facts
from rag4c.kernel.errors import Permanent, Transient
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    from documents.chunking import ChunkDraft
    from documents.records import FactDraft

__all__ = ["ChunkToEmbed", "chunks_of_job", "finish_indexing", "parse_revision", "split_revision"]
BATCH: Final = 500
EXTRACTOR_VERSION: Final = "records-1"
MAX_VALUE: Final = Decimal(10) ** 30  # what the column holds


@dataclass(frozen=True, slots=True)
class ChunkToEmbed:
    """A chunk version of a revision, with the text that is embedded and indexed."""

    id: uuid.UUID
    index_text: str


class _Pools:
    """One parser child a process, for one tenant at a time: a child never sees two tenants' files."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tenant: uuid.UUID | None = None
        self.pool: ParserPool | None = None

    def parse(self, tenant_id: uuid.UUID, data: bytes, path: str) -> Extract:
        with self.lock:
            if self.pool is None or self.tenant != tenant_id:
                if self.pool is not None:
                    self.pool.close()
                self.pool, self.tenant = ParserPool(), tenant_id
            return self.pool.parse(data, path)


_pools: Final = _Pools()


def parse_revision(claim: Claim) -> None:
    """Parsing: original bytes -> canonical text, elements and facts, in a limited child process.

    Raises: Permanent (the file's code), Transient("blob_unreadable"), Conflict("fence_lost").
    """
    actor = system_actor(claim.tenant_id)
    with scope(actor.grant):
        revision = Revision.objects.select_related("document", "blob").get(pk=claim.revision_id)
        known = ParseAttempt.objects.filter(revision=revision).exists()
        mapping = fact_mapping_in_force()
    if known:  # the same bytes, other chunk settings: nothing to read again
        with scope(actor.grant):
            move_on(claim, "splitting")
        return
    read = read_blob(revision.blob.storage_key)
    if read is None or read[1] != revision.content_sha256:
        raise Transient("blob_unreadable", "The stored original is missing or differs from its digest.")
    fp("ingest.parsing.child.before")
    extract = _pools.parse(claim.tenant_id, read[0], revision.document.path)
    fp("ingest.parsing.child.after")
    facts = read_facts(extract, mapping)
    with scope(actor.grant), transaction.atomic():
        attempt = _store_extract(claim.tenant_id, revision, extract)
        Fact.objects.bulk_create([_fact_row(claim.tenant_id, revision, attempt, fact, mapping.version) for fact in facts], batch_size=BATCH)
        move_on(claim, "splitting")
        fp("ingest.parsing.commit.before")
    fp("ingest.parsing.commit.after")


def _store_extract(tenant_id: uuid.UUID, revision: Revision, extract: Extract) -> ParseAttempt:
    attempt = ParseAttempt.objects.create(
        tenant_id=tenant_id,
        revision=revision,
        parser=extract.parser,
        parser_version=extract.parser_version,
        media_type=extract.media_type,
        encoding=extract.encoding,
        flags=list(extract.flags),
        text=extract.text,
        text_sha256=extract.sha256,
    )
    rows = [
        Element(
            tenant_id=tenant_id,
            parse=attempt,
            seq=element.seq,
            kind=element.kind,
            level=element.level,
            heading_path=list(element.heading_path),
            search_text=element.search_text,
            locator=element.locator,
            span_start=element.span_start,
            span_end=element.span_end,
            table_no=element.table_no,
            row_path=element.row_path,
            col_path=element.col_path,
            hidden=element.hidden,
            flags=list(element.flags),
        )
        for element in extract.elements
    ]
    Element.objects.bulk_create(rows, batch_size=BATCH)
    return attempt


def _fact_row(tenant_id: uuid.UUID, revision: Revision, attempt: ParseAttempt, fact: FactDraft, mapping_version: str) -> Fact:
    fits = fact.value is not None and abs(fact.value) < MAX_VALUE
    return Fact(
        tenant_id=tenant_id,
        parse=attempt,
        document_id=revision.document_id,
        revision=revision,
        subject=fact.subject,
        field=fact.field,
        subject_key=fact.subject_key[:300],
        field_key=fact.field_key[:300],
        value_text=fact.value_text,
        value=fact.value if fits else None,
        unit=fact.unit[:40],
        period=fact.period[:40],
        row_path=fact.row_path,
        col_path=fact.col_path,
        locator=fact.locator,
        span_start=fact.span_start,
        span_end=fact.span_end,
        origin=fact.origin,
        review_reason=fact.review_reason or ("" if fits or fact.value is None else "number_too_large"),
        source_sha256=revision.content_sha256,
        extractor_version=EXTRACTOR_VERSION,
        mapping_version=mapping_version,
    )


def load_extract(attempt: ParseAttempt) -> Extract:
    """The extract as it was parsed, from its rows. Inside a scope."""
    elements = tuple(
        ElementDraft(
            seq=row.seq,
            kind=row.kind,
            text=attempt.text[row.span_start : row.span_end],
            search_text=row.search_text,
            level=row.level,
            heading_path=tuple(row.heading_path),
            locator=row.locator,
            span_start=row.span_start,
            span_end=row.span_end,
            table_no=row.table_no,
            row_path=row.row_path,
            col_path=row.col_path,
            hidden=row.hidden,
            flags=tuple(row.flags),
        )
        for row in Element.objects.filter(parse=attempt).order_by("seq")
    )
    return Extract(
        text=attempt.text,
        sha256=attempt.text_sha256,
        media_type=attempt.media_type,
        parser=attempt.parser,
        parser_version=attempt.parser_version,
        encoding=attempt.encoding,
        flags=tuple(attempt.flags),
        elements=elements,
    )


def split_revision(claim: Claim) -> None:
    """Splitting: elements -> chunk versions (identity) and revision chunks (place), then the event that retrieval waits for.

    Raises: Permanent("settings_changed" | "no_chunks"), Conflict("fence_lost").
    """
    actor = system_actor(claim.tenant_id)
    with scope(actor.grant):
        settings = chunk_settings_of(ingest_policy_in_force(claim.tenant_id))
        attempt = ParseAttempt.objects.filter(revision_id=claim.revision_id).order_by("-created_at").select_related("revision")[0]
        extract = load_extract(attempt)
    if settings.digest() != claim.settings_digest:
        raise Permanent("settings_changed", "The chunk settings changed meanwhile; the next sync makes a new job.")
    chunks = split(extract, settings)
    if not chunks:
        raise Permanent("no_chunks", "The file holds headings or hidden text only: nothing in it can be cited.")
    with scope(actor.grant), transaction.atomic():
        move_on(claim, "indexing", chunks_total=len(chunks), chunks_embedded=0)
        if not RevisionChunk.objects.filter(revision_id=claim.revision_id, settings_digest=claim.settings_digest).exists():
            _store_chunks(claim, attempt, chunks)  # else a person retried a job that was split before: the same input, the same chunks
        ledger.record(actor, "revision.split", subject=("job", claim.job_id), data={"revision": str(claim.revision_id), "chunks": len(chunks)})
        fp("ingest.splitting.commit.before")
    fp("ingest.splitting.commit.after")


def _store_chunks(claim: Claim, attempt: ParseAttempt, chunks: tuple[ChunkDraft, ...]) -> None:
    document_id = attempt.revision.document_id
    ids = [uuid.UUID(hex=key) for key in chunk_version_ids(document_id.hex, chunks)]
    repeats: dict[tuple[str, str], int] = {}
    versions, places = [], []
    for key, chunk in zip(ids, chunks, strict=True):
        pair = (chunk.content_sha256, chunk.index_text_sha256)
        repeats[pair] = repeats.get(pair, -1) + 1
        versions.append(
            ChunkVersion(
                id=key,
                tenant_id=claim.tenant_id,
                document_id=document_id,
                content_sha256=chunk.content_sha256,
                index_text_sha256=chunk.index_text_sha256,
                repeat_ordinal=repeats[pair],
                text=chunk.text,
                index_text=chunk.index_text,
                heading_path=list(chunk.heading_path),
                unsafe_reason=chunk.unsafe_reason,
            )
        )
        places.append(
            RevisionChunk(
                tenant_id=claim.tenant_id,
                parse=attempt,
                revision_id=claim.revision_id,
                chunk_version_id=key,
                ordinal=chunk.ordinal,
                locator=chunk.locator,
                span_start=chunk.span_start,
                span_end=chunk.span_end,
                settings_digest=claim.settings_digest,
            )
        )
    ChunkVersion.objects.bulk_create(versions, batch_size=BATCH, ignore_conflicts=True)  # the same id holds the same text, by construction
    RevisionChunk.objects.bulk_create(places, batch_size=BATCH)


def chunks_of_job(claim: Claim) -> list[ChunkToEmbed]:
    """The chunk versions that this job's revision needs in the index, in order."""
    with scope(system_actor(claim.tenant_id).grant):
        rows = RevisionChunk.objects.filter(revision_id=claim.revision_id, settings_digest=claim.settings_digest).order_by("ordinal")
        return [ChunkToEmbed(key, text) for key, text in rows.values_list("chunk_version_id", "chunk_version__index_text")]


def finish_indexing(claim: Claim, *, embedded: int, read_back: int) -> None:
    """Indexing -> completed, only when as many vectors were read back as there are chunks (GOV-F8); the document's head moves on.

    Args: embedded: new vectors. read_back: vectors of this revision's chunks found in the space afterwards.
    Raises: Transient("count_mismatch"), Conflict("fence_lost").
    """
    actor = system_actor(claim.tenant_id)
    with scope(actor.grant), transaction.atomic():
        expected = RevisionChunk.objects.filter(revision_id=claim.revision_id, settings_digest=claim.settings_digest).count()
        if read_back != expected or expected == 0:
            raise Transient(
                "count_mismatch", "The index holds another number of chunks than the revision.", {"expected": expected, "found": read_back}
            )
        move_on(claim, "completed", chunks_embedded=embedded)
        revision = Revision.objects.get(pk=claim.revision_id)
        document = Document.objects.select_for_update(of=("self",)).select_related("head").get(pk=revision.document_id)
        if document.head is None or document.head.number < revision.number:
            Document.objects.filter(pk=document.pk).update(head=revision)
        ledger.record(actor, "revision.completed", subject=("revision", revision.pk), data={"chunks": expected, "embedded": embedded})
        fp("ingest.indexing.commit.before")
    fp("ingest.indexing.commit.after")
