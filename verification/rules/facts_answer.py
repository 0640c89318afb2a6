"""Answering from subject/field facts: a value with its source, or "this subject has no such field" (SYS-B2, SYS-B5, SYS-D3)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.contract import CitedSpan, Claim, Draft
from verification.rules.lexicon_words import Word, cover_of, prepare_text, read_words
from verification.rules.question import QuestionReading, read_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verification.rules.contract import FactRow, Passage

FACT_CONFIDENCE_NAME = "fact_key_match"
# Words that ask for a value without naming what is asked: they never count as an attribute.
_ASKING = """value number figure amount total exact current currently now today data record information info detail details give show list tell say find look
    数值 数据 数字 具体 目前 现在 当前 今天 今年 信息 资料 情况 值 总共 一共 多少 查 查询 显示 列出 请 给出 说明"""
ASKING_WORDS = frozenset(_ASKING.split())
_YEARISH = re.compile(r"(?:fy|财年)?\s*(?:19|20)\d{2}|(?:19|20)\d{2}\s*(?:年|财年)?|q[1-4]|第?[一二三四1-4]季度", re.I)


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """The facts that answer, one or more for each sub-question, and the text without markers."""

    facts: tuple[FactRow, ...]
    text: str


@dataclass(frozen=True, slots=True)
class UnsupportedAttribute:
    """The subject is known, what is asked of it is not."""

    subject: str
    attribute: str


@dataclass(frozen=True, slots=True)
class _Names:
    subjects: tuple[str, ...]
    fields: tuple[str, ...]


def normalise_key(text: str) -> str:
    """NFKC, case-folded, letters and digits only: the form of `subject_key` and `field_key`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LN")


def find_fact_answer(
    reading: QuestionReading, facts: Sequence[FactRow], mapping_synonyms: Mapping[str, Sequence[str]]
) -> FactAnswer | UnsupportedAttribute | None:
    """Value and source where question names subject and field; UnsupportedAttribute where only the subject; None where neither decides.

    Args: facts: all permitted rows that may matter. mapping_synonyms: normalised key -> other names of the same subject or field.
    Source: SYS-B5, SYS-D3.
    """
    parts = [read_question(part) for part in reading.sub_questions] or [reading]
    answers: list[FactRow] = []
    carried: tuple[str, ...] = ()
    for part in parts:
        outcome = _answer_part(part, facts, mapping_synonyms, carried)
        if not isinstance(outcome, tuple):
            return outcome
        answers += [fact for fact in outcome if fact not in answers]
        carried = tuple(dict.fromkeys(fact.subject_key for fact in outcome))
    return FactAnswer(tuple(answers), "; ".join(render_fact(fact) for fact in answers))


def _answer_part(
    reading: QuestionReading, facts: Sequence[FactRow], synonyms: Mapping[str, Sequence[str]], carried: tuple[str, ...]
) -> tuple[FactRow, ...] | UnsupportedAttribute | None:
    names = _named(reading, facts, synonyms)
    subjects = names.subjects or carried
    if not subjects:
        return None
    of_subject = [fact for fact in facts if fact.subject_key in subjects]
    chosen = _of_period(reading, [fact for fact in of_subject if fact.field_key in names.fields])
    rest = _rest_of(reading, of_subject, names, synonyms)
    if chosen:
        return tuple(chosen) if _is_covered(rest, chosen) else None
    if names.fields or not rest or _is_covered(rest[:1], of_subject, partly=True) or _is_covered(rest, of_subject, partly=True):
        return None
    return UnsupportedAttribute(of_subject[0].subject, " ".join(word.text for word in rest))


def _named(reading: QuestionReading, facts: Sequence[FactRow], synonyms: Mapping[str, Sequence[str]]) -> _Names:
    subjects = {fact.subject_key: fact.subject for fact in facts}
    fields = {fact.field_key: fact.field for fact in facts}
    return _Names(_longest(reading, subjects, synonyms), _longest(reading, fields, synonyms))


