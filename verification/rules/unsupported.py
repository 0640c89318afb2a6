"""Whether "the record has no such field" stands against what was drafted from prose (SYS-B5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verification.rules.asked_units import read_asked_unit
from verification.rules.extract_sentences import RECORD, ROW, split_units
from verification.rules.facts_answer import COVERED, UnsupportedAttribute
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import cover_of, prepare_text, read_words
from verification.rules.question_types import QUANTITY_TYPES, fitting_quantities
from verification.rules.relevance import find_unknown_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Draft, Passage
    from verification.rules.question import QuestionReading

__all__ = ["settle_unsupported"]


def settle_unsupported(
    unsupported: UnsupportedAttribute, reading: QuestionReading, draft: Draft | None, passages: Sequence[Passage], least: float | None
) -> tuple[str, str] | None:
    """(subject, attribute) where the record decides; None where the draft is let through to the other checks.

    The draft must be rated at or above `least`. Prose is then believed. A row or record line of another field, or of another
    subject, is no answer: it has to carry every word of subject and attribute itself, or be a table row of the subject that states one
    quantity of the asked kind and no other. Where the subject is only a heading, the record
    decides nothing that any passage of the pack speaks of.

    Args: draft: None when nothing was drafted, or when the draft does not answer the question by layer Q.
    """
    decided = (unsupported.subject, unsupported.attribute)
    if draft is not None and (least is None or (draft.confidence or 0.0) >= least):
        units = _cited_text(draft, passages)
        if (
            units is None
            or _carries(f"{unsupported.subject} {unsupported.attribute}", units)
            or _states_asked_kind(reading, unsupported.subject, units)
        ):
            return None
    if not unsupported.is_heading:
        return decided
    return decided if set(unsupported.attribute.split()) & set(find_unknown_words(reading, passages)) else None


def _states_asked_kind(reading: QuestionReading, subject: str, units: str) -> bool:
    """The row of the subject has exactly one amount of the kind that the question measures ("how long" and one duration; 几天 and one in days)."""
    if reading.answer_type not in QUANTITY_TYPES - {"number"} or not _carries(subject, units):
        return False
    asked = read_asked_unit(reading.text)
    rows = [line for line in units.split("\n") if _carries(subject, line)]
    fitting = [fitting_quantities(reading.answer_type, find_quantities(row), reading.quantities) for row in rows]
    return any(len(amounts) == 1 or (asked and sum(amount.unit == asked.unit for amount in amounts) == 1) for amounts in fitting)


def _carries(wanted: str, said: str) -> bool:
    text = prepare_text(said)
    return all(cover_of(word, text) >= COVERED for word in read_words(wanted))


def _cited_text(draft: Draft, passages: Sequence[Passage]) -> str | None:
    """What the draft says when all of it are rows and record lines; None as soon as a sentence is among them."""
    texts = {passage.n: passage.text for passage in passages}
    for claim in draft.claims:
        for span in claim.spans:
            unit = next((unit for unit in split_units(texts.get(span.n, "")) if unit.start <= span.start < unit.end), None)
            if unit is None or unit.kind not in {ROW, RECORD}:
                return None
    return "\n".join(claim.text for claim in draft.claims)
