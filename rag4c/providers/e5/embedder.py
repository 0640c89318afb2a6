"""The embedder: one text a run, long texts in even windows, and never a session that was inherited over a fork."""

from __future__ import annotations

import os
import threading
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rag4c.kernel.errors import Invalid
from rag4c.providers.e5.card import check_files, read_card
from rag4c.providers.e5.engine import OVERHEAD_TOKENS, PASSAGE_PREFIX, QUERY_PREFIX, Engine, load_engine, normalise
from rag4c.providers.e5.tokenizer import TOKENIZER_VERSION
from rag4c.providers.protocols import SpaceSpec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SPLIT_RULE = "even-windows-1"  # equal windows at token borders, each with the prefix; mean of their vectors weighted by tokens, length 1 again
MAX_WINDOWS = 32  # about 16,000 tokens; 20,000 words in one call took 27 s of a worker's lease
MAX_CHARACTERS = 200_000  # no text of 32 windows is longer; keeps the tokenizer from being fed a book


class E5Embedder:
    """multilingual-e5-small by onnxruntime. Loads at first use; threads of one process share it, a forked child loads its own."""

    def __init__(self, folder: Path, *, threads: int, batch_size: int) -> None:
        self._folder, self._threads, self._batch_size = folder, threads, batch_size
        self._card = read_card(folder)
        self._engines: dict[int, Engine] = {}
        self._locks: dict[int, threading.Lock] = {}

    @property
    def space(self) -> SpaceSpec:
        """The space of this conversion; two hosts with the same files have the same key."""
        card = self._card
        version = f"convert={card.converter_version};tokenizer={TOKENIZER_VERSION};split={SPLIT_RULE}"
        return SpaceSpec(card.model, card.dims, "l2", version, QUERY_PREFIX, PASSAGE_PREFIX, card.max_tokens, card.model_sha256)

    @property
    def max_tokens(self) -> int:
        """Text tokens that fit in one run."""
        return self._card.max_tokens - OVERHEAD_TOKENS

    @property
    def batch_size(self) -> int:
        """Texts a call should carry."""
        return self._batch_size

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of questions."""
        return self._embed(texts, QUERY_PREFIX)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of passages."""
        return self._embed(texts, PASSAGE_PREFIX)

    def count_tokens(self, text: str) -> int:
        """Tokens of the text alone."""
        return len(self._engine().tokenizer.encode(text))

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self._card.dims), np.float32)
        if not texts:
            return vectors
        engine = self._engine()
        token_ids = [self._read_tokens(engine, index, text) for index, text in enumerate(texts)]  # all are refused or none
        for index, ids in enumerate(token_ids):
            vectors[index] = self._embed_windows(engine, ids, prefix)
        return vectors

    def _read_tokens(self, engine: Engine, index: int, text: str) -> list[int]:
        if len(text) > MAX_CHARACTERS:
            raise Invalid("text_too_long", "Split the text before embedding it.", {"index": index, "characters": len(text), "limit": MAX_CHARACTERS})
        ids = engine.tokenizer.encode(text)
        if not ids:
            raise Invalid("empty_text", "There is nothing to embed in the text.", {"index": index})
        if len(ids) > (limit := MAX_WINDOWS * self.max_tokens):
            raise Invalid("text_too_long", "Split the text before embedding it.", {"index": index, "tokens": len(ids), "limit": limit})
        return ids

    def _embed_windows(self, engine: Engine, ids: list[int], prefix: str) -> NDArray[np.float32]:
        total = np.zeros(self._card.dims, np.float64)
        for window in split_evenly(ids, self.max_tokens):
            total += len(window) * engine.embed_window(window, prefix)
        return normalise(total).astype(np.float32)

    def _engine(self) -> Engine:
        """The engine of this process. Keyed by process id, since sessions and locks of a parent hang in its children.

        What stays the caller's: a child of a parent that loaded onnxruntime must leave by os._exit, as multiprocessing and Celery's children do;
        onnxruntime's own exit handler waits for ever there. So load in the worker, not in its parent.
        """
        process_id = os.getpid()
        engine = self._engines.get(process_id)
        if engine is None:
            with self._locks.setdefault(process_id, threading.Lock()):
                engine = self._engines.get(process_id) or self._load_engine()
                self._engines[process_id] = engine
        return engine

    def _load_engine(self) -> Engine:
        check_files(self._folder, self._card)  # against the card read first: the space never changes below a running process
        return load_engine(self._folder, self._threads)


def split_evenly(ids: list[int], window_tokens: int) -> list[list[int]]:
    """As few windows as possible, whose sizes differ by one token at most, so that no short rest gets a vector of its own."""
    count = -(-len(ids) // window_tokens)
    borders = [len(ids) * number // count for number in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(borders)]
