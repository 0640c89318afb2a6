"""Does the answer answer the question: subject, attribute, time, unit and kind of answer, checked on the cited text (layer Q)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.asked_units import drop_conditions, read_asked_measure, read_asked_unit
from verification.rules.contract import Finding
from verification.rules.extract import rank_sentences, rate_confidence
from verification.rules.extract_cover import context_of
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import cover_of, is_only_prefixed, prepare_text, read_words
from verification.rules.numbers import covers_quantity
from verification.rules.question_types import QUANTITY_TYPES, fitting_quantities, is_bare_year, rate_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from verification.rules.contract import AnswerThresholds, Claim, Embed, Passage
    from verification.rules.question import QuestionReading

LAYER = "Q"
MEASURED_TYPES = QUANTITY_TYPES | {"contact"}
# A policy may move these through AnswerThresholds.extra; the defaults are from the development halves of the shared sets.
DEFAULTS = {"min_subject_cover": 0.5, "min_attribute_cover": 0.3, "min_type_rate": 0.2}
MAX_ATTRIBUTE_WORDS, COVERED = 2, 0.7
UNKNOWN = 0.3
_LAST_OBJECT = re.compile(r"\w+(?:ing|s|ed)? (?:a|an|another|some)(?: new| different| further)? (?P<thing>[a-z]{3,})\s*\?*\s*$", re.I)
_LABEL = re.compile(r"^[^:：\n]{1,12}[:：]", re.M)  # "Branch: Millbrook": the label of a record line says what kind of thing follows


def check_answers_question(
    reading: QuestionReading, claims: Sequence[Claim], passages: Sequence[Passage], embed: Embed, thresholds: AnswerThresholds
) -> tuple[Finding, ...]:
    """One finding for each thing the question asks for and the cited text does not carry; a single `ok` when nothing is missing.

    Detail codes: type_mismatch, unit_mismatch, another_thing, says_nothing_new, time_mismatch, subject_missing, attribute_missing, low_confidence.
    """
    if not claims:
        return ()
    cited = _cited_passages(claims, passages)
    said = "\n".join(claim.text for claim in claims)
    near = "\n".join((said, *(" / ".join(passage.heading_path) for passage in cited)))
    wide = "\n".join((said, *(context_of(passage) for passage in cited)))
    limits = DEFAULTS | thresholds.extra
    confidence = rate_claims(reading, claims, passages, embed) if thresholds.min_answers is not None else None
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("type_mismatch", lambda: _type_differs(reading, said, limits["min_type_rate"])),
        ("unit_mismatch", lambda: _unit_differs(reading, said)),
        ("another_thing", lambda: _is_another_thing(reading, said) or _is_other_object(reading, wide)),
        ("says_nothing_new", lambda: _says_nothing_new(reading, said)),
        ("time_mismatch", lambda: _time_differs(reading, near, wide)),
        ("subject_missing", lambda: _subject_missing(reading, wide, limits["min_subject_cover"])),
        ("attribute_missing", lambda: _attribute_missing(reading, wide, passages, limits["min_attribute_cover"])),
        ("low_confidence", lambda: confidence is not None and thresholds.min_answers is not None and confidence < thresholds.min_answers),
    )
    main = claims[0].id
    failed = tuple(Finding(main, None, LAYER, "unsupported", code, confidence) for code, check in checks if check())
    return failed or (Finding(main, None, LAYER, "ok", "", confidence),)


def rate_claims(reading: QuestionReading, claims: Sequence[Claim], passages: Sequence[Passage], embed: Embed) -> float | None:
    """Confidence of the best-rated sentence that the claims cite; None when none of them is among the rated."""
    spans = [span for claim in claims for span in claim.spans]
    numbers = {number for claim in claims for number in claim.markers}
    ranked = rank_sentences(reading, passages, embed)
    for _, candidate in ranked:
        n, unit = candidate.passage.n, candidate.unit
        is_cited = any(span.n == n and span.start < unit.end and unit.start < span.end for span in spans) if spans else n in numbers
        if is_cited:
            return rate_confidence(reading, ranked, candidate, embed)
    return None


def find_unknown_words(reading: QuestionReading, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Content words of the question that no passage carries in any form: what decides `unsupported_attribute` (SYS-B5)."""
    contexts = [prepare_text(context_of(passage)) for passage in passages]
    return tuple(word.text for word in reading.words if all(cover_of(word, context) < 0.5 for context in contexts))


