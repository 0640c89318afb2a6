"""Candidate sentences of the passages, and how far each covers the words of the question: cheap, for every sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from verification.rules.extract_sentences import CODE, HEADING, ROW, Unit, clean_markdown, split_units
from verification.rules.lexicon import PRONOUNS_CHINESE, PRONOUNS_ENGLISH
from verification.rules.lexicon_words import TextWords, Word, cover_of, prepare_text, read_words
from verification.rules.question_types import QUANTITY_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Passage
    from verification.rules.question import QuestionReading

MAX_EMBEDDED = 16  # about 20 ms a sentence: the budget of one answer
NAME_WEIGHT = 1.5
_NUMERALS = frozenset("0123456789一二三四五六七八九十两百千万半")


@dataclass(slots=True)
class Candidate:
    """One unit of one passage with its clean text, the text around it, and later its features."""

    passage: Passage
    rank: int
    index: int
    unit: Unit
    text: str
    near: str
    topic: str
    values: dict[str, float] = field(default_factory=dict)


def list_candidates(passages: Sequence[Passage]) -> list[Candidate]:
    """Every sentence, list item and table row that says something; headings and code are context only."""
    found = []
    for rank, passage in enumerate(passages):
        units = split_units(passage.text)
        texts = [clean_markdown(passage.text[unit.start : unit.end]) for unit in units]
        topic = _topic_of(passage, units, texts)
        for index, unit in enumerate(units):
            if unit.kind in {HEADING, CODE} or len(texts[index]) < 2 or texts[index].endswith(("?", "？")):
                continue
            found.append(Candidate(passage, rank, index, unit, texts[index], _near_text(passage, units, texts, index), topic))
    return found


def _near_text(passage: Passage, units: Sequence[Unit], texts: Sequence[str], index: int) -> str:
    """The sentence with its lead-in, nearest heading, and the sentence before it when that carries the subject."""
    parts = [" / ".join(passage.heading_path), texts[index]]
    if units[index].lead >= 0:
        parts.append(texts[units[index].lead])
    if index and units[index - 1].kind == units[index].kind != ROW:
        parts.append(texts[index - 1])
    return "\n".join(parts)


def _topic_of(passage: Passage, units: Sequence[Unit], texts: Sequence[str]) -> str:
    """What the passage is about by its headings and its first sentence: later sentences leave it unsaid."""
    first = next((text for text, unit in zip(texts, units, strict=True) if unit.kind not in {HEADING, CODE}), "")
    return "\n".join((title_of(passage), *passage.heading_path, first))


def title_of(passage: Passage) -> str:
    return passage.document.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")


def starts_with_pronoun(text: str) -> bool:
    """Whether a sentence leans on the one before it."""
    words = text.split(maxsplit=1)
    return bool(words) and (words[0].casefold().strip(",") in PRONOUNS_ENGLISH or text.startswith(PRONOUNS_CHINESE))


def context_of(passage: Passage) -> str:
    """All that a passage carries: path of the document, headings and text."""
    return "\n".join((title_of(passage), *passage.heading_path, passage.text))


def weigh_words(reading: QuestionReading, passages: Sequence[Passage]) -> dict[Word, float]:
    """Weight of each question word: rarer in the passages is heavier, names and numbers heavier still."""
    contexts = [prepare_text(context_of(passage)) for passage in passages]
    weights: dict[Word, float] = {}
    for word in reading.words:
        held = sum(cover_of(word, context) >= 0.75 for context in contexts)
        rarity = math.log((len(contexts) + 1) / (held + 0.5)) if held else math.log(len(contexts) + 1)
        weights[word] = max(rarity, 0.25) * (NAME_WEIGHT if word.is_name or word.is_number else 1.0)
    return weights


def coverage_of(weights: dict[Word, float], text: TextWords) -> float:
    total = sum(weights.values())
    return sum(weight * cover_of(word, text) for word, weight in weights.items()) / total if total else 0.0


def hard_words(weights: dict[Word, float]) -> dict[Word, float]:
    return {word: weight for word, weight in weights.items() if word.is_name or word.is_number}


def worst_of(weights: dict[Word, float], text: TextWords) -> float:
    """Share of the heaviest uncovered word: near 1 when the very thing asked about is not there."""
    top = max(weights.values(), default=1.0)
    return max((weight * (1 - cover_of(word, text)) for word, weight in weights.items()), default=0.0) / top


def _rest_cover(weights: dict[Word, float], candidate: Candidate) -> float:
    """Coverage of what the topic of the passage leaves open; a half where it leaves nothing open."""
    topic, alone = prepare_text(candidate.topic), prepare_text(candidate.text)
    rest = {word: weight for word, weight in weights.items() if cover_of(word, topic) < 0.7}
    if rest:
        return coverage_of(rest, alone)
    return 1.0 if coverage_of(weights, alone) >= 0.95 else 0.5


def _pairs(reading: QuestionReading, candidate: Candidate) -> float:
    """Share of neighbouring question words that stand near each other in the sentence too."""
    keys = [word.key for word in reading.words]
    if len(keys) < 2:
        return 0.5
    places: dict[str, list[int]] = {}
    for place, word in enumerate(read_words(candidate.text)):
        places.setdefault(word.key, []).append(place)
    hits = 0
    for first, second in pairwise(keys):
        hits += any(abs(a - b) <= 3 for a in places.get(first, ()) for b in places.get(second, ()))
    return hits / (len(keys) - 1)


def score_cover(reading: QuestionReading, candidates: Sequence[Candidate], weights: dict[Word, float]) -> None:
    """Fill in the coverage features."""
    hard = hard_words(weights)
    contexts: dict[int, dict[str, float]] = {}
    for candidate in candidates:
        if candidate.rank not in contexts:
            contexts[candidate.rank] = _context_values(reading, candidate.passage, weights, hard)
        candidate.values = contexts[candidate.rank] | {
            "cov_sent": coverage_of(weights, prepare_text(candidate.text)),
            "cov_near": coverage_of(weights, prepare_text(candidate.near)),
            "cov_rest": _rest_cover(weights, candidate),
            "pairs": _pairs(reading, candidate),
            "rank": 1.0 / (1 + candidate.rank),
        }


def _context_values(reading: QuestionReading, passage: Passage, weights: dict[Word, float], hard: dict[Word, float]) -> dict[str, float]:
    text = prepare_text(context_of(passage))
    phrases = [phrase.casefold() for phrase in reading.phrases]
    return {
        "cov_ctx": coverage_of(weights, text),
        "hard_ctx": coverage_of(hard, text) if hard else 1.0,
        "worst_ctx": worst_of(weights, text),
        "phrases": sum(phrase in text.folded for phrase in phrases) / len(phrases) if phrases else 1.0,
    }


def prefilter(reading: QuestionReading, candidates: Sequence[Candidate], limit: int = MAX_EMBEDDED) -> list[Candidate]:
    """The candidates worth a closer look: word coverage, rank of the passage, and a number where a measure is asked."""
    wants_number = reading.answer_type in QUANTITY_TYPES

    def promise(candidate: Candidate) -> float:
        values = candidate.values
        has_number = wants_number and not _NUMERALS.isdisjoint(candidate.text)
        return (
            values["cov_sent"]
            + 0.6 * values["cov_rest"]
            + 0.6 * values["cov_near"]
            + 0.3 * values["rank"]
            + 0.2 * values["pairs"]
            + (0.25 if has_number else 0.0)
        )

    return sorted(candidates, key=promise, reverse=True)[:limit]
