"""What the steps of answering hand to each other. Frozen, so that a finding can be stored and replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    import numpy as np

# (texts, "query" | "passage") -> float32 array of shape (len(texts), dims), rows of length 1
Embed = Callable[[Sequence[str], str], "np.ndarray"]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by name; None is "not scored by this", which is not 0."""

    dense_cosine: float | None = None
    bm25: float | None = None
    rrf: float | None = None
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """One evidence item `[n]` (n from 1). `text` is exactly canonical[span_start:span_start + len(text)] of the revision."""

    n: int
    chunk_id: str
    revision_id: str
    document_id: str
    document: str  # relative path, as people know it
    heading_path: tuple[str, ...]
    text: str
    span_start: int
    locator: str
    text_sha256: str
    scores: Scores = field(default_factory=Scores)


@dataclass(frozen=True, slots=True)
class FactRow:
    """One value with its lineage, permitted to the asker. Keys are normalised (NFKC, case-folded, no space or punctuation)."""

    fact_id: str
    document_id: str
    document: str
    revision_id: str
    chunk_id: str
    subject: str
    field: str
    subject_key: str
    field_key: str
    value_text: str
    value: Decimal | None
    unit: str
    period: str
    locator: str
    span_start: int
    span_end: int


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Code points start..end (half-open) of `Passage.text` of evidence n."""

    n: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable sentence of the answer. `spans`: where it was read, empty for generated text."""

    id: str
    text: str
    markers: tuple[int, ...]
    spans: tuple[CitedSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is checked. `text` carries the markers `[n]`. `confidence` is on the scale named."""

    text: str
    claims: tuple[Claim, ...]
    confidence: float | None
    confidence_name: str
    mode: str  # "fact" | "extractive" | "llm"
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw. layer: L1, L2, L3, Q. outcome: ok, exists_only, stale, unsupported, failed. score None: not run or failed."""

    claim_id: str
    n: int | None
    layer: str
    outcome: str
    detail: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a conflict: what it says and where."""

    value: str
    document_id: str
    document: str
    revision_id: str
    chunk_id: str
    locator: str
    span_start: int  # in the revision's canonical text
    span_end: int
    quote: str


@dataclass(frozen=True, slots=True)
class ConflictReport:
    """What the audit of same-key sources saw. `sides` holds two or more when they disagree."""

    key: str
    sides: tuple[Side, ...]
    support_scope: str  # complete_permitted_subject_field_source_set | bounded_same_subject_search(n) | cited_evidence_only
    same_key_sources_checked: int

    @property
    def found(self) -> bool:
        return len(self.sides) > 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome. status: answered, partial, answered_unverified, abstained, failed. reason: a code, empty when answered."""

    status: str
    reason: str = ""
    removed_claims: tuple[str, ...] = ()
    detail: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerThresholds:
    """Every number that decides; a row of a versioned AnswerPolicy. None: the check is off. 0 is a threshold like any other (R07)."""

    min_dense_cosine: float | None = None
    min_bm25: float | None = None
    min_confidence: float | None = None
    min_entailment: float | None = None
    min_answers: float | None = None
    min_confidence_over_record: float = 0.6  # prose that may answer although a record of the subject lacks the field
    max_claims: int = 3
    stale_candidates: str = "refuse_all"  # or "drop"
    allow_unverified: bool = False
    extra: dict[str, float] = field(default_factory=dict)
