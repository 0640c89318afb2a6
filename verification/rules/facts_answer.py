"""Answering from subject/field facts: a value with its source, or "this subject has no such field" (SYS-B2, SYS-B5, SYS-D3)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.contract import CitedSpan, Claim, Draft
from verification.rules.facts_context import ReadPassage, no_passage, read_context
from verification.rules.lexicon import PREFIXES_CHINESE
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import Word, cover_of, prepare_text, read_words
from verification.rules.numbers import fold_width
from verification.rules.question import QuestionReading, read_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verification.rules.contract import FactRow, Passage

FACT_CONFIDENCE_NAME = "fact_key_match"
# Words that ask for a value without naming what is asked: they never count as an attribute.
_ASKING = """value number figure amount total exact current currently now today data record information info detail details give given granted show list tell say
    find look pay paid charged apply applies
    数值 数据 数字 具体 目前 现在 当前 今天 今年 信息 资料 情况 值 总共 一共 多少 查 查询 显示 列出 请 给出 说明 取得 获得 支付 收取 发放"""
ASKING_WORDS = frozenset(_ASKING.split())
_ASKING_TEXT = prepare_text(_ASKING)
COVERED = 0.7
MAX_CONTEXTS = 24  # facts whose surroundings are read for one question
_YEARISH = re.compile(r"(?:fy|财年)?\s*(?:19|20)\d{2}|(?:19|20)\d{2}\s*(?:年|财年)?|q[1-4]|第?[一二三四1-4]季度", re.I)


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """The facts that answer, one or more for each sub-question, and the text without markers.

    is_by_heading: the subject is what title, headings and table head say, so another fact under the same words may be about another thing.
    """

    facts: tuple[FactRow, ...]
    text: str
    is_by_heading: bool = False


@dataclass(frozen=True, slots=True)
class UnsupportedAttribute:
    """The subject is known, what is asked of it is not. is_heading: the subject is a heading, below which prose may say more than the record."""

    subject: str
    attribute: str
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class _Names:
    subjects: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """All that a question is compared with."""

    facts: Sequence[FactRow]
    synonyms: Mapping[str, Sequence[str]]
    read: ReadPassage


def normalise_key(text: str) -> str:
    """NFKC, case-folded, letters and digits only: the form of `subject_key` and `field_key`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LN")


def find_fact_answer(
    reading: QuestionReading, facts: Sequence[FactRow], mapping_synonyms: Mapping[str, Sequence[str]], read: ReadPassage = no_passage
) -> FactAnswer | UnsupportedAttribute | None:
    """Value and source where question names subject and field; UnsupportedAttribute where only the subject; None where neither decides.

    Args: facts: all permitted rows that may matter. mapping_synonyms: normalised key -> other names of the same subject or field.
        read: the passage that holds a fact; what its headings and its table head say counts as said by the fact.
    Source: SYS-B5, SYS-D3.
    """
    known = _Known(facts, mapping_synonyms, read)
    parts = [read_question(part) for part in reading.sub_questions] or [reading]
    answers: list[FactRow] = []
    carried: tuple[str, ...] = ()
    is_by_heading = False
    for part in parts:
        outcome = _answer_part(part, known, carried)
        if outcome is None:
            outcome = _answer_by_heading(part, known)
            is_by_heading = is_by_heading or bool(outcome)
        if not isinstance(outcome, tuple):
            return outcome
        answers += [fact for fact in outcome if fact not in answers]
        carried = tuple(dict.fromkeys(fact.subject_key for fact in outcome))
    return FactAnswer(tuple(answers), "; ".join(render_fact(fact) for fact in answers), is_by_heading)


def _answer_part(reading: QuestionReading, known: _Known, carried: tuple[str, ...]) -> tuple[FactRow, ...] | UnsupportedAttribute | None:
    subjects = _longest(reading, {fact.subject_key: fact.subject for fact in known.facts}, known.synonyms) or carried
    if not subjects:
        return None
    of_subject = [fact for fact in known.facts if fact.subject_key in subjects]
    names = _Names(subjects, _longest(reading, {fact.field_key: fact.field for fact in of_subject}, known.synonyms))
    chosen = _of_period(reading, [fact for fact in of_subject if fact.field_key in names.fields])
    rest = _rest_of(reading, of_subject, names, known.synonyms)
    if chosen:
        return tuple(fact for fact in chosen[:MAX_CONTEXTS] if _is_covered(rest, [fact], _around(fact, known))) or None
    if names.fields or not rest or _is_covered(rest[:1], of_subject, partly=True) or _is_covered(rest, of_subject, partly=True):
        return None
    is_heading = all(_is_under_heading(fact, known) for fact in of_subject[:MAX_CONTEXTS])
    return UnsupportedAttribute(of_subject[0].subject, " ".join(word.text for word in rest), is_heading)


