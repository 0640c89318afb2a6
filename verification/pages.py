"""What the pages show, cut from the api's dataclasses: the answer in pieces with its markers, the cited lines with their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from verification.reasons import NOTHING, PASSAGES, find_reason

if TYPE_CHECKING:
    from collections.abc import Collection

    from verification.api.contract import AnswerView, CitationView, CitedDocument, ClaimView

_MARKER: Final = re.compile(r"\[([1-9]\d{0,3})\]")
_FIRST_LINE: Final = re.compile(r"(?:part=[\d.]+,)?L([1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of the answer's text, or a marker when `n` is not 0."""

    text: str
    n: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A run of one line. anchor: where the span starts, on its first part; empty elsewhere."""

    text: str
    is_cited: bool = False
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the cited document. number: None when the place is not given in lines. is_first: the first cited line."""

    number: int | None
    parts: tuple[Part, ...]
    is_first: bool = False

    @property
    def is_cited(self) -> bool:
        return any(part.is_cited for part in self.parts)

    @property
    def cited(self) -> str:
        return "".join(part.text for part in self.parts if part.is_cited)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A cited span inside the text that is shown."""

    start: int
    end: int
    anchor: str


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """One answer, ready for its template."""

    view: AnswerView
    pieces: tuple[Piece, ...]
    checked: int
    kept: tuple[ClaimView, ...]
    removed: tuple[ClaimView, ...]
    citations: tuple[CitationView, ...]
    sentence: str
    next_step: str
    passages: tuple[CitationView, ...]
    shows_quotes: bool
    copy_text: str

    @property
    def is_answer(self) -> bool:
        return self.view.status in {"answered", "partial", "answered_unverified"}

    @property
    def total(self) -> int:
        return len(self.kept) + len(self.removed)


def build_answer_page(view: AnswerView, language: str) -> AnswerPage:
    reason = find_reason(view.reason)
    removed = tuple(claim for claim in view.claims if claim.state == "unsupported")
    kept = tuple(claim for claim in view.claims if claim.state != "unsupported")
    cited = {citation.n for citation in view.citations}
    return AnswerPage(
        view=view,
        pieces=split_markers(view.answer, cited),
        checked=sum(claim.state == "ok" for claim in view.claims),
        kept=kept,
        removed=removed,
        citations=tuple({(citation.n, citation.span, citation.evidence_id): citation for citation in view.citations}.values()),
        sentence=reason.sentence.say(language, view.reason_detail),
        next_step=reason.next_step.say(language, view.reason_detail),
        passages=view.passages if reason.shows != NOTHING else (),
        shows_quotes=reason.shows == PASSAGES,
        copy_text=_copy_text(view),
    )


def split_markers(answer: str, cited: Collection[int]) -> tuple[Piece, ...]:
    """The answer's text with each `[n]` that has a citation as a piece of its own; other brackets stay text."""
    pieces: list[Piece] = []
    at = 0
    for match in _MARKER.finditer(answer):
        if int(match[1]) not in cited:
            continue
        if match.start() > at:
            pieces.append(Piece(answer[at : match.start()]))
        pieces.append(Piece(match[0], int(match[1])))
        at = match.end()
    if at < len(answer):
        pieces.append(Piece(answer[at:]))
    return tuple(pieces)


def split_lines(document: CitedDocument, citations: Collection[CitationView]) -> tuple[Line, ...]:
    """The text in lines with every span marked that `[n]` stands for, not the first one only (R01).

    Args: citations: those of the answer.
    """
    text = document.before + document.cited + document.after
    marks = _find_marks(document, text, [citation for citation in citations if citation.n == document.n])
    number = _first_number(document)
    lines: list[Line] = []
    at, is_marked = 0, False
    for raw in text.split("\n"):
        parts = _cut_line(raw, at, marks)
        is_first = not is_marked and any(part.is_cited for part in parts)
        is_marked = is_marked or is_first
        lines.append(Line(None if number is None else number + len(lines), parts, is_first))
        at += len(raw) + 1
    return tuple(lines)


def _find_marks(document: CitedDocument, text: str, citations: list[CitationView]) -> list[_Mark]:
    """Spans are code points of the whole document: the first of them stands where `document.cited` does. One that is not shown is left out."""
    start = len(document.before)
    first = min((citation.span[0] for citation in citations), default=0)
    spans = {(start, start + len(document.cited)): first}
    for citation in citations:
        low, high = (start + edge - first for edge in citation.span)
        if text[low:high] == citation.quote:
            spans[low, high] = citation.span[0]
    marks: list[_Mark] = []
    for (low, high), anchor in sorted(spans.items()):
        free = max(low, marks[-1].end) if marks else low
        if free < high:
            marks.append(_Mark(free, high, f"at-{anchor}"))
    return marks


def _cut_line(raw: str, at: int, marks: list[_Mark]) -> tuple[Part, ...]:
    parts: list[Part] = []
    done = 0
    for mark in marks:
        low, high = (min(max(edge - at, 0), len(raw)) for edge in (mark.start, mark.end))
        if low >= high:
            continue
        parts.append(Part(raw[done:low]))
        parts.append(Part(raw[low:high], is_cited=True, anchor=mark.anchor if mark.start >= at else ""))
        done = high
    parts.append(Part(raw[done:]))
    return tuple(part for part in parts if part.text)


def _first_number(document: CitedDocument) -> int | None:
    """Number of the first line shown, by the locator of the cited part; none where the text's lines are not those of the file."""
    match = _FIRST_LINE.match(document.locator)
    return None if match is None or not document.has_source_lines else int(match[1]) - document.before.count("\n")


def _copy_text(view: AnswerView) -> str:
    sources = [f"[{citation.n}] {citation.document}, {citation.locator}" for citation in view.citations if not citation.is_withheld]
    return "\n".join([view.question, "", view.answer, "", *sources])
