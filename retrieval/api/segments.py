"""Lexical segments as rows, and the memory-mapped view that a host makes of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from django.conf import settings

from documents import api as documents
from retrieval.lexical.analyzer import ANALYZER_VERSION, analyze
from retrieval.lexical.packing import PackedRow, digest_rows, pack_segment, unpack_segment
from retrieval.lexical.segments import MAX_CHUNKS, Segment, build_segment
from retrieval.lexical.view_cache import ViewCache
from retrieval.models import LexBlock, LexSegment

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from rag4c.kernel.grant import Grant
    from retrieval.lexical.views import View

__all__ = ["cover_chunks", "open_view"]
MAX_CACHE_BYTES: Final = 4 * 2**30


def cover_chunks(grant: Grant, base_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Segments that together hold all these chunk versions: those that exist, and new ones with only what is new. Inside the publish transaction."""
    existing = list(LexSegment.objects.filter(knowledge_base_id=base_id, analyzer=ANALYZER_VERSION).order_by("id"))
    wanted = set(chunk_ids)
    used = [segment for segment in existing if wanted & set(segment.chunk_ids)]
    new = sorted(wanted - {key for segment in used for key in segment.chunk_ids})
    made = [_store_segment(grant, base_id, new[start : start + MAX_CHUNKS]) for start in range(0, len(new), MAX_CHUNKS)]
    return [segment.pk for segment in used] + made


def _store_segment(grant: Grant, base_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> uuid.UUID:
    texts = documents.read_index_texts(grant=grant, chunk_ids=chunk_ids)
    numbers: dict[uuid.UUID, int] = {}
    doc_numbers = [numbers.setdefault(texts[key].document_id, len(numbers)) for key in chunk_ids]
    rows = pack_segment(build_segment([analyze(texts[key].index_text) for key in chunk_ids], doc_numbers))
    # the digest names the view file on a host's disk: it carries the tenant (GOV-T6)
    digest = digest_rows([*rows, PackedRow(len(rows), 0, grant.tenant_id.bytes)])
    segment = LexSegment.objects.create(
        tenant_id=grant.tenant_id, knowledge_base_id=base_id, analyzer=ANALYZER_VERSION, digest=digest, chunk_ids=list(chunk_ids)
    )
    LexBlock.objects.bulk_create(
        [LexBlock(tenant_id=grant.tenant_id, segment=segment, number=row.no, first_hash=row.first_hash, payload=row.payload) for row in rows],
        batch_size=500,
    )
    return segment.pk


@cache
def _view_cache() -> ViewCache:
    return ViewCache(settings.VIEW_CACHE_DIR, MAX_CACHE_BYTES)


def open_view(segments: Sequence[LexSegment]) -> View:
    """The mapped view of these segments, made from the rows when this host has none. Inside a scope."""

    def load() -> list[Segment]:
        return [_read_segment(segment) for segment in segments]

    return _view_cache().open_view([segment.digest for segment in segments], load)


def _read_segment(segment: LexSegment) -> Segment:
    rows = LexBlock.objects.filter(segment=segment).order_by("number")
    return unpack_segment([PackedRow(row.number, row.first_hash, bytes(row.payload)) for row in rows])