def _cited_passages(claims: Sequence[Claim], passages: Sequence[Passage]) -> list[Passage]:
    numbers = {number for claim in claims for number in (*claim.markers, *(span.n for span in claim.spans))}
    return [passage for passage in passages if passage.n in numbers]


def _type_differs(reading: QuestionReading, said: str, least: float) -> bool:
    if reading.answer_type not in MEASURED_TYPES:
        return False
    fitting = fitting_quantities(reading.answer_type, drop_conditions(reading.text, find_quantities(said), said), reading.quantities)
    return rate_type(reading.answer_type, said, fitting, frozenset()) < least


def _unit_differs(reading: QuestionReading, said: str) -> bool:
    """The question names a unit, and the text gives no quantity of that kind; or it names a measure, and all that the text measures is something else."""
    held = find_quantities(said)
    asked = read_asked_unit(reading.text)
    if asked is not None:
        return not any(quantity.kind in {asked.kind, "per"} for quantity in held)
    measure = read_asked_measure(reading.text) if reading.answer_type == "number" else ""
    measured = {quantity.kind for quantity in held if quantity.unit}
    return bool(measure and measured) and measure not in measured and all(quantity.unit for quantity in held)


def _is_another_thing(reading: QuestionReading, said: str) -> bool:
    """A word of the question that the answer has only with a prefix that makes it another: 产假 in 陪产假, members in non-members."""
    text, asked = prepare_text(said), prepare_text(reading.text)
    return any(is_only_prefixed(word, text) and not is_only_prefixed(word, asked) for word in reading.words)


def _is_other_object(reading: QuestionReading, wide: str) -> bool:
    """The question ends on a thing of its own ("… for recommending a new supplier?") that the cited passage, its headings and title never name."""
    found = _LAST_OBJECT.search(reading.text)
    words = read_words(found["thing"]) if found else ()
    return bool(words) and all(cover_of(word, prepare_text(wide)) < UNKNOWN for word in words)


def _says_nothing_new(reading: QuestionReading, said: str) -> bool:
    """Every content word of the claim stands in the question already: its subject is named, nothing is said of it. Yes/no questions may be echoed."""
    if reading.answer_type == "yes_no":
        return False
    asked = prepare_text(reading.original)
    words = read_words(_LABEL.sub("", said))
    return bool(words) and all(cover_of(word, asked) >= COVERED for word in words)


def _time_differs(reading: QuestionReading, near: str, wide: str) -> bool:
    """A date or year of the question that neither the cited passage nor its title carries."""
    asked = [quantity for quantity in reading.quantities if quantity.kind == "date" or is_bare_year(quantity)]
    if not asked:
        return False
    held = find_quantities(near) + find_quantities(wide)
    return not all(any(covers_quantity(have, want) or covers_quantity(want, have) for have in held) for want in asked)


def _subject_missing(reading: QuestionReading, wide: str, least: float) -> bool:
    """Names and numbers of the question, or its subject where the form tells one, that the cited passage and title do not carry.

    A Chinese subject without names is left to the confidence, which tells paraphrases apart (`cos_lead`); the English one does not yet.
    """
    text = prepare_text(wide)
    hard = [word for word in reading.words if word.is_name or word.is_number]
    asked = hard or (() if reading.lang == "zh" else read_words(reading.subject))
    return bool(asked) and sum(cover_of(word, text) for word in asked) / len(asked) < least


def _attribute_missing(reading: QuestionReading, wide: str, passages: Sequence[Passage], least: float) -> bool:
    """ "What is the X of Y" where the cited passage carries all of Y, and no passage at all carries anything of X.

    Kinds that need no naming (a date, a number, a person) are left to the type.
    """
    if reading.answer_type not in {"which", "definition", "list", "other"}:
        return False
    asked, subject = read_words(reading.attribute), read_words(reading.subject)
    if not asked or not subject or len(asked) > MAX_ATTRIBUTE_WORDS:
        return False
    cited = prepare_text(wide)
    texts = (cited, *(prepare_text(context_of(passage)) for passage in passages))
    is_named = any(sum(cover_of(word, text) for word in asked) / len(asked) >= least for text in texts)
    return not is_named and all(cover_of(word, cited) >= COVERED for word in subject)
