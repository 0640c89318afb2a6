"""Exact BM25 in Lucene's form over mapped views, under a visible mask.

idf = ln(1 + (N - df + 0.5) / (df + 0.5)), score = sum of idf * tf / (tf + k1 (1 - b + b length / average)); N, df and average over the visible
chunks only. A term counts as often as the question says it, as in Lucene and bm25s.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from rag4c.kernel.errors import Invalid
from retrieval.lexical.masks import Mask, Slot, TermFigures
from retrieval.lexical.segments import hash_term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retrieval.lexical.masks import Floats
    from retrieval.lexical.postings import Postings
    from retrieval.lexical.segments import Flags, Ints
    from retrieval.lexical.views import View

_BLOCK_CHUNKS = 64  # chunks a block maximum; a block is a column of reshape(64, -1), so that numpy reduces along the fast axis
_FEW_SHARE = 10  # adding terms to all chunks stops when at most 1/10 of them can still enter the best k; measured best of 5, 10, 20
_FREQUENT_SHARE = 8  # a term that costs less than 1/8 of the index is added before the first attempt to stop
_SMALL_CHUNKS = 65_536  # below, adding a term to all chunks costs less than looking for a reason not to
_REMEMBERED_TERMS = 1 << 14  # about 16 MB an index; when full they are looked up anew
_FLOAT32_STEP = 2.0**-23
_TINY = np.float32(1e-30)  # below every impact that a visible chunk can have, above the exact 0 of a hidden one


@dataclass(frozen=True, slots=True)
class Hit:
    """A visible chunk with at least one term of the question; the ordinal counts over all views in turn."""

    score: float
    ordinal: int


@dataclass(frozen=True, slots=True)
class _WeightedTerm:
    """Args: weight: idf times the number of times the question says it. bound_score: at least what it adds to any chunk. cost: postings."""

    term: int
    weight: float
    bound_score: float
    cost: int
    parts: tuple[Postings, ...]


class _Scratch:
    """Arrays of one thread, zero between searches."""

    def __init__(self, chunk_count: int) -> None:
        padded = -(-chunk_count // _BLOCK_CHUNKS) * _BLOCK_CHUNKS
        self.scores = np.zeros(padded, np.float32)
        self.work = (np.zeros(padded, np.float32), np.zeros(padded, np.float32))
        self._blocks = self.scores.reshape(_BLOCK_CHUNKS, -1)

    def block_maxima(self) -> Floats:
        return np.asarray(self._blocks.max(0))

    def find_at_least(self, floor: np.float32, maxima: Floats) -> Ints:
        """Rising ordinals of the chunks that score at least the floor."""
        columns = np.flatnonzero(maxima >= floor)
        rows, places = np.divmod(np.flatnonzero(self._blocks.take(columns, 1) >= floor), max(len(columns), 1))
        return np.asarray(rows * self._blocks.shape[1] + columns[places])

    def clear(self, added: Sequence[_WeightedTerm]) -> None:
        if sum(term.cost for term in added) * 3 > len(self.scores):
            self.scores.fill(0)
            return
        for term in added:
            for part in term.parts:
                part.clear(self.scores)


class LexicalIndex:
    """A set of views searched as one. Safe for threads: views are read only, and each thread has scratch arrays of its own (12 bytes a chunk)."""

    def __init__(self, views: Sequence[View]) -> None:
        self._views = tuple(views)
        edges = list(accumulate((view.chunk_count for view in views), initial=0))
        self._slots = tuple(Slot(no, start, end) for no, (start, end) in enumerate(pairwise(edges)))
        self.chunk_count = edges[-1]
        self.doc_numbers = _concatenate([view.doc_numbers for view in views], np.int32)
        self._lengths = _concatenate([view.lengths for view in views], np.uint32)
        self._parts: dict[int, tuple[Postings, ...]] = {}
        self._thread = threading.local()

    def make_mask(self, visible: Flags) -> Mask:
        """The mask of these visible chunks.

        Args: visible: a boolean flag for each chunk of the index.
        Raises: Invalid("mask_misaligned").
        """
        return Mask(self._slots, self._lengths, visible)

    def search(self, terms: Sequence[str], mask: Mask, k: int) -> list[Hit]:
        """The k best visible chunks, best first, ties by ordinal; equal to scoring every visible chunk in float64.

        Empty when no visible chunk has any of the terms (SYS-A6): no hit is made up of stop words if `terms` are those of `analyze_query`.

        Raises: Invalid("k_out_of_range"), Invalid("mask_misaligned").
        """
        if k < 1:
            raise Invalid("k_out_of_range", "Ask for at least one hit.", {"k": k})
        if mask.lengths is not self._lengths:
            raise Invalid("mask_misaligned", "Use a mask that this index made.", {"chunks": self.chunk_count, "flags": len(mask.visible)})
        weighted = self._weigh_terms(terms, mask)
        if not weighted:
            return []
        candidates = _find_candidates(weighted, mask, k, self._scratch())
        scores = np.zeros(len(candidates))
        # In order of hash, so that a sum of float64 does not depend on costs, which hidden chunks change.
        _add_impacts(sorted(weighted, key=lambda term: term.term), candidates, mask.exact_norms(candidates), scores)
        best = np.lexsort((candidates, -scores))[:k]
        return [Hit(score, ordinal) for score, ordinal in zip(scores[best].tolist(), candidates[best].tolist(), strict=True)]

    def _weigh_terms(self, terms: Sequence[str], mask: Mask) -> list[_WeightedTerm]:
        """The terms that stand in visible chunks, cheapest first."""
        weighted = []
        for term, repeats in Counter(map(hash_term, terms)).items():
            parts = self._find_parts(term)
            figures = mask.recall_figures(term)
            if figures is None:
                figures = _count_figures(parts, mask)
                mask.remember_figures(term, figures)
            if figures.visible_df:
                weight = repeats * figures.idf
                weighted.append(_WeightedTerm(term, weight, weight * figures.bound_impact, sum(part.cost for part in parts), parts))
        return sorted(weighted, key=lambda term: term.cost)

    def _find_parts(self, term: int) -> tuple[Postings, ...]:
        """Where the term stands in each view that has it. What is kept depends on no mask: it is the place of the postings, not what they say."""
        parts = self._parts.get(term)
        if parts is None:
            found = (view.find_postings(term, slot) for view, slot in zip(self._views, self._slots, strict=True))
            parts = tuple(part for part in found if part is not None)
            if len(self._parts) >= _REMEMBERED_TERMS:
                self._parts = {}
            self._parts[term] = parts
        return parts

    def _scratch(self) -> _Scratch:
        scratch: _Scratch | None = getattr(self._thread, "scratch", None)
        if scratch is None:
            scratch = self._thread.scratch = _Scratch(self.chunk_count)
        return scratch


def _count_figures(parts: Sequence[Postings], mask: Mask) -> TermFigures:
    visible_df = sum(part.count_visible(mask) for part in parts)
    if not visible_df:
        return TermFigures(0, 0.0, 0.0)
    idf = math.log(1 + (mask.visible_count - visible_df + 0.5) / (visible_df + 0.5))
    return TermFigures(visible_df, idf, max(part.bound_impact(mask.average_length) for part in parts))


def _find_candidates(weighted: Sequence[_WeightedTerm], mask: Mask, k: int, scratch: _Scratch) -> Ints:
    """Rising ordinals that hold the best k for sure: float32 scores of the rare terms, and bounds for the frequent ones left out."""
    margin = (len(weighted) + 8) * _FLOAT32_STEP
    rare_count = sum(term.cost * _FREQUENT_SHARE <= max(len(scratch.scores), _SMALL_CHUNKS) for term in weighted)
    candidates: Ints = np.zeros(0, np.int64)
    added: list[_WeightedTerm] = []
    try:
        for term in weighted:
            added.append(term)
            for part in term.parts:
                part.add_to(scratch.scores, mask, term.weight, scratch.work)
            left = weighted[len(added) :]
            if left and len(added) < rare_count:
                continue
            maxima = scratch.block_maxima()
            floor = _entry_floor(maxima, sum(other.bound_score for other in left), k, margin)
            if floor is None:
                continue
            candidates = scratch.find_at_least(floor, maxima)
            if len(candidates) * _FEW_SHARE <= len(scratch.scores):
                break
        scores = scratch.scores.take(candidates)
    finally:
        scratch.clear(added)
    _add_impacts(weighted[len(added) :], candidates, mask.norms.take(candidates), scores)
    if len(candidates) <= k:
        return candidates
    return candidates[scores >= _kth_largest(scores, k) * np.float32(1 - 2 * margin)]


def _add_impacts(weighted: Sequence[_WeightedTerm], candidates: Ints, norms: Floats, scores: Floats) -> None:
    """Add what each term gives to rising ordinals, term after term, in the precision of the norms."""
    tfs = np.zeros((len(weighted), len(candidates)), norms.dtype)
    shares: dict[int, tuple[slice, Ints]] = {}
    for row, term in zip(tfs, weighted, strict=True):
        for part in term.parts:
            span, chunks = shares.get(part.slot.no) or shares.setdefault(part.slot.no, _share_of(part.slot, candidates))
            if len(chunks):
                row[span] = part.tfs_at(chunks, norms.dtype)
    weights = np.array([term.weight for term in weighted], norms.dtype)
    # One row at a time: numpy may sum an axis in another order for another number of candidates.
    for impacts in weights[:, np.newaxis] * tfs / (tfs + norms):
        scores += impacts


def _share_of(slot: Slot, candidates: Ints) -> tuple[slice, Ints]:
    """Which of the rising ordinals lie in the view, and their numbers there."""
    span = slice(*candidates.searchsorted((slot.start, slot.end)).tolist())
    return span, candidates[span] - slot.start


def _entry_floor(maxima: Floats, left_bound: float, k: int, margin: float) -> np.float32 | None:
    """The score so far below which a chunk cannot enter the best k, or None when the terms left out could lift any chunk."""
    kth_best = float(_kth_largest(maxima, k)) * (1 - margin) if len(maxima) > k else 0.0
    if left_bound and kth_best <= left_bound:
        return None
    return max(np.float32((kth_best - left_bound) * (1 - margin)), _TINY)


def _kth_largest(values: Floats, k: int) -> np.float32:
    return np.float32(np.partition(values, len(values) - k)[len(values) - k])


def _concatenate(arrays: Sequence[Ints], dtype: type[np.integer]) -> NDArray[np.integer]:
    """One array, without a copy of the mapped one when there is a single view."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)
