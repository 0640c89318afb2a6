"""Reading what was stored: evidence texts, whole documents, facts, and the check of a place against the original bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from documents.api.blobs import read_blob
from documents.models import Fact, Revision, RevisionChunk
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid
    from collections.abc import Collection, Iterable, Sequence
    from decimal import Decimal

    from rag4c.kernel.grant import Grant

__all__ = [
    "DocumentText",
    "EvidenceText",
    "FactValue",
    "Lineage",
    "PlaceCheck",
    "check_places",
    "read_document_text",
    "read_evidence",
    "read_facts_of",
    "read_lineage",
]


@dataclass(frozen=True, slots=True)
class EvidenceText:
    """A chunk where it stands in one revision, with its text. Spans are code points of the revision's canonical text."""

    place_id: uuid.UUID
    chunk_id: uuid.UUID
    revision_id: uuid.UUID
    document_id: uuid.UUID
    knowledge_base_id: uuid.UUID
    path: str
    heading_path: tuple[str, ...]
    locator: str
    span_start: int
    span_end: int
    text: str
    content_sha256: str
    document_sha256: str
    settings_digest: str
    unsafe_reason: str


@dataclass(frozen=True, slots=True)
class PlaceCheck:
    """A place compared with the truth now. text_sha256 None: the span cannot be reproduced. reason: why it is stale, empty when it is not.

    Reasons: `place_missing`, `span_changed`, `original_missing`, `original_changed`, `document_deleted`, `live_source_changed`.
    """

    place_id: uuid.UUID
    text_sha256: str | None
    document_sha256: str | None
    settings_digest: str
    reason: str


