"""Sentences of other documents that answer the same question with another value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.extract_cover import Candidate, list_candidates, prefilter, score_cover, weigh_words
from verification.rules.extract_features import score_details, score_vectors
from verification.rules.extract_model import rate_rank
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import read_words
from verification.rules.numbers import Quantity, fold_width, same_quantity
from verification.rules.question_types import QUANTITY_TYPES, fitting_quantities, is_negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Draft, Embed, Passage
    from verification.rules.question import QuestionReading

SAME_TEMPLATE = 0.75  # share of words two sentences have in common when they are one statement with another value
ALWAYS_READ = 12  # passages of the evidence pack, read whole; the others only where they carry half of the question's words
MAX_COMPARED = 8
_FREQUENCIES = {
    "annual": "year", "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day",
    "每年": "year", "每月": "month", "每周": "week", "每天": "day", "每日": "day",
}  # fmt: skip
_FREQUENCY = re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in _FREQUENCIES), re.I)
_MUST = re.compile(r"\b(?:must|required to|have to|has to|shall|need to)\b|必须|应当|须", re.I)
_MAY = re.compile(r"\b(?:may|can|optional(?:ly)?|not required|do not need|does not need|need not)\b|可以|可选|不必|无需", re.I)


@dataclass(frozen=True, slots=True)
class ConflictLimits:
    """When two sentences are taken to answer the same question."""

    min_confidence_share: float = 0.5
    min_confidence: float = 0.1
    min_cover_share: float = 0.8
    min_sentence_similarity: float = 0.86


def find_rivals(
    reading: QuestionReading, draft: Draft, passages: Sequence[Passage], embed: Embed, limits: ConflictLimits
) -> tuple[Candidate | None, list[Candidate]]:
    """The candidate that the draft cites, and the others that answer the same with another value."""
    candidates = [candidate for candidate in list_candidates(_promising(reading, passages)) if _may_answer(reading, candidate)]
    weights = weigh_words(reading, passages[:ALWAYS_READ])
    cited = _cited(draft, candidates)
    score_cover(reading, candidates, weights)
    score_details(reading, cited, weights)
    chosen = max(cited, key=lambda candidate: candidate.values["cov_sent"] + candidate.values["type"], default=None)
    if chosen is None:
        return None, []
    others = [other for other in candidates if _is_comparable(reading, chosen, other, limits)]
    kept = prefilter(reading, others, limit=MAX_COMPARED)
    score_details(reading, kept, weights)
    score_vectors(reading, [chosen, *kept], embed)
    return chosen, [other for other in kept if _is_rival(chosen, other, embed, limits)]


def _promising(reading: QuestionReading, passages: Sequence[Passage]) -> list[Passage]:
    """The evidence pack, and of the rest the passages that carry half of the question's words."""
    return [
        passage
        for place, passage in enumerate(passages)
        if place < ALWAYS_READ or _rough_cover(reading, "\n".join((*passage.heading_path, passage.text))) >= 0.5
    ]


def _may_answer(reading: QuestionReading, candidate: Candidate) -> bool:
    return candidate.rank < ALWAYS_READ or _rough_cover(reading, candidate.near) >= 0.34


def _rough_cover(reading: QuestionReading, text: str) -> float:
    """Share of question words whose beginning occurs anywhere: a cheap look before the careful one."""
    folded = fold_width(text).casefold() if not text.isascii() else text.casefold()
    roots = [word.key if word.is_number or not word.key.isascii() else word.key[: max(3, len(word.key) - 1)] for word in reading.words]
    return sum(root in folded for root in roots) / len(roots) if roots else 0.0


def _cited(draft: Draft, candidates: Sequence[Candidate]) -> list[Candidate]:
    spans = [span for claim in draft.claims for span in claim.spans]
    return [
        candidate
        for candidate in candidates
        if any(span.n == candidate.passage.n and span.start < candidate.unit.end and candidate.unit.start < span.end for span in spans)
    ]


def _is_comparable(reading: QuestionReading, chosen: Candidate, other: Candidate, limits: ConflictLimits) -> bool:
    cover = max(other.values["cov_near"], other.values["cov_sent"])
    if cover < limits.min_cover_share * chosen.values["cov_near"] or other.values["hard_ctx"] < chosen.values["hard_ctx"] - 0.01:
        return False
    if other.text == chosen.text:
        return False
    if other.passage.document_id == chosen.passage.document_id and share_of_words(chosen.text, other.text) < SAME_TEMPLATE:
        return False
    return differs(reading, chosen, other)


def _is_rival(chosen: Candidate, other: Candidate, embed: Embed, limits: ConflictLimits) -> bool:
    mine, theirs = rate_rank(chosen.values), rate_rank(other.values)
    if theirs < max(limits.min_confidence, limits.min_confidence_share * mine):
        return False
    rows = embed([chosen.text, other.text], "passage")
    return float(rows[0] @ rows[1]) >= limits.min_sentence_similarity


def share_of_words(a: str, b: str) -> float:
    """Words in common over the shorter of two texts."""
    first, second = ({word.key for word in read_words(text) if not word.is_number} for text in (a, b))
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def differs(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """Whether both sentences state a value of the asked kind and the values disagree."""
    if reading.answer_type in QUANTITY_TYPES:
        mine, theirs = (_values(reading, candidate) for candidate in (chosen, other))
        return bool(mine and theirs) and _disagree(mine, theirs)
    if reading.answer_type == "yes_no":
        return _polarity_differs(chosen.text, other.text)
    if share_of_words(chosen.text, other.text) >= SAME_TEMPLATE:
        return _numbers_differ(chosen.text, other.text) or _polarity_differs(chosen.text, other.text)
    return False


def _values(reading: QuestionReading, candidate: Candidate) -> tuple[Quantity, ...]:
    return fitting_quantities(reading.answer_type, find_quantities(candidate.text), reading.quantities)


def _disagree(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """No value in common, and at least one pair of the same kind that could have been equal."""
    if any(same_quantity(a, b) for a in mine for b in theirs):
        return False
    return any(a.kind == b.kind for a in mine for b in theirs)


def _numbers_differ(a: str, b: str) -> bool:
    mine, theirs = find_quantities(a), find_quantities(b)
    return bool(mine and theirs) and any(
        not any(same_quantity(one, two) for two in theirs) and any(one.kind == two.kind for two in theirs) for one in mine
    )


def _polarity_differs(a: str, b: str) -> bool:
    is_same = share_of_words(a, b) >= SAME_TEMPLATE
    if is_same and _negation(a) != _negation(b):
        return True
    mine, theirs = ({_FREQUENCIES[found[0].casefold()] for found in _FREQUENCY.finditer(text)} for text in (a, b))
    if mine and theirs and not mine & theirs:
        return True
    return is_same and bool((_MUST.search(a) and _MAY.search(b)) or (_MAY.search(a) and _MUST.search(b)))


def _negation(text: str) -> bool:
    return is_negated(text, "en") or is_negated(text, "zh")
