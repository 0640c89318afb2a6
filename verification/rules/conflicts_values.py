"""When two sentences state values that cannot both hold: numbers, codes, negation, how often, must against may."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.conflicts_subject import family_keys
from verification.rules.extract_contrary import rate_hint_near
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import read_words
from verification.rules.numbers import Quantity, covers_quantity, same_quantity
from verification.rules.question_types import QUANTITY_TYPES, fitting_quantities, is_negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.extract_cover import Candidate
    from verification.rules.question import QuestionReading

SAME_TEMPLATE = 0.75  # share of words two sentences have in common when they are one statement with another value
TWIN_WORDS = 0.85
CLEARER_CLAUSE_WORDS = 2  # a clause that shares this many words more than another is the one that speaks of the same
_FREQUENCIES = {
    "annual": "year", "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day",
    "每年": "year", "每月": "month", "每周": "week", "每天": "day", "每日": "day",
}  # fmt: skip
FREQUENCY = re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in _FREQUENCIES), re.I)
_BOUNDS = {
    "lower": re.compile(r"\bat least\b|\bminimum\b|\bno (?:less|fewer) than\b|至少|最少|不少于|下限", re.I),
    "upper": re.compile(r"\bat most\b|\bmaximum\b|\bno more than\b|\bup to\b|至多|最多|不超过|上限", re.I),
}
_MUST = re.compile(r"\b(?:must|required to|have to|has to|shall|need to)\b|必须|应当|须", re.I)
_MAY = re.compile(r"\b(?:may|can|optional(?:ly)?|not required|do not need|does not need|need not)\b|可以|可选|不必|无需", re.I)
_CLAUSE_MARK = re.compile(r"[,;]\s+|[，；、]")


def share_of_words(a: str, b: str) -> float:
    """Words in common over the shorter of two texts."""
    first, second = ({word.key for word in read_words(text) if not word.is_number} for text in (a, b))
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def differs(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """Whether both sentences state a value of the asked kind and the values disagree, or they are one statement with another number."""
    if is_twin(chosen.text, other.text):
        return _twin_differs(reading, chosen.text, other.text)
    if reading.answer_type in QUANTITY_TYPES:
        return _value_differs(reading, chosen, other)
    if reading.answer_type == "yes_no":
        return polarity_differs(chosen.text, other.text)
    return share_of_words(chosen.text, other.text) >= SAME_TEMPLATE and polarity_differs(chosen.text, other.text)


def _value_differs(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    mine, theirs = (_values(reading, candidate) for candidate in (chosen, other))
    if not mine or not theirs:
        return False
    if _bounds(chosen.text) and _bounds(other.text) and not _bounds(chosen.text) & _bounds(other.text):
        return False  # at least 3 and at most 9 do not disagree
    if reading.answer_type == "number" and not _counts_the_same(reading, chosen.text, mine, other.text, theirs):
        return False
    return _disagree(_main_value(reading, chosen, mine), _same_clause(reading, chosen, other, theirs))


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


def _same_clause(reading: QuestionReading, chosen: Candidate, other: Candidate, values: Sequence[Quantity]) -> Sequence[Quantity]:
    """The values of the one clause that speaks of the same as the chosen sentence; all of them where no clause stands out.

    "Deleted from the servers after 30 days, and from backups within 60" says 30 to who asks about the account.
    """
    ends = [found.end() for found in _CLAUSE_MARK.finditer(other.text)] + [len(other.text)]
    by_clause: dict[int, list[Quantity]] = {}
    for value in values:
        by_clause.setdefault(next((end for end in ends if value.start < end), len(other.text)), []).append(value)
    if len(by_clause) < 2:
        return values
    wanted = family_keys(chosen.text) | family_keys(reading.text)
    rated = sorted(((len(wanted & family_keys(_clause_at(other.text, ends, end))), end) for end in by_clause), reverse=True)
    return by_clause[rated[0][1]] if rated[0][0] >= rated[1][0] + CLEARER_CLAUSE_WORDS else values


def _clause_at(text: str, ends: Sequence[int], end: int) -> str:
    return text[max((mark for mark in ends if mark < end), default=0) : end]


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
    return bool(kinds) or _codes_of(a) != _codes_of(b) or polarity_differs(a, b)


def _codes_of(text: str) -> set[str]:
    """Words that mix letters and digits, as CD8 or C-170A."""
    return {word.key for word in read_words(text) if word.key.isascii() and not word.key.isdigit() and any(char.isdigit() for char in word.key)}


def polarity_differs(a: str, b: str) -> bool:
    """Said against denied in the same words, once a year against once a month, must against may."""
    is_same = share_of_words(a, b) >= SAME_TEMPLATE
    if is_same and _negation(a) != _negation(b):
        return True
    mine, theirs = ({_FREQUENCIES[found[0].casefold()] for found in FREQUENCY.finditer(text)} for text in (a, b))
    if mine and theirs and not mine & theirs:
        return True
    return is_same and bool((_MUST.search(a) and _MAY.search(b)) or (_MAY.search(a) and _MUST.search(b)))


def _negation(text: str) -> bool:
    return is_negated(text, "en") or is_negated(text, "zh")
