"""What one asker may see, and the statistics that BM25 takes over exactly that: a hidden chunk changes no figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval.lexical.segments import Flags, Ints

Floats = NDArray[np.floating]

# Lucene's defaults, fixed by the design: another value is another ranking.
K1 = 1.2
B = 0.75

_REMEMBERED_TERMS = 1 << 14  # figures kept a mask, about 3 MB; when full they are counted anew


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one view in the index: its ordinals are start to end."""

    no: int
    start: int
    end: int

    @property
    def span(self) -> slice:
        return slice(self.start, self.end)


@dataclass(frozen=True, slots=True)
class TermFigures:
    """One term under one mask. Args: visible_df: visible chunks with the term. bound_impact: at least tf / (tf + norm) of any chunk."""

    visible_df: int
    idf: float
    bound_impact: float


class Mask:
    """Visible chunks with their number, average length and length norms; made once for each digest of a visible set.

    Args: slots: the views in turn. lengths: terms of each chunk of all views. visible: a flag for each of them.
    Raises: Invalid("mask_misaligned").
    """

    __slots__ = ("_figures", "average_length", "bit_words", "lengths", "norms", "visible", "visible_count")

    def __init__(self, slots: Sequence[Slot], lengths: Ints, visible: Flags) -> None:
        if visible.shape != lengths.shape or visible.dtype != np.bool_:
            raise Invalid("mask_misaligned", "Give one boolean flag for each chunk of the index.", {"chunks": len(lengths), "flags": len(visible)})
        self.lengths = lengths
        self.visible = visible.copy()
        self.visible_count = int(np.count_nonzero(visible))
        # At least one term a chunk, so that a corpus of empty chunks divides by something; with no postings the value is never used.
        self.average_length = max(int(lengths.sum(where=visible, dtype=np.int64)), 1) / max(self.visible_count, 1)
        visible_norms = lengths.astype(np.float32) * np.float32(K1 * B / self.average_length) + np.float32(K1 * (1 - B))
        # tf / (tf + inf) is exactly 0: hiding costs nothing while scoring, and cannot leak.
        self.norms = np.where(visible, visible_norms, np.float32(np.inf))
        self.bit_words = [_pack_words(self.visible[slot.span]) for slot in slots]
        self._figures: dict[int, TermFigures] = {}

    def exact_norms(self, ordinals: Ints) -> Floats:
        """Length norms in float64, for chunks that are visible."""
        return np.asarray(K1 * (1 - B + B * self.lengths[ordinals] / self.average_length))

    def recall_figures(self, term: int) -> TermFigures | None:
        """The figures of a term that was counted before under this mask."""
        return self._figures.get(term)

    def remember_figures(self, term: int, figures: TermFigures) -> None:
        if len(self._figures) >= _REMEMBERED_TERMS:
            self._figures = {}
        self._figures[term] = figures


def _pack_words(flags: Flags) -> NDArray[np.uint64]:
    packed = np.packbits(flags, bitorder="little")
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)