@dataclass(frozen=True, slots=True)
class FactValue:
    """One fact with its lineage, as verification needs it."""

    id: uuid.UUID
    document_id: uuid.UUID
    path: str
    revision_id: uuid.UUID
    subject: str
    field: str
    subject_key: str
    field_key: str
    value_text: str
    value: Decimal | None
    unit: str
    period: str
    locator: str
    span_start: int
    span_end: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The canonical text of one revision, for showing cited lines in their context."""

    document_id: uuid.UUID
    revision_id: uuid.UUID
    path: str
    number: int
    media_type: str
    text: str
    text_sha256: str


def read_evidence(*, grant: Grant, place_ids: Sequence[uuid.UUID]) -> list[EvidenceText]:
    """The texts of revision chunks, in the order asked; ids that are not there are left out. The caller has permitted them already."""
    with scope(grant):
        rows = RevisionChunk.objects.filter(pk__in=place_ids).select_related("chunk_version", "revision__document")
        found = {row.pk: _evidence_of(row) for row in rows}
    return [found[key] for key in place_ids if key in found]


def _evidence_of(row: RevisionChunk) -> EvidenceText:
    version, revision = row.chunk_version, row.revision
    return EvidenceText(
        place_id=row.pk,
        chunk_id=version.pk,
        revision_id=revision.pk,
        document_id=revision.document_id,
        knowledge_base_id=revision.document.knowledge_base_id,
        path=revision.document.path,
        heading_path=tuple(version.heading_path),
        locator=row.locator,
        span_start=row.span_start,
        span_end=row.span_end,
        text=version.text,
        content_sha256=version.content_sha256,
        document_sha256=revision.content_sha256,
        settings_digest=row.settings_digest,
        unsafe_reason=version.unsafe_reason,
    )


def check_places(*, grant: Grant, place_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, PlaceCheck]:
    """Re-read every place from Postgres and re-hash its stored original (SYS-A8, SYS-B1). Nothing is repaired here (principle 9)."""
    wanted = list(dict.fromkeys(place_ids))
    with scope(grant):
        rows = list(RevisionChunk.objects.filter(pk__in=wanted).select_related("parse", "revision__blob", "revision__document__source"))
    originals: dict[uuid.UUID, str] = {}
    checks = {}
    for row in rows:
        if row.revision_id not in originals:
            originals[row.revision_id] = _check_original(row.revision)
        checks[row.pk] = _check_place(row, originals[row.revision_id])
    missing = {key: PlaceCheck(key, None, None, "", "place_missing") for key in wanted if key not in checks}
    return {**checks, **missing}


def _check_original(revision: Revision) -> str:
    """Why the original is not what was read, or "". File work: outside any transaction."""
    stored = read_blob(revision.blob.storage_key)
    if stored is None:
        return "original_missing"
    if stored[1] != revision.content_sha256:
        return "original_changed"
    document = revision.document
    if document.state != "live":
        return "document_deleted"
    if document.source.freshness == "live" and not _is_unchanged_on_disk(Path(document.source.root), document.path, revision.content_sha256):
        return "live_source_changed"
    return ""


def _is_unchanged_on_disk(root: Path, path: str, sha256: str) -> bool:
    file = root / path
    if file.is_symlink() or not file.is_file():
        return False
    return sha256_hex(file.read_bytes()) == sha256


def _check_place(row: RevisionChunk, original_reason: str) -> PlaceCheck:
    text = row.parse.text[row.span_start : row.span_end]
    is_intact = sha256_hex(row.parse.text) == row.parse.text_sha256 and len(text) == row.span_end - row.span_start
    document_sha256 = None if original_reason in {"original_missing", "original_changed"} else row.revision.content_sha256
    reason = original_reason or ("" if is_intact else "span_changed")
    return PlaceCheck(row.pk, sha256_hex(text) if is_intact else None, document_sha256, row.settings_digest, reason)


def read_document_text(*, grant: Grant, revision_id: uuid.UUID) -> DocumentText:
    """The canonical text of a revision; the caller has checked that the reader may see its document. Raises: Absent("document")."""
    with scope(grant):
        revision = Revision.objects.filter(pk=revision_id).select_related("document").first()
        attempt = revision.parse_attempts.order_by("-created_at").first() if revision else None
    if revision is None or attempt is None:
        raise Absent("document", "There is nothing here for you.")
    return DocumentText(
        revision.document_id, revision.pk, revision.document.path, revision.number, attempt.media_type, attempt.text, attempt.text_sha256
    )


def read_facts_of(*, grant: Grant, revision_ids: Collection[uuid.UUID]) -> list[FactValue]:
    """Facts of these revisions that need no review and may be answered, in document order. The caller hands in permitted revisions only."""
    with scope(grant):
        rows = Fact.objects.filter(revision_id__in=revision_ids, review_reason="").select_related("document").order_by("document__path", "span_start")
        return [
            FactValue(
                id=row.pk,
                document_id=row.document_id,
                path=row.document.path,
                revision_id=row.revision_id,
                subject=row.subject,
                field=row.field,
                subject_key=row.subject_key,
                field_key=row.field_key,
                value_text=row.value_text,
                value=row.value,
                unit=row.unit,
                period=row.period,
                locator=row.locator,
                span_start=row.span_start,
                span_end=row.span_end,
            )
            for row in rows
        ]


@dataclass(frozen=True, slots=True)
class Lineage:
    """Everything that a place comes from, for the lifeline; no field may be missing (principle 2)."""

    place_id: uuid.UUID
    locator: str
    chunk_id: uuid.UUID
    chunk_sha256: str
    revision_number: int
    document_sha256: str
    added_by: str
    added_at: str
    parser: str
    parser_version: str
    media_type: str
    text_sha256: str
    document_id: uuid.UUID
    path: str
    source_key: str
    freshness: str
    knowledge_base: str


def read_lineage(*, grant: Grant, place_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Lineage]:
    """place -> its lineage. The caller has permitted the places already."""
    with scope(grant):
        rows = RevisionChunk.objects.filter(pk__in=place_ids).select_related(
            "parse", "chunk_version", "revision__document__source", "revision__document__knowledge_base"
        )
        return {row.pk: _lineage_of(row) for row in rows}


def _lineage_of(row: RevisionChunk) -> Lineage:
    revision, document = row.revision, row.revision.document
    return Lineage(
        place_id=row.pk,
        locator=row.locator,
        chunk_id=row.chunk_version_id,
        chunk_sha256=row.chunk_version.content_sha256,
        revision_number=revision.number,
        document_sha256=revision.content_sha256,
        added_by=revision.added_by,
        added_at=revision.created_at.isoformat(timespec="seconds"),
        parser=row.parse.parser,
        parser_version=row.parse.parser_version,
        media_type=row.parse.media_type,
        text_sha256=row.parse.text_sha256,
        document_id=document.pk,
        path=document.path,
        source_key=document.source.key,
        freshness=document.source.freshness,
        knowledge_base=document.knowledge_base.slug,
    )
