"""The answer as everybody sees it: API, page, command line and Python get this one object (answering.md "Answer object")."""

from __future__ import annotations

import uuid  # noqa: TC003  # evaluated by the API's serializers
from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003

__all__ = ["AnswerView", "CitationView", "CitedDocument", "ClaimView", "ConflictSide", "LifelineStep", "LifelineView", "SourceView"]


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One checkable sentence. state: ok, exists_only, stale or unsupported."""

    text: str
    markers: tuple[int, ...]
    state: str


@dataclass(frozen=True, slots=True)
class CitationView:
    """What `[n]` points to. is_withheld: the reader may not see this source any more; then everything but `n` is empty.

    span: code points of the revision's canonical text. sha256: of the cited span. state: as stored; current_state: as checked at this read.
    """

    n: int
    evidence_id: str
    document_id: str
    document: str
    revision_id: str
    locator: str
    span: tuple[int, int]
    sha256: str
    modality: str
    support_type: str
    state: str
    current_state: str
    quote: str
    is_withheld: bool = False


@dataclass(frozen=True, slots=True)
class SourceView:
    """A document that the answer rests on, each once."""

    document_id: str
    document: str
    locator: str


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One side of a conflict, with the citation number under which it can be opened."""

    n: int
    value: str
    document: str
    locator: str
    quote: str


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer or an abstention, cut by the reader's present grant. status and reason are separate fields (SYS-B6)."""

    answer_id: uuid.UUID
    question: str
    asked_at: datetime
    status: str
    reason: str
    reason_detail: dict[str, str]
    answer: str
    claims: tuple[ClaimView, ...]
    citations: tuple[CitationView, ...]
    sources: tuple[SourceView, ...]
    conflict: tuple[ConflictSide, ...]
    passages: tuple[CitationView, ...]  # shown beside an abstention: the nearest passages, never as support
    support_scope: str
    same_key_sources_checked: int
    confidence: float | None
    confidence_name: str
    policy_rev: str
    visible_sha256: str
    context_manifest_id: uuid.UUID | None
    degraded: tuple[str, ...]
    timings_ms: dict[str, int]
    lifeline_url: str
    channel: str


@dataclass(frozen=True, slots=True)
class LifelineStep:
    """One step of the path answer <- claim <- citation <- evidence <- projection <- chunk <- revision <- parse <- document <- source."""

    kind: str  # claim, citation, evidence, projection, chunk, revision, parse, document or source
    title: str
    facts: tuple[tuple[str, str], ...]  # label, value
    checked: str = ""  # against what, and what came of it


@dataclass(frozen=True, slots=True)
class LifelineView:
    """The Knowledge Lifeline of one answer: a path for each citation, and the checks of each claim."""

    answer_id: uuid.UUID
    status: str
    reason: str
    paths: tuple[tuple[LifelineStep, ...], ...]
    findings: tuple[tuple[str, str, str, str], ...]  # claim number, layer, outcome, detail
    answered_with: tuple[tuple[str, str], ...] = field(default_factory=tuple)  # policy, manifest, visible set …


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """The original text around a citation: lines before, the cited part, lines after."""

    n: int
    document: str
    locator: str
    revision_number: int
    state: str
    has_source_lines: bool  # whether the text's lines are those of the file: not so for formats whose text is extracted
    before: str
    cited: str
    after: str
    previous_n: int | None
    next_n: int | None