def _longest(reading: QuestionReading, names: Mapping[str, str], synonyms: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Keys that the question names; a name inside a longer one that is named too does not count ("ticket" in "ticket desk")."""
    said: dict[str, str] = {}
    for key, name in names.items():
        forms = [form for form in (name, *synonyms.get(key, ())) if names_in(reading.text, form)]
        if forms:
            said[key] = normalise_key(max(forms, key=len))
    return tuple(key for key, form in said.items() if not any(form != other and form in other for other in said.values()))


def names_in(text: str, name: str) -> bool:
    """Whether the text names it: the same letters in a row, at word borders for English, or all its words in any order."""
    key = normalise_key(name)
    if not key:
        return False
    if not key.isascii():
        return key in normalise_key(text) or _has_all_words(text, name)
    return _has_all_words(text, name)


def _has_all_words(text: str, name: str) -> bool:
    held = {word.key for word in read_words(text, True)}  # noqa: FBT003 - positional for the cache
    wanted = read_words(name) or read_words(name, True)  # noqa: FBT003
    return bool(wanted) and all(word.key in held for word in wanted)


def _of_period(reading: QuestionReading, facts: Sequence[FactRow]) -> list[FactRow]:
    """Facts of the period that the question names; all when it names none, or when they carry none."""
    asked = {normalise_key(found[0]) for found in _YEARISH.finditer(reading.text)}
    if not asked:
        return list(facts)
    digits = {"".join(char for char in period if char.isdigit()) or period for period in asked}
    return [fact for fact in facts if not fact.period or any(mark in normalise_key(fact.period) for mark in digits)]


def _rest_of(reading: QuestionReading, facts: Sequence[FactRow], names: _Names, synonyms: Mapping[str, Sequence[str]]) -> list[Word]:
    """Content words of the question after taking away subject, field, period, and asking words."""
    known = [fact.subject for fact in facts] + [fact.field for fact in facts if fact.field_key in names.fields] + [fact.period for fact in facts]
    for key in (*names.subjects, *names.fields):
        known += synonyms.get(key, ())
    held = prepare_text("\n".join(known))
    asking = prepare_text(" ".join(ASKING_WORDS))
    periods = [found.span() for found in _YEARISH.finditer(reading.text)]
    return [
        word
        for word in reading.words
        if word.key not in held.keys
        and word.key not in asking.keys
        and not (word.key in held.folded and not word.key.isascii())
        and not any(start <= word.start < end for start, end in periods)
    ]


def _is_covered(rest: Sequence[Word], facts: Sequence[FactRow], *, partly: bool = False) -> bool:
    """Whether what remains is said by the facts themselves (value, unit, field)."""
    held = prepare_text("\n".join(f"{fact.field} {fact.value_text} {fact.unit} {fact.period}" for fact in facts))
    covers = [cover_of(word, held) >= 0.7 for word in rest]
    return any(covers) if partly else all(covers)


def render_fact(fact: FactRow) -> str:
    """`subject · field: value unit (source: document · locator)`."""
    unit = f" {fact.unit}" if fact.unit and normalise_key(fact.unit) not in normalise_key(fact.value_text) else ""
    period = f" ({fact.period})" if fact.period else ""
    return f"{fact.subject} · {fact.field}{period}: {fact.value_text.strip()}{unit} (source: {fact.document} · {fact.locator})"


def draft_fact_answer(answer: FactAnswer, passages: Sequence[Passage]) -> Draft | None:
    """A draft whose claims cite the passages that hold the facts; None when a fact's chunk is not among them."""
    claims = []
    for number, fact in enumerate(answer.facts, start=1):
        holder = next((passage for passage in passages if passage.chunk_id == fact.chunk_id), None)
        if holder is None:
            return None
        start, end = fact.span_start - holder.span_start, fact.span_end - holder.span_start
        claims.append(Claim(f"c{number}", render_fact(fact), (holder.n,), (CitedSpan(holder.n, max(start, 0), min(end, len(holder.text))),)))
    text = "; ".join(f"{claim.text} [{claim.markers[0]}]" for claim in claims)
    return Draft(text=text, claims=tuple(claims), confidence=1.0, confidence_name=FACT_CONFIDENCE_NAME, mode="fact")
