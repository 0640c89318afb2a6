"""What one process loads of the converted model: tokenizer, mapped word table and the encoder's session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rag4c.kernel.errors import Invalid
from rag4c.providers.e5.card import ENCODER_FILE, PIECES_FILE, WORDS_FILE
from rag4c.providers.e5.tokenizer import E5Tokenizer
from rag4c.providers.e5.words import WordTable

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "
OVERHEAD_TOKENS = 5  # begin, end and the three tokens of the longer prefix


@dataclass(frozen=True, slots=True)
class Engine:
    """Loaded parts; safe to share between threads, never between processes."""

    tokenizer: E5Tokenizer
    words: WordTable
    session: Any
    prefixes: dict[str, list[int]]

    def embed_window(self, ids: list[int], prefix: str) -> NDArray[np.float64]:
        """The vector of length 1 of text tokens that fit in one run, behind the prefix."""
        tokens = [self.tokenizer.bos, *self.prefixes[prefix], *ids, self.tokenizer.eos]
        mean = self.session.run(["mean"], {"words": self.words.look_up(tokens)[None]})[0][0]
        return normalise(mean.astype(np.float64))


def normalise(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vector of length 1 in the same direction."""
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def load_engine(folder: Path, threads: int) -> Engine:
    """Load a converted model's files. Args: threads: that one run may use.

    Raises: Invalid("model_broken") when the tokenizer does not give the prefixes the length that the windows count on.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / ENCODER_FILE), options, providers=["CPUExecutionProvider"])
    tokenizer = E5Tokenizer(folder / PIECES_FILE)
    prefixes = {prefix: tokenizer.encode(prefix) for prefix in (QUERY_PREFIX, PASSAGE_PREFIX)}
    if max(map(len, prefixes.values())) + 2 != OVERHEAD_TOKENS:
        raise Invalid("model_broken", "The prefixes have another length than the model was built for.")
    return Engine(tokenizer, WordTable(folder / WORDS_FILE), session, prefixes)
