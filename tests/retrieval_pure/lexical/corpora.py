"""Small corpora, indexes over them, and BM25 written out plainly to compare with."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from retrieval.lexical.engine import LexicalIndex
from retrieval.lexical.segments import build_segment, join_postings
from retrieval.lexical.views import DEFAULT_LAYOUT, View, ViewLayout, write_view

EVERY_TERM_DENSE = ViewLayout(dense_share=10**9, dense_min_chunks=0, bound_min_df=0)
NO_TERM_DENSE = ViewLayout(dense_share=8, dense_min_chunks=10**9, bound_min_df=0)
LAYOUTS = (DEFAULT_LAYOUT, EVERY_TERM_DENSE, NO_TERM_DENSE)


def index_chunks(parts, layout=DEFAULT_LAYOUT):
    """An index with one view for each list of chunks; the files are gone at once, the maps stay."""
    views = []
    with TemporaryDirectory() as folder:
        for no, chunks in enumerate(parts):
            path = Path(folder) / f"{no}.view"
            write_view(path, join_postings([build_segment(chunks, [0] * len(chunks))]), [str(no)], layout)
            views.append(View(path))
    return LexicalIndex(views)


def score_by_hand(chunks, visible, query):
    """{ordinal: score} of the visible chunks with any of the terms, in float64."""
    seen = [no for no, is_visible in enumerate(visible) if is_visible]
    if not seen:
        return {}
    average = sum(len(chunks[no]) for no in seen) / len(seen)
    scores = Counter()
    for term in query:
        holders = [no for no in seen if term in chunks[no]]
        idf = math.log(1 + (len(seen) - len(holders) + 0.5) / (len(holders) + 0.5))
        for no in holders:
            tf = chunks[no].count(term)
            scores[no] += idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(chunks[no]) / average))
    return dict(scores)


def assert_best(hits, scores, k):
    """The hits are the k best of these scores, each with its own score; who is in may differ among equals only."""
    assert len(hits) == min(k, len(scores))
    assert len({hit.ordinal for hit in hits}) == len(hits)
    for hit, best in zip(hits, sorted(scores.values(), reverse=True), strict=False):
        assert math.isclose(hit.score, scores[hit.ordinal], rel_tol=1e-12)
        assert math.isclose(hit.score, best, rel_tol=1e-12)
    assert [(hit.score, -hit.ordinal) for hit in hits] == sorted(((hit.score, -hit.ordinal) for hit in hits), reverse=True)


def draw_chunks(seed, chunk_count, term_count=60, mean_length=12):
    """Chunks of words w0, w1, ... with falling frequency, as in texts."""
    rng = np.random.default_rng(seed)
    odds = 1 / np.arange(1, term_count + 1)
    lengths = rng.poisson(mean_length, chunk_count)
    words = rng.choice(term_count, int(lengths.sum()), p=odds / odds.sum())
    return [[f"w{word}" for word in part] for part in np.split(words, np.cumsum(lengths)[:-1])]
