"""What the rules read: passages of the pack and around it, and the permitted facts, each tied to the chunk that holds it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from documents import api as documents
from rag4c.kernel import env
from rag4c.providers.registry import WEB_THREADS, get_embedder
from verification.rules.contract import FactRow, Passage, Scores

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rag4c.kernel.grant import Grant
    from retrieval.api import EvidencePack, VisibleSet, WideHit
    from verification.rules.contract import Embed

__all__ = ["list_facts", "make_embed", "pack_passages", "wide_passages"]
MAX_FACT_SETS: Final = 8
MAX_VECTORS: Final = 20_000  # 30 MB: sentences of the documents that are asked about most


class _Vectors:
    """Sentence vectors of this process, by tenant, text and kind (GOV-T6)."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[uuid.UUID, str, str], NDArray[np.float32]] = OrderedDict()

    def embed(self, tenant_id: uuid.UUID, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        embedder = get_embedder(env.read_str("RAG4C_EMBEDDER"), threads=WEB_THREADS)
        with self.lock:
            missing = [text for text in dict.fromkeys(texts) if (tenant_id, text, kind) not in self.kept]
        if missing:
            made = embedder.embed_queries(missing) if kind == "query" else embedder.embed_passages(missing)
            with self.lock:
                self.kept.update({(tenant_id, text, kind): row for text, row in zip(missing, made, strict=True)})
        with self.lock:
            rows = [self.kept[(tenant_id, text, kind)] for text in texts]
            while len(self.kept) > MAX_VECTORS:
                self.kept.popitem(last=False)
        return np.stack(rows) if rows else np.zeros((0, embedder.space.dims), np.float32)


_vectors: Final = _Vectors()


def make_embed(tenant_id: uuid.UUID) -> Embed:
    """`contract.Embed` over the default model: (len(texts), dims), rows of length 1. kind: `query` or `passage`."""

    def embed(texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        return _vectors.embed(tenant_id, texts, kind)

    return embed


def pack_passages(pack: EvidencePack) -> tuple[Passage, ...]:
    """The evidence `[1]..[N]` of the pack, numbers unchanged (R01, R02)."""
    return tuple(
        Passage(
            n=item.n,
            chunk_id=item.candidate.chunk_id,
            revision_id=item.candidate.revision_id,
            document_id=item.candidate.document_id,
            document=item.candidate.path,
            heading_path=item.candidate.heading_path,
            text=item.candidate.text,
            span_start=item.candidate.span_start,
            locator=item.candidate.locator,
            text_sha256=item.candidate.text_sha256,
            scores=_scores(item.candidate.scores),
        )
        for item in pack.evidence
    )


def wide_passages(pack: Sequence[Passage], wide: Sequence[WideHit]) -> tuple[Passage, ...]:
    """The pack first, with its numbers, then the other permitted hits in rank order, numbered on."""
    known = {passage.chunk_id for passage in pack}
    others = [hit for hit in wide if str(hit.evidence.chunk_id) not in known]
    return (*pack, *(_wide_passage(n, hit) for n, hit in enumerate(others, start=len(pack) + 1)))


def _wide_passage(n: int, hit: WideHit) -> Passage:
    text = hit.evidence
    return Passage(
        n=n,
        chunk_id=str(text.chunk_id),
        revision_id=str(text.revision_id),
        document_id=str(text.document_id),
        document=text.path,
        heading_path=text.heading_path,
        text=text.text,
        span_start=text.span_start,
        locator=text.locator,
        text_sha256=text.content_sha256,
        scores=_scores(hit.scores),
    )


def _scores(scores: Mapping[str, float]) -> Scores:
    return Scores(dense_cosine=scores.get("dense_cosine"), bm25=scores.get("bm25"), rrf=scores.get("rrf"), rerank=scores.get("rerank"))


class _Facts:
    """Fact rows of a visible set. The key is the set itself, so an entry serves exactly those who may read all of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[Any, ...], tuple[FactRow, ...]] = OrderedDict()


_facts: Final = _Facts()


def list_facts(grant: Grant, visible: VisibleSet) -> tuple[FactRow, ...]:
    """All facts of the visible revisions whose chunk is visible too: a value inside an unsafe chunk is no evidence (SYS-A7)."""
    key = (grant.tenant_id, visible.sha256, documents.field_synonyms(grant)[0], tuple(base.settings_digest for base in visible.served))
    with _facts.lock:
        if key in _facts.kept:
            _facts.kept.move_to_end(key)
            return _facts.kept[key]
    values = documents.read_facts_of(grant=grant, revision_ids=visible.revision_ids)
    place_to_chunk = {chunk.place_id: chunk.chunk_id for chunk in visible.chunks.values()}
    places = documents.places_covering(
        grant=grant, spans=[(value.revision_id, value.span_start, value.span_end) for value in values], place_ids=set(place_to_chunk)
    )
    rows = tuple(_fact_row(value, str(place_to_chunk[place])) for value, place in zip(values, places, strict=True) if place is not None)
    with _facts.lock:
        _facts.kept[key] = rows
        while len(_facts.kept) > MAX_FACT_SETS:
            _facts.kept.popitem(last=False)
    return rows


def _fact_row(value: documents.FactValue, chunk_id: str) -> FactRow:
    return FactRow(
        fact_id=str(value.id),
        document_id=str(value.document_id),
        document=value.path,
        revision_id=str(value.revision_id),
        chunk_id=chunk_id,
        subject=value.subject,
        field=value.field,
        subject_key=value.subject_key,
        field_key=value.field_key,
        value_text=value.value_text,
        value=value.value,
        unit=value.unit,
        period=value.period,
        locator=value.locator,
        span_start=value.span_start,
        span_end=value.span_end,
    )
