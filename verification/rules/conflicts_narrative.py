"""Sentences of other documents that answer the same question with another value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.extract_features import Candidate, list_candidates, prefilter, score_vectors, score_words, weigh_words
from verification.rules.extract_model import rate_candidate
from verification.rules.lexicon_words import cover_of, prepare_text, read_words
from verification.rules.numbers import Quantity, read_quantities, same_quantity
from verification.rules.question_types import QUANTITY_TYPES, fitting_quantities, is_negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Draft, Embed, Passage
    from verification.rules.question import QuestionReading

SAME_TEMPLATE = 0.75  # share of words two sentences have in common when they are one statement with another value
_FREQUENCIES = {
    "annual": "year",
    "annually": "year",
    "yearly": "year",
    "monthly": "month",
    "weekly": "week",
    "daily": "day",
    "每年": "year",
    "每月": "month",
    "每周": "week",
}
_FREQUENCY = re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in _FREQUENCIES), re.I)
_ONLY = re.compile(r"\bonly\b|\bsolely\b|\bexclusively\b|仅|只(?!要|有)", re.I)
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
    candidates = list_candidates(_promising(reading, passages))
    score_words(reading, candidates, weigh_words(reading, passages[:12]))
    chosen = _chosen(draft, candidates)
    if chosen is None:
        return None, []
    others = [other for other in candidates if _is_comparable(reading, chosen, other, limits)]
    kept = prefilter(others, limit=8)
    score_vectors(reading, [chosen, *kept], embed)
    return chosen, [other for other in kept if _is_rival(reading, chosen, other, embed, limits)]


def _promising(reading: QuestionReading, passages: Sequence[Passage]) -> list[Passage]:
    """Passages that carry at least a third of the question's words; the cited ones are always among the first."""
    kept = []
    for place, passage in enumerate(passages):
        text = prepare_text("\n".join((*passage.heading_path, passage.text)))
        held = sum(cover_of(word, text) >= 0.7 for word in reading.words)
        if place < 12 or held * 3 >= len(reading.words):
            kept.append(passage)
    return kept


def _chosen(draft: Draft, candidates: Sequence[Candidate]) -> Candidate | None:
    spans = [span for claim in draft.claims for span in claim.spans]
    cited = [
        candidate
        for candidate in candidates
        if any(span.n == candidate.passage.n and span.start < candidate.unit.end and candidate.unit.start < span.end for span in spans)
    ]
    return max(cited, key=lambda candidate: candidate.values["cov_sent"] + candidate.values["type"], default=None)


def _is_comparable(reading: QuestionReading, chosen: Candidate, other: Candidate, limits: ConflictLimits) -> bool:
    if other.passage.document_id == chosen.passage.document_id and share_of_words(chosen.text, other.text) < SAME_TEMPLATE:
        return False
    if other.text == chosen.text or not differs(reading, chosen, other):
        return False
    cover = max(other.values["cov_near"], other.values["cov_sent"])
    return cover >= limits.min_cover_share * chosen.values["cov_near"] and other.values["hard_ctx"] >= chosen.values["hard_ctx"] - 0.01


def _is_rival(reading: QuestionReading, chosen: Candidate, other: Candidate, embed: Embed, limits: ConflictLimits) -> bool:
    mine, theirs = (rate_candidate(candidate.values, reading.lang) for candidate in (chosen, other))
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
    return fitting_quantities(reading.answer_type, read_quantities(candidate.text), reading.quantities)


def _disagree(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """No value in common, and at least one pair of the same kind that could have been equal."""
    if any(same_quantity(a, b) for a in mine for b in theirs):
        return False
    return any(a.kind == b.kind for a in mine for b in theirs)


def _numbers_differ(a: str, b: str) -> bool:
    mine, theirs = read_quantities(a), read_quantities(b)
    return bool(mine and theirs) and any(
        not any(same_quantity(one, two) for two in theirs) and any(one.kind == two.kind for two in theirs) for one in mine
    )


def _polarity_differs(a: str, b: str) -> bool:
    if share_of_words(a, b) >= SAME_TEMPLATE and _negation(a) != _negation(b):
        return True
    frequencies = [{_FREQUENCIES[found[0].casefold()] for found in _FREQUENCY.finditer(text)} for text in (a, b)]
    if all(frequencies) and not frequencies[0] & frequencies[1]:
        return True
    return share_of_words(a, b) >= SAME_TEMPLATE and bool((_MUST.search(a) and _MAY.search(b)) or (_MAY.search(a) and _MUST.search(b)))


def _negation(text: str) -> bool:
    return is_negated(text, "en") or is_negated(text, "zh")
