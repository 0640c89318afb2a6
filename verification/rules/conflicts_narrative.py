"""Sentences of other documents that answer the same question with another value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.extract_contrary import rate_hint_near
from verification.rules.extract_cover import Candidate, context_of, list_candidates, prefilter, score_cover, title_of, weigh_words
from verification.rules.extract_features import score_details, score_vectors
from verification.rules.extract_model import rate_rank
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import cover_of, prepare_text, read_words
from verification.rules.numbers import Quantity, covers_quantity, fold_width, same_quantity
from verification.rules.question_types import QUANTITY_TYPES, fitting_quantities, is_negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Draft, Embed, Passage
    from verification.rules.question import QuestionReading

SAME_TEMPLATE = 0.75  # share of words two sentences have in common when they are one statement with another value
TWIN_WORDS = 0.85
ALWAYS_READ = 12  # passages of the evidence pack, read whole; the others only where they carry half of the question's words
MAX_COMPARED = 8
LONG_TWIN_WORDS = 6
MORE_MISSING = 0.35  # on the scale of the heaviest question word
_FREQUENCIES = {
    "annual": "year", "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day",
    "每年": "year", "每月": "month", "每周": "week", "每天": "day", "每日": "day",
}  # fmt: skip
_FREQUENCY = re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in _FREQUENCIES), re.I)
_VALUE_WORDS = frozenset(["only", "just", "solely", "always", "never", "not", "must", "may", "annual", "只", "仅", "必须", "可以", "不"])
_BOUNDS = {
    "lower": re.compile(r"\bat least\b|\bminimum\b|\bno (?:less|fewer) than\b|至少|最少|不少于|下限", re.I),
    "upper": re.compile(r"\bat most\b|\bmaximum\b|\bno more than\b|\bup to\b|至多|最多|不超过|上限", re.I),
}
_MUST = re.compile(r"\b(?:must|required to|have to|has to|shall|need to)\b|必须|应当|须", re.I)
_MAY = re.compile(r"\b(?:may|can|optional(?:ly)?|not required|do not need|does not need|need not)\b|可以|可选|不必|无需", re.I)


@dataclass(frozen=True, slots=True)
class ConflictLimits:
    """When two sentences are taken to answer the same question.

    By the question: the other covers its words and is rated nearly as well. By the statement: the two say nearly the same of the same names.
    Similarities belong to the embedding space.
    """

    min_rank_share: float = 0.5
    min_rank: float = 0.1
    min_cover_share: float = 0.8
    min_similarity: float = 0.86
    min_cover_share_of_twin: float = 0.4
    min_similarity_of_twin: float = 0.93


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
    return chosen, [other for other in kept if _is_rival(reading, chosen, other, embed, limits)]


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
    if other.text == chosen.text or other.values["hard_ctx"] < chosen.values["hard_ctx"] - 0.01:
        return False
    if not _has_subject(reading, chosen, other):
        return False
    if _cover_share(reading, chosen, other) < min(limits.min_cover_share, limits.min_cover_share_of_twin):
        return False
    if other.passage.document_id == chosen.passage.document_id and share_of_words(chosen.text, other.text) < SAME_TEMPLATE:
        return False
    return differs(reading, chosen, other)


def _has_subject(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """Whether the other passage names what the question is about, as far as the chosen one does; long twins are about the same anyway."""
    titles = prepare_text("\n".join((title_of(chosen.passage), *chosen.passage.heading_path)))
    said, there = prepare_text(chosen.text), prepare_text(context_of(other.passage))
    named = [word for word in reading.words if cover_of(word, titles) >= 0.75 > cover_of(word, said)]
    if any(cover_of(word, there) < 0.5 for word in named):
        return False  # the chosen sentence leaves its subject to the heading, and the other stands under another one
    if reading.answer_type == "yes_no" or (len(read_words(other.text)) >= LONG_TWIN_WORDS and is_twin(chosen.text, other.text)):
        return True
    return other.values["worst_ctx"] <= chosen.values["worst_ctx"] + MORE_MISSING


def _cover_share(reading: QuestionReading, chosen: Candidate, other: Candidate) -> float:
    """How much of what the chosen sentence covers the other covers too. Of a yes/no question the asserted value does not count: it may differ."""
    if reading.answer_type == "yes_no":
        words = [word for word in reading.words if not (_FREQUENCY.fullmatch(word.text) or word.is_number or word.text.casefold() in _VALUE_WORDS)]
        mine, theirs = (sum(cover_of(word, prepare_text(side.near)) for word in words) for side in (chosen, other))
        return theirs / mine if mine else 0.0
    mine = chosen.values["cov_near"]
    return max(other.values["cov_near"], other.values["cov_sent"]) / mine if mine else 0.0


def _is_rival(reading: QuestionReading, chosen: Candidate, other: Candidate, embed: Embed, limits: ConflictLimits) -> bool:
    rows = embed([chosen.text, other.text], "passage")
    similarity = float(rows[0] @ rows[1])
    if similarity >= limits.min_similarity_of_twin and other.values["hard_near"] >= chosen.values["hard_near"] - 0.01:
        return True
    if similarity < limits.min_similarity or _cover_share(reading, chosen, other) < limits.min_cover_share:
        return False
    if reading.answer_type == "yes_no":
        return True
    return rate_rank(other.values) >= max(limits.min_rank, limits.min_rank_share * rate_rank(chosen.values))


def share_of_words(a: str, b: str) -> float:
    """Words in common over the shorter of two texts."""
    first, second = ({word.key for word in read_words(text) if not word.is_number} for text in (a, b))
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def differs(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """Whether both sentences state a value of the asked kind and the values disagree, or they are one statement with another number."""
    if is_twin(chosen.text, other.text):
        return _twin_differs(reading, chosen.text, other.text)
    if reading.answer_type in QUANTITY_TYPES:
        mine, theirs = (_values(reading, candidate) for candidate in (chosen, other))
        if _bounds(chosen.text) and _bounds(other.text) and not _bounds(chosen.text) & _bounds(other.text):
            return False  # at least 3 and at most 9 do not disagree
        if reading.answer_type == "number" and not _counts_the_same(reading, chosen.text, mine, other.text, theirs):
            return False
        return bool(mine and theirs) and _disagree(_main_value(reading, chosen, mine), theirs)
    if reading.answer_type == "yes_no":
        return _polarity_differs(chosen.text, other.text)
    return share_of_words(chosen.text, other.text) >= SAME_TEMPLATE and _polarity_differs(chosen.text, other.text)


def _values(reading: QuestionReading, candidate: Candidate) -> tuple[Quantity, ...]:
    return fitting_quantities(reading.answer_type, find_quantities(candidate.text), reading.quantities)


def _bounds(text: str) -> set[str]:
    return {name for name, pattern in _BOUNDS.items() if pattern.search(text)}


def _counts_the_same(reading: QuestionReading, mine: str, my_values: Sequence[Quantity], theirs: str, their_values: Sequence[Quantity]) -> bool:
    """Whether both sentences count the thing asked for; 3 roles and 1 person do not disagree."""
    sides = ((mine, my_values), (theirs, their_values))
    return not reading.unit_hints or all(rate_hint_near(reading, text, values) >= 1.0 for text, values in sides)


def _main_value(reading: QuestionReading, candidate: Candidate, values: Sequence[Quantity]) -> Quantity:
    """The value that stands nearest to the words of the question."""
    places = [word.start for word in read_words(candidate.text) if word.key in reading.word_keys] or [0]
    return min(values, key=lambda value: min(abs(place - value.start) for place in places))


def _disagree(main: Quantity, theirs: Sequence[Quantity]) -> bool:
    """The main value is not among the others, although some are of its kind."""
    if any(same_quantity(main, other) or covers_quantity(main, other) or covers_quantity(other, main) for other in theirs):
        return False
    return any(main.kind == other.kind and (main.kind != "count" or main.unit == other.unit) for other in theirs)


def is_twin(a: str, b: str) -> bool:
    """One statement written twice: the same words but for numbers."""
    first, second = (
        {word.key for word in read_words(text) if not word.is_number and not any(char.isdigit() for char in word.key)} for text in (a, b)
    )
    return len(first | second) > 0 and len(first & second) / len(first | second) >= TWIN_WORDS


def _twin_differs(reading: QuestionReading, a: str, b: str) -> bool:
    """Another number at the same kind. Twins of other dates speak of other periods, unless a date is what is asked."""
    mine, theirs = find_quantities(a), find_quantities(b)
    kinds = {one.kind for one in mine if any(one.kind == two.kind for two in theirs) and not any(same_quantity(one, two) for two in theirs)}
    if "date" in kinds and reading.answer_type not in {"date", "when", "duration"}:
        return False
    return bool(kinds) or _codes_of(a) != _codes_of(b) or _polarity_differs(a, b)


def _codes_of(text: str) -> set[str]:
    """Words that mix letters and digits, as CD8 or C-170A."""
    return {word.key for word in read_words(text) if word.key.isascii() and not word.key.isdigit() and any(char.isdigit() for char in word.key)}


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
