"""Hybrid search over the visible set: exact cosine and exact BM25, fused by reciprocal rank (SYS-A6, SYS-E6)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rag4c.kernel import env
from rag4c.kernel.errors import Invalid
from rag4c.providers.registry import WEB_THREADS, get_embedder
from rag4c.scope.manager import scope
from retrieval import queries
from retrieval.api.segments import open_view
from retrieval.api.visible import load_segments
from retrieval.fusion import fuse_rrf
from retrieval.lexical.analyzer import analyze_query
from retrieval.lexical.backend import ViewBackend
from retrieval.lexical.engine import LexicalIndex
from retrieval.spaces import find_space

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Grant
    from retrieval.api.visible import VisibleSet
    from retrieval.models import RetrievalPolicy

__all__ = ["ScoredChunk", "search_visible"]
MAX_BACKENDS: Final = 8


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk with the scores that it has; a score it does not have is absent, not 0."""

    chunk_id: uuid.UUID
    scores: dict[str, float]


class _Backends:
    """Lexical backends of this process by the digests of their segments, with the chunk that each ordinal stands for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[str, ...], tuple[ViewBackend, list[uuid.UUID]]] = OrderedDict()

    def get(self, visible: VisibleSet) -> tuple[ViewBackend, list[uuid.UUID]]:
        segments = load_segments(visible.served)
        key = tuple(segment.digest for segment in segments)
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key]
        ordinals = [chunk for segment in segments for chunk in segment.chunk_ids]
        entry = (ViewBackend(LexicalIndex([open_view(segments)] if segments else [])), ordinals)
        with self.lock:
            self.kept[key] = entry
            while len(self.kept) > MAX_BACKENDS:
                self.kept.popitem(last=False)
        return entry


_backends: Final = _Backends()


def search_visible(*, grant: Grant, visible: VisibleSet, question: str, policy: RetrievalPolicy, k: int) -> list[ScoredChunk]:
    """The k best chunks, fused; deterministic, ties by id. Empty when nothing is visible.

    A chunk that only one retriever found keeps only that score. No transaction is held while the model works.
    Raises: Invalid("space_mixed") when served manifests disagree on the embedding space.
    """
    if not visible.chunks:
        return []
    dense = _search_dense(grant, visible, question, max(policy.dense_k, k))
    lexical = _search_lexical(grant, visible, question, max(policy.lexical_k, k))
    by_id = {str(key): key for key in visible.chunks}
    fused = fuse_rrf({"dense": [str(key) for key, _ in dense], "bm25": [str(key) for key, _ in lexical]}, k=policy.rrf_k)
    cosine, bm25 = dict(dense), dict(lexical)
    hits = []
    for row in fused[:k]:
        key = by_id[row.id]
        scores = {"rrf": row.score}
        if key in cosine:
            scores["dense_cosine"] = cosine[key]
        if key in bm25:
            scores["bm25"] = bm25[key]
        hits.append(ScoredChunk(key, scores))
    return hits


def _search_dense(grant: Grant, visible: VisibleSet, question: str, k: int) -> list[tuple[uuid.UUID, float]]:
    embedder = get_embedder(env.read_str("RAG4C_EMBEDDER"), threads=WEB_THREADS)
    if any(base.space != embedder.space.key for base in visible.served):
        raise Invalid("space_mixed", "A served manifest was indexed with another embedding model; publish it anew.")
    vector = embedder.embed_queries([question])[0]
    table = find_space(embedder.space.key).table_name
    with scope(grant):
        return queries.search_vectors(table, grant.tenant_id, list(visible.chunks), vector, k)


def _search_lexical(grant: Grant, visible: VisibleSet, question: str, k: int) -> list[tuple[uuid.UUID, float]]:
    terms = analyze_query(question)
    if not terms:
        return []
    with scope(grant):
        backend, ordinals = _backends.get(visible)
    mask = np.fromiter((chunk in visible.chunks for chunk in ordinals), np.bool_, len(ordinals))
    seen: set[uuid.UUID] = set()
    hits = []
    for hit in backend.search(terms, mask, k):
        key = ordinals[hit.ordinal]
        if key not in seen:
            seen.add(key)
            hits.append((key, float(hit.score)))
    return hits
