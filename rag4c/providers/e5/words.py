"""The word table, kept as 4-bit blocks in a memory-mapped file: exact, small, and shared by all processes of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

ZERO_POINT = 8  # a stored 4-bit weight w means (w - 8) * scale


def unpack_blocks(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Weights of (rows, blocks, 18) as float32 (rows, blocks * 32): byte j holds weights j (low half) and j + 16 (high half)."""
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32)
    packed = blocks[..., 2:]
    weights = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32)
    return ((weights - ZERO_POINT) * scales).reshape(len(blocks), -1)


class WordTable:
    """Looks up word vectors; only the pages that are asked for are read."""

    def __init__(self, path: Path) -> None:
        self._blocks: NDArray[np.uint8] = np.load(path, mmap_mode="r")

    def look_up(self, token_ids: Sequence[int]) -> NDArray[np.float32]:
        """(tokens, hidden) float32."""
        return unpack_blocks(self._blocks[np.asarray(token_ids, np.int64)])
