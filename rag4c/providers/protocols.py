"""What a provider of each kind must offer. Calls that leave the process are wrapped by retry, breaker and deadline elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

HALFVEC_MAX_DIMS = 4_000  # pgvector: most dimensions of a halfvec that an HNSW index takes
KEY_DIGITS = 16  # 64 bits: spaces are counted in tens


@dataclass(frozen=True, slots=True)
class SpaceSpec:
    """All that decides what a vector means; vectors of different keys are never compared.

    Args: normalisation: "l2". version: converter, tokenizer and split rule. max_tokens: of the model, prefix and special tokens included.
    Raises: Invalid("dims_unsupported") before anything is created with such a space (R18).
    """

    model: str
    dims: int
    normalisation: str
    version: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    model_sha256: str

    def __post_init__(self) -> None:
        if not 1 <= self.dims <= HALFVEC_MAX_DIMS:
            data = {"dims": self.dims, "max_dims": HALFVEC_MAX_DIMS}
            raise Invalid("dims_unsupported", f"Choose a model with at most {HALFVEC_MAX_DIMS} dimensions.", data)

    @property
    def key(self) -> str:
        """16 hex digits over all fields, the same on every machine."""
        return digest_of({name: getattr(self, name) for name in self.__slots__})[:KEY_DIGITS]


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors of one space.

    Attributes: max_tokens: text tokens, as `count_tokens` counts them, that fit in one run; longer texts are split by the rule in `space.version`.
    batch_size: texts a call should carry, so that leases and deadlines can be kept between calls.
    """

    @property
    def space(self) -> SpaceSpec:
        """The space that the vectors belong to."""

    @property
    def max_tokens(self) -> int:
        """Text tokens that fit in one run."""

    @property
    def batch_size(self) -> int:
        """Texts a call should carry."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dims) float32, rows of length 1, with the query prefix.

        Raises: Invalid("empty_text" | "text_too_long") with the index in data; Absent("model_missing").
        """

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed_queries`, with the passage prefix."""

    def count_tokens(self, text: str) -> int:
        """Tokens of the text alone, without prefix and special tokens; adding up over parts is right to a token or two."""


@runtime_checkable
class Reranker(Protocol):
    """Scores passages against a question. Its scores are compared with thresholds named `rerank` only."""

    @property
    def model(self) -> str:
        """Model id, recorded with each score."""

    def score_passages(self, question: str, passages: Sequence[str]) -> list[float | None]:
        """One score a passage, in order; None where the model gave none (None is not 0)."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn. role: "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A finished reply. finish_reason as the provider names it: "length" means that it was cut."""

    content: str
    finish_reason: str
    prompt_tokens: int | None
    reply_tokens: int | None


@runtime_checkable
class ChatModel(Protocol):
    """Writes text from messages."""

    @property
    def model(self) -> str:
        """Model id, recorded with each reply."""

    def complete_chat(self, messages: Sequence[ChatMessage], *, max_tokens: int, timeout_s: float) -> ChatReply:
        """A whole reply. Raises: Unavailable when another attempt may help, Invalid when it will not."""

    def stream_chat(self, messages: Sequence[ChatMessage], *, max_tokens: int, timeout_s: float) -> Iterator[str]:
        """The reply in pieces, in order. Raises as `complete_chat`, also midway."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """verdict: "supported", "contradicted" or "unknown"; an unreadable judgement is "unknown", never a pass."""

    verdict: str
    score: float | None


@runtime_checkable
class Judge(Protocol):
    """Decides whether evidence carries a claim."""

    @property
    def model(self) -> str:
        """Model id, recorded with each judgement."""

    def judge_claim(self, claim: str, evidence: Sequence[str]) -> Judgement:
        """Entailment of one claim by its cited evidence."""


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text with its corners (x0, y0, x1, y1) in pixels; confidence 0 to 1, None when unknown."""

    text: str
    box: tuple[float, float, float, float]
    confidence: float | None


@runtime_checkable
class Ocr(Protocol):
    """Reads text from an image."""

    @property
    def model(self) -> str:
        """Model id, recorded with each parse."""

    def read_lines(self, image: bytes, **options: Any) -> list[OcrLine]:
        """Lines in reading order; empty when there is no text."""
