"""Reading a question: its language, words, names, quantities, the kind of answer, subject and attribute, and its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from verification.rules.lexicon import POLITE_CHINESE, POLITE_ENGLISH
from verification.rules.lexicon_words import Word, is_chinese, read_words
from verification.rules.numbers import fold_width, read_quantities
from verification.rules.question_types import find_answer_type, find_unit_hints, is_negated

if TYPE_CHECKING:
    from verification.rules.numbers import Quantity

_POLITE = {"en": tuple(re.compile(p, re.I) for p in POLITE_ENGLISH), "zh": tuple(re.compile(p) for p in POLITE_CHINESE)}
_QUOTED = re.compile(r"[\"“「『《‘']([^\"”」』》’']{2,40})[\"”」』》’'](?![a-z])")
_NAME_RUN = re.compile(r"(?:[A-Z0-9][\w&.'’-]*(?:\s+(?:of|the|and|de|van)\s+(?=[A-Z]))?\s*){2,}")
_SPLIT_EN = re.compile(r"\?\s+(?=\w)|[;；]\s*|,?\s+and\s+(?=(?:who|what|when|where|why|how|which|is|are|does|do|can)\b)", re.I)
_SPLIT_ZH = re.compile(r"[?？]\s*(?=\S)|[;；]\s*|(?<=[么谁哪里吗个年月日天人元])[，,]\s*|(?<=多少)[，,]\s*")
_ASKS_ZH = re.compile(r"谁|什么|哪|几|多少|何|怎|是否|吗|多[久长大高远]|能否|是不是|为啥")
_ASKS_EN = re.compile(
    r"\b(?:who|whom|whose|what|when|where|why|how|which)\b|^(?:is|are|was|were|do|does|did|can|could|must|should|may|will|has|have)\b", re.I
)
_OF_EN = re.compile(
    r"\b(?:what|which|who|how much|how many|how long)\b(?:'s| is| are| was| were| does| do| did)?\s*(?:the |an? )?(?P<attribute>[\w' -]+?)\s+(?:of|for|in|at|on)\s+(?P<subject>.+)",
    re.I,
)
_HAVE_EN = re.compile(
    r"\b(?:what|which)\s+(?P<attribute>[\w' -]+?)\s+(?:does|do|did|is|are|was|were|has|have|had|must|should|can|may|will)\s+(?P<subject>.+)", re.I
)
_OF_ZH = re.compile(
    r"^(?P<subject>.+?)的(?P<attribute>[^的]+?)(?:都|分别|一共|总共)?(?:是|为|有|在|叫|于|需要|要|可以|能)?(?:什么|谁|哪|几|多少|何|怎|多[久长大高远]|如何)"
)


_ORIGINS = frozenset({"zero", "0", "零"})  # what is counted from; an answer need not repeat it


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """What a question says of itself. `text` is the question without politeness; `sub_questions` is empty for a single one."""

    original: str
    text: str
    lang: str
    words: tuple[Word, ...]
    names: tuple[str, ...]
    phrases: tuple[str, ...]
    answer_type: str
    unit_hints: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    subject: str
    attribute: str
    is_negated: bool
    sub_questions: tuple[str, ...]

    @property
    def word_keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)


def strip_politeness(question: str) -> str:
    """The question without greeting, please and thanks; both lists are tried, a mixed question loses both kinds."""
    text = " ".join(fold_width(question).split())
    for _ in range(3):
        before = text
        for pattern in (*_POLITE["zh"], *_POLITE["en"]):
            found = pattern.search(text)
            if found and (found.start() == 0 or found.end() >= len(text.rstrip("。.!！?？ "))):
                text = (text[: found.start()] + text[found.end() :]).strip(" ,，")
        if text == before:
            break
    return text


def split_questions(text: str, lang: str) -> tuple[str, ...]:
    """Parts that are questions of their own (SYS-D3); a question with one part gives nothing."""
    asks = _ASKS_ZH if lang == "zh" else _ASKS_EN
    parts = [part.strip(" ,，?？。") for part in (_SPLIT_ZH if lang == "zh" else _SPLIT_EN).split(text)]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not all(asks.search(part) for part in parts):
        return ()
    return tuple(parts)


def find_subject(text: str, lang: str) -> tuple[str, str]:
    """(subject, attribute) by the form of the question; empty strings where the form does not tell."""
    found = _OF_ZH.search(text) if lang == "zh" else _OF_EN.search(text) or _HAVE_EN.search(text)
    if not found:
        return "", ""
    return found["subject"].strip(" ?？。"), found["attribute"].strip(" ?？。")


def find_phrases(text: str) -> tuple[str, ...]:
    """Quoted parts and runs of capitalised words, which belong together."""
    quoted = [found[1].strip() for found in _QUOTED.finditer(text)]
    runs = [found[0].strip(" ?.,") for found in _NAME_RUN.finditer(text[1:])]
    return tuple(dict.fromkeys(phrase for phrase in (*quoted, *runs) if phrase))


@lru_cache(maxsize=1_024)
def read_question(question: str) -> QuestionReading:
    """All that the rules need to know of a question, without any model."""
    text = strip_politeness(question)
    lang = "zh" if is_chinese(text) else "en"
    words = tuple(word for word in read_words(text) if word.key not in _ORIGINS)
    subject, attribute = find_subject(text, lang)
    return QuestionReading(
        original=question,
        text=text,
        lang=lang,
        words=words,
        names=tuple(dict.fromkeys(word.text for word in words if word.is_name)),
        phrases=find_phrases(text),
        answer_type=find_answer_type(text, lang),
        unit_hints=find_unit_hints(text, lang),
        quantities=read_quantities(text),
        subject=subject,
        attribute=attribute,
        is_negated=is_negated(text, lang),
        sub_questions=split_questions(text, lang),
    )
