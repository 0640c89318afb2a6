"""Signs that a sentence speaks of something else than the question, although it shares its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verification.rules.lexicon import OPPOSITES
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import TextWords, Word, is_stop, read_words, stem_word
from verification.rules.numbers import Quantity, covers_quantity
from verification.rules.question_types import QUANTITY_TYPES, is_bare_year

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.question import QuestionReading

_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "不", "非", "无", "未")
_HINT_REACH_CHARS = 25


def rate_number_conflict(reading: QuestionReading, near: str) -> float:
    """1: a number, date or ordinal of the question is missing and another of its kind stands there; 0.5: it is just missing."""
    if not reading.quantities:
        return 0.0
    held = find_quantities(near)
    worst = 0.0
    for asked in reading.quantities:
        if asked.kind == "per" or _is_origin(asked) or any(covers_quantity(have, asked) or covers_quantity(asked, have) for have in held):
            continue
        worst = max(worst, 1.0 if any(_same_kind(have, asked) for have in held) else 0.5)
    return worst


def _is_origin(quantity: Quantity) -> bool:
    """A bare zero is what the question counts from ("above or below zero"), no value that must be met."""
    return quantity.kind == "number" and quantity.value == 0 and not quantity.unit


def _same_kind(a: Quantity, b: Quantity) -> bool:
    return a.kind == b.kind and (a.kind != "date" or bool(set(a.unit) & set(b.unit)))


def rate_opposite(reading: QuestionReading, text: TextWords) -> float:
    """1 when the question says one side of a pair and the sentence only the other, or a word stands there with a negating prefix."""
    keys = reading.word_keys
    for left, right in OPPOSITE_KEYS:
        if (left in keys and left not in text.keys and right in text.keys) or (right in keys and right not in text.keys and left in text.keys):
            return 1.0
    return float(any(_is_turned(word, text) for word in reading.words))


def _is_turned(word: Word, text: TextWords) -> bool:
    """ "necessary" asked and only "unnecessary" said, or the other way round."""
    lower = word.text.casefold()
    if word.is_number or len(lower) < 2 or word.key in text.keys:
        return False
    for prefix in _PREFIXES:
        if not lower.isascii():
            continue
        if lower.startswith(prefix) and len(lower) > len(prefix) + 3 and stem_word(lower[len(prefix) :].lstrip("-")) in text.keys:
            return True
        if len(lower) > 3 and stem_word(prefix + lower) in text.keys:
            return True
    return False


def rate_type_missing(reading: QuestionReading, fitting: Sequence[Quantity], text: str) -> float:
    """1 when a measure is asked in so many words and the sentence has none; 0.5 for a plain "when" without a date or time."""
    if reading.answer_type not in QUANTITY_TYPES or fitting:
        return 0.0
    if reading.answer_type == "when":
        return 0.5
    return 0.7 if any(char.isdigit() for char in text) else 1.0


def rate_hint_near(reading: QuestionReading, text: str, fitting: Sequence[Quantity]) -> float:
    """For "how many X": 1 when a number stands beside X, 0.5 when X is there without one or nothing is counted, 0 when X is not there."""
    hints = [stem_word(hint.casefold()) if hint.isascii() else hint for hint in reading.unit_hints if not (hint.isascii() and is_stop(hint))]
    if not hints or not fitting:
        return 0.5
    if any(hint in quantity.text for hint in hints for quantity in fitting if not hint.isascii()):
        return 1.0
    places = [word.start for word in read_words(text) if word.key in hints]
    if not places:
        return 0.0
    return (
        1.0 if any(0 <= place - quantity.end <= _HINT_REACH_CHARS for place in places for quantity in fitting if not is_bare_year(quantity)) else 0.4
    )


OPPOSITE_KEYS = tuple((stem_word(a) if a.isascii() else a, stem_word(b) if b.isascii() else b) for a, b in OPPOSITES)