def _around(fact: FactRow, known: _Known) -> str:
    context = read_context(fact, known.read)
    return f"{context.heads}\n{context.line}"


def _is_under_heading(fact: FactRow, known: _Known) -> bool:
    return fact.subject_key in {normalise_key(heading) for heading in read_context(fact, known.read).headings}


def _answer_by_heading(reading: QuestionReading, known: _Known) -> tuple[FactRow, ...] | None:
    """A named field whose title, headings and table head say all the rest of the question: "readability of the NL-210" in the data sheet of the NL-210."""
    fields = _longest(reading, {fact.field_key: fact.field for fact in known.facts}, known.synonyms)
    of_field = _of_period(reading, [fact for fact in known.facts if fact.field_key in fields])
    if not 0 < len(of_field) <= MAX_CONTEXTS:
        return None
    found = []
    for fact in of_field:
        rest = _rest_of(reading, [], _Names((), (fact.field_key,)), known.synonyms, [fact.field, fact.period])
        if rest and _is_under_heading(fact, known) and _is_covered(rest, [], read_context(fact, known.read).heads):
            found.append(fact)
    return tuple(found) or None


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
        return _stands_in(text, name) or _has_all_words(text, name)
    return _has_all_words(text, name)


def _stands_in(text: str, name: str) -> bool:
    """Whether the letters of a Chinese name stand there in a row. A letter more or a prefix makes it another word (赞助 in 赞助商, 产假 in 陪产假)."""
    folded, wanted = fold_width(text).casefold(), fold_width(name).casefold()
    if wanted not in folded:
        return normalise_key(name) in normalise_key(text)
    words = read_words(folded, True)  # noqa: FBT003 - positional for the cache
    places = [found.span() for found in re.finditer(re.escape(wanted), folded)]
    return any(_is_whole(span, words) and folded[span[0] - 1 : span[0]] not in tuple(PREFIXES_CHINESE) for span in places)


def _is_whole(span: tuple[int, int], words: Sequence[Word]) -> bool:
    first = next((word for word in words if word.start <= span[0] < word.end), None)
    last = next((word for word in words if word.start < span[1] <= word.end), None)
    return (first is None or span[0] - first.start != 1) and (last is None or last.end - span[1] != 1)


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


def _rest_of(
    reading: QuestionReading, facts: Sequence[FactRow], names: _Names, synonyms: Mapping[str, Sequence[str]], also: Sequence[str] = ()
) -> list[Word]:
    """Content words of the question after taking away subject, field, period, and asking words."""
    said = [fact.subject for fact in facts] + [fact.field for fact in facts if fact.field_key in names.fields] + [fact.period for fact in facts]
    for key in (*names.subjects, *names.fields):
        said += synonyms.get(key, ())
    held = prepare_text("\n".join((*said, *also)))
    periods = [found.span() for found in _YEARISH.finditer(reading.text)]
    return [
        word
        for word in read_words(_blank_names(reading.text, said))
        if word.key not in held.keys
        and word.key not in _ASKING_TEXT.keys
        and not (word.key in held.folded and not word.key.isascii())
        and not any(start <= word.start < end for start, end in periods)
    ]


def _blank_names(text: str, names: Sequence[str]) -> str:
    """Chinese names are taken out before the rest is cut into words: 华东地区 leaves 地区."""
    folded = fold_width(text)
    for name in sorted({fold_width(name).strip() for name in names if not name.isascii()}, key=len, reverse=True):
        folded = folded.replace(name, " " * len(name)) if name else folded
    return folded


def _is_covered(rest: Sequence[Word], facts: Sequence[FactRow], around: str = "", *, partly: bool = False) -> bool:
    """Whether what remains is said by the facts themselves (value, unit, field), or around them."""
    held = prepare_text("\n".join((*(f"{fact.field} {fact.value_text} {fact.unit} {fact.period}" for fact in facts), around)))
    covers = [cover_of(word, held) >= COVERED for word in rest]
    return any(covers) if partly else all(covers)


def render_fact(fact: FactRow) -> str:
    """`subject · field: value unit (source: document · locator)`; a cell under "in million EUR" with the amount that it stands for."""
    period = f" ({fact.period})" if fact.period else ""
    return f"{fact.subject} · {fact.field}{period}: {_render_value(fact)} (source: {fact.document} · {fact.locator})"


def _render_value(fact: FactRow) -> str:
    written = fact.value_text.strip()
    if not fact.unit or any(quantity.unit for quantity in find_quantities(written)) or normalise_key(fact.unit) in normalise_key(written):
        return written
    plain = next((quantity.value for quantity in find_quantities(written)), None)
    if fact.value is None or plain is None or plain == fact.value:
        return f"{written} {fact.unit}"
    return f"{written} (= {fact.value.normalize():,f} {fact.unit})"


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
