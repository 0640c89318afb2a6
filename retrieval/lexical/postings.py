"""One term in one view, in either of its two forms: a list of ordinals, or one tf byte for each chunk when the term is frequent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval.lexical.masks import K1, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retrieval.lexical.masks import Floats, Mask, Slot
    from retrieval.lexical.segments import Ints


@dataclass(frozen=True, slots=True)
class Extras:
    """What few terms have. Args: ordinals, tfs: chunks with tf above 255. levels: rows (tf, shortest chunk with it), 0 where unused."""

    ordinals: Ints
    tfs: Ints
    levels: Ints


@dataclass(frozen=True, slots=True)
class SparsePostings:
    """Args: ordinals: rising, counted within the view. tfs: uint8, beside the ordinals."""

    slot: Slot
    ordinals: Ints
    tfs: Ints
    extras: Extras | None

    @property
    def cost(self) -> int:
        return len(self.ordinals)

    def count_visible(self, mask: Mask) -> int:
        return int(np.count_nonzero(mask.visible[self.slot.span].view(np.uint8).take(self.ordinals)))

    def bound_impact(self, average_length: float) -> float:
        return _bound_impact(self.tfs, self.extras, average_length)

    def add_to(self, scores: Floats, mask: Mask, weight: float, _work: tuple[Floats, Floats]) -> None:
        """Add weight * tf / (tf + norm) to the chunks of this term."""
        tfs = self.tfs.astype(np.float32)
        if self.extras is not None:
            tfs[self.ordinals.searchsorted(self.extras.ordinals)] = self.extras.tfs
        impacts = mask.norms[self.slot.span].take(self.ordinals)
        impacts += tfs
        np.divide(tfs, impacts, out=impacts)
        impacts *= np.float32(weight)
        np.add.at(scores[self.slot.span], self.ordinals, impacts)

    def clear(self, scores: Floats) -> None:
        scores[self.slot.span][self.ordinals] = 0

    def tfs_at(self, chunks: Ints, dtype: np.dtype[np.floating]) -> Floats:
        """tf in each of these chunks of the view, 0 where the term is absent."""
        wanted = chunks.astype(self.ordinals.dtype)
        places = self.ordinals.searchsorted(wanted)
        tfs = self.tfs.take(places, mode="clip").astype(dtype) * (self.ordinals.take(places, mode="clip") == wanted)
        return _with_overflow(tfs, chunks, self.extras)


@dataclass(frozen=True, slots=True)
class DensePostings:
    """Args: tfs: uint8, one for each chunk of the view. bit_words: uint64, a bit for each chunk that has the term."""

    slot: Slot
    tfs: Ints
    bit_words: NDArray[np.uint64]
    extras: Extras | None

    @property
    def cost(self) -> int:
        return len(self.tfs)

    def count_visible(self, mask: Mask) -> int:
        return int(np.bitwise_count(self.bit_words & mask.bit_words[self.slot.no]).sum(dtype=np.int64))

    def bound_impact(self, average_length: float) -> float:
        return _bound_impact(self.tfs, self.extras, average_length)

    def add_to(self, scores: Floats, mask: Mask, weight: float, work: tuple[Floats, Floats]) -> None:
        """Add weight * tf / (tf + norm) to all chunks of the view; `work` are two float32 arrays over the index, to be overwritten."""
        tfs, impacts = (array[self.slot.span] for array in work)
        tfs[:] = self.tfs
        if self.extras is not None:
            tfs[self.extras.ordinals] = self.extras.tfs
        np.add(tfs, mask.norms[self.slot.span], out=impacts)
        np.divide(tfs, impacts, out=impacts)
        impacts *= np.float32(weight)
        scores[self.slot.span] += impacts

    def clear(self, scores: Floats) -> None:
        scores[self.slot.span] = 0

    def tfs_at(self, chunks: Ints, dtype: np.dtype[np.floating]) -> Floats:
        """tf in each of these chunks of the view, 0 where the term is absent."""
        return _with_overflow(self.tfs.take(chunks).astype(dtype), chunks, self.extras)


Postings = SparsePostings | DensePostings


def _with_overflow(tfs: Floats, chunks: Ints, extras: Extras | None) -> Floats:
    """Exact figures in place of the byte 255. The chunks are rising."""
    if extras is not None and len(extras.ordinals) and len(chunks):
        places = chunks.searchsorted(extras.ordinals)
        places[places == len(chunks)] = 0
        present = chunks.take(places) == extras.ordinals
        tfs[places[present]] = extras.tfs[present]
    return tfs


def _bound_impact(tfs: Ints, extras: Extras | None, average_length: float) -> float:
    """At least tf / (tf + norm) of every chunk with the term, hidden ones included: it steers the work, never the result."""
    if extras is not None and len(extras.levels):
        pairs = [(tf, length) for tf, length in extras.levels.tolist() if tf]
    else:
        best_tf = int(tfs.max(initial=0)) if extras is None or not len(extras.tfs) else int(extras.tfs.max())
        # No chunk is shorter than the tf of one of its terms, and the impact at that shortest length rises with tf.
        pairs = [(best_tf, best_tf)]
    return max((tf / (tf + K1 * (1 - B + B * length / average_length)) for tf, length in pairs), default=0.0)
