"""The Unigram tokenizer, rebuilt from the pieces of the weight file. Its version belongs to the embedding space.

A plain dictionary and a short best-path search: a sixth of the memory and a third of the load time of a compiled tokenizer, and far below the cost of the encoder.
"""

from __future__ import annotations

import unicodedata
from array import array
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rag4c.providers.e5.weights import Pieces

TOKENIZER_VERSION = 1
WORD_MARK = "▁"
SPECIAL_PIECES = frozenset({"<s>", "</s>", "<unk>", "<pad>", "<mask>", ""})
UNKNOWN_PENALTY = 10.0  # below the least likely piece, as the model was trained
CACHED_WORDS = 16_384  # about 5 MB; words of running text repeat, and cutting one costs 20 us
CACHED_CHARACTERS = 24  # Chinese runs between spaces are longer and do not repeat
ARRAYS = ("offsets", "scores", "blob", "map_from", "map_offsets", "map_to")


def save_pieces(path: Path, pieces: Pieces) -> None:
    """Write the vocabulary as plain arrays (.npz); no text format, because parsing 250,000 pieces costs seconds."""
    specials = np.array([pieces.bos, pieces.eos, pieces.unk], np.int64)
    with path.open("wb") as file:
        np.savez(file, specials=specials, **{name: getattr(pieces, name) for name in ARRAYS})


class E5Tokenizer:
    """Text to token ids, without the model's prefix and special tokens."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as arrays:
            self.bos, self.eos, self._unk = (int(value) for value in arrays["specials"])
            self._char_map = _read_char_map(arrays)
            self._ids = _read_vocabulary(arrays)
            scores: NDArray[np.float32] = arrays["scores"]
        self._scores = array("f", scores.tobytes())
        self._unknown_score = float(scores.min()) - UNKNOWN_PENALTY
        self._longest = _longest_by_first(self._ids)
        self._cut_word = lru_cache(CACHED_WORDS)(self._find_best_path)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`; empty when nothing but white space and ignorable characters is in it.

        Characters are composed first, since the file's map knows single characters only.
        """
        mapped = unicodedata.normalize("NFC", clean_text(text)).translate(self._char_map)
        ids: list[int] = []
        for word in mapped.replace(WORD_MARK, " ").strip().split(" "):
            if word:
                cut = self._cut_word if len(word) <= CACHED_CHARACTERS else self._find_best_path
                ids.extend(cut(WORD_MARK + word))
        return ids

    def _find_best_path(self, word: str) -> tuple[int, ...]:
        """The most likely cut of a word into pieces (Viterbi); of equals, the one found first from the left."""
        length = len(word)
        best, starts, found = [0.0] + [-float("inf")] * length, [0] * (length + 1), [self._unk] * (length + 1)
        for start in range(length):
            reached = best[start]
            if reached + self._unknown_score > best[start + 1]:
                best[start + 1], starts[start + 1], found[start + 1] = reached + self._unknown_score, start, self._unk
            for end in range(start + 1, min(length, start + self._longest.get(word[start], 0)) + 1):
                piece = self._ids.get(word[start:end])
                if piece is not None and (score := reached + self._scores[piece]) > best[end]:
                    best[end], starts[end], found[end] = score, start, piece
        return self._walk_back(starts, found)

    def _walk_back(self, starts: list[int], found: list[int]) -> tuple[int, ...]:
        ids: list[int] = []
        end = len(starts) - 1
        while end > 0:
            if found[end] != self._unk or not ids or ids[-1] != self._unk:  # a run of unknown characters is one token
                ids.append(found[end])
            end = starts[end]
        return tuple(reversed(ids))


def clean_text(text: str) -> str:
    """NUL becomes a space and a lone surrogate U+FFFD, so that nothing behind them is lost (R21)."""
    text = text.replace("\0", " ")
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _read_char_map(arrays: Mapping[str, NDArray[Any]]) -> dict[int, str]:
    borders = arrays["map_offsets"].tolist()
    targets = "".join(map(chr, arrays["map_to"].tolist()))
    return {source: targets[start:end] for source, (start, end) in zip(arrays["map_from"].tolist(), pairwise(borders), strict=True)}


def _read_vocabulary(arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """Piece to id. The special tokens are left out: a text that spells `</s>` must not end the input."""
    blob = arrays["blob"].tobytes()
    pieces = (blob[start:end].decode("utf-8", "replace") for start, end in pairwise(arrays["offsets"].tolist()))
    return {piece: index for index, piece in enumerate(pieces) if piece not in SPECIAL_PIECES}


def _longest_by_first(ids: Mapping[str, int]) -> dict[str, int]:
    """Characters in the longest piece that begins with a character: the search need not look further."""
    longest: dict[str, int] = {}
    for piece in ids:
        longest[piece[0]] = max(longest.get(piece[0], 0), len(piece))
    return longest
