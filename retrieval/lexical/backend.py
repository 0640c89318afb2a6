"""What search needs of a lexical engine, so that another one (tiered, or outside this process) can take its place."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval.lexical.engine import Hit, LexicalIndex
    from retrieval.lexical.masks import Mask
    from retrieval.lexical.segments import Flags

_KEPT_MASKS = 32  # a mask takes about 10 bytes a chunk: 32 MB in all at 100k chunks


class LexicalBackend(Protocol):
    """Exact BM25 over the visible chunks of one set of segments."""

    @property
    def chunk_count(self) -> int:
        """How many chunks the segments hold, hidden ones included."""
        ...

    def search(self, query_terms: Sequence[str], visible: Flags, k: int) -> list[Hit]:
        """The k best visible chunks, best first, ties by ordinal; empty when none has any of the terms (SYS-A6).

        Args: query_terms: of `analyze_query`. visible: a boolean flag for each chunk, in the order of the segments.
        Raises: Invalid("k_out_of_range"), Invalid("mask_misaligned").
        """
        ...


class ViewBackend:
    """The engine of this host: one index over mapped views, and the masks of the latest visible sets."""

    def __init__(self, index: LexicalIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._masks: OrderedDict[bytes, Mask] = OrderedDict()

    @property
    def chunk_count(self) -> int:
        return self._index.chunk_count

    def search(self, query_terms: Sequence[str], visible: Flags, k: int) -> list[Hit]:
        return self._index.search(query_terms, self._recall_mask(visible), k)

    def _recall_mask(self, visible: Flags) -> Mask:
        """Keyed by what is visible and nothing else: two askers with one visible set share a mask, and nobody gets another's."""
        key = hashlib.sha256(np.packbits(visible).tobytes() + len(visible).to_bytes(8, "little")).digest()
        with self._lock:
            mask = self._masks.get(key)
            if mask is not None:
                self._masks.move_to_end(key)
                return mask
        mask = self._index.make_mask(visible)
        with self._lock:
            self._masks[key] = mask
            while len(self._masks) > _KEPT_MASKS:
                self._masks.popitem(last=False)
        return mask
