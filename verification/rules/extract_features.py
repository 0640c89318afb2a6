"""Candidate sentences of the top passages and the numbers that say how well each answers a question.

All features lie about 0 to 1 and none knows a data set: coverage of the question's words (weighted by how rare they are in the passages),
names and numbers apart, kind of answer, nearness, e5 similarity, place of the passage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from verification.rules.extract_contrary import (
    rate_hint_near,
    rate_negated_near,
    rate_number_conflict,
    rate_opposite,
    rate_substituted,
    rate_type_missing,
)
from verification.rules.extract_sentences import CODE, HEADING, ROW, Unit, clean_markdown, split_units
from verification.rules.lexicon import PRONOUNS_CHINESE, PRONOUNS_ENGLISH
from verification.rules.lexicon_words import TextWords, Word, cover_of, prepare_text, read_words
from verification.rules.numbers import read_quantities
from verification.rules.question_types import fitting_quantities, is_negated, rate_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Embed, Passage
    from verification.rules.question import QuestionReading

FEATURES = (
    "cov_sent",
    "cov_near",
    "cov_ctx",
    "hard_near",
    "hard_ctx",
    "worst_near",
    "worst_ctx",
    "pairs",
    "type",
    "type_near",
    "cos",
    "cos_gap",
    "cov_gap",
    "rank",
    "dense",
    "length",
    "is_row",
    "opposite",
    "negated_asked",
    "negated_said",
    "negated_near",
    "type_missing",
    "number_conflict",
    "hint_near",
    "substituted",
    "n_words",
    "phrases",
    "attribute",
    "missing",
)
MAX_EMBEDDED = 16  # about 20 ms a sentence: the budget of one answer
NAME_WEIGHT = 1.5
NEAR_WORDS = 12


@dataclass(slots=True)
class Candidate:
    """One unit of one passage with its clean text, the text around it, and later its features."""

    passage: Passage
    rank: int
    index: int
    unit: Unit
    text: str
    near: str
    values: dict[str, float]


def list_candidates(passages: Sequence[Passage]) -> list[Candidate]:
    """Every sentence, list item and table row that says something; headings and code are context only."""
    found = []
    for rank, passage in enumerate(passages):
        units = split_units(passage.text)
        texts = [clean_markdown(passage.text[unit.start : unit.end]) for unit in units]
        for index, unit in enumerate(units):
            if unit.kind in {HEADING, CODE} or len(texts[index]) < 2 or texts[index].endswith(("?", "？")):
                continue
            found.append(Candidate(passage, rank, index, unit, texts[index], _near_text(passage, units, texts, index), {}))
    return found


def _near_text(passage: Passage, units: Sequence[Unit], texts: Sequence[str], index: int) -> str:
    """The sentence with its lead-in, nearest heading, and the sentence before it when that carries the subject."""
    parts = [" / ".join(passage.heading_path), texts[index]]
    if units[index].lead >= 0:
        parts.append(texts[units[index].lead])
    if index and units[index - 1].kind == units[index].kind != ROW:
        parts.append(texts[index - 1])
    return "\n".join(parts)


def starts_with_pronoun(text: str) -> bool:
    """Whether a sentence leans on the one before it."""
    words = text.split(maxsplit=1)
    return bool(words) and (words[0].casefold().strip(",") in PRONOUNS_ENGLISH or text.startswith(PRONOUNS_CHINESE))


def context_of(passage: Passage) -> str:
    """All that a passage carries: path of the document, headings and text."""
    return "\n".join((passage.document.rsplit("/", 1)[-1].replace("-", " ").replace("_", " "), *passage.heading_path, passage.text))


def weigh_words(reading: QuestionReading, passages: Sequence[Passage]) -> dict[Word, float]:
    """Weight of each question word: rarer in the passages is heavier, names and numbers heavier still."""
    contexts = [prepare_text(context_of(passage)) for passage in passages]
    weights: dict[Word, float] = {}
    for word in reading.words:
        held = sum(cover_of(word, context) >= 0.75 for context in contexts)
        rarity = math.log((len(contexts) + 1) / (held + 0.5)) if held else math.log(len(contexts) + 1)
        weights[word] = max(rarity, 0.25) * (NAME_WEIGHT if word.is_name or word.is_number else 1.0)
    return weights


def _coverage(weights: dict[Word, float], text: TextWords) -> float:
    total = sum(weights.values())
    return sum(weight * cover_of(word, text) for word, weight in weights.items()) / total if total else 0.0


def _hard(weights: dict[Word, float]) -> dict[Word, float]:
    return {word: weight for word, weight in weights.items() if word.is_name or word.is_number}


def _worst(weights: dict[Word, float], text: TextWords) -> float:
    """Share of the heaviest uncovered word: near 1 when the very thing asked about is not there."""
    top = max(weights.values(), default=1.0)
    return max((weight * (1 - cover_of(word, text)) for word, weight in weights.items()), default=0.0) / top


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


def _type_features(reading: QuestionReading, candidate: Candidate) -> tuple[float, float, float, float]:
    fitting = fitting_quantities(reading.answer_type, read_quantities(candidate.text), reading.quantities)
    asked = frozenset(word.text.casefold() for word in reading.words)
    rate = rate_type(reading.answer_type, candidate.text, fitting, asked)
    hint_near = rate_hint_near(reading, candidate.text, fitting)
    missing = rate_type_missing(reading, fitting, candidate.text)
    if not fitting:
        return rate, 0.0, hint_near, missing
    keys = reading.word_keys
    places = [word.start for word in read_words(candidate.text) if word.key in keys]
    if not places:
        return rate, 0.0, hint_near, missing
    gap = min(abs(place - quantity.start) for place in places for quantity in fitting)
    return rate, 1.0 / (1.0 + gap / 20), hint_near, missing


def _attribute_cover(reading: QuestionReading, near: TextWords) -> float:
    words = read_words(reading.attribute) if reading.attribute else ()
    return sum(cover_of(word, near) for word in words) / len(words) if words else 0.6


def score_words(reading: QuestionReading, candidates: Sequence[Candidate], weights: dict[Word, float]) -> None:
    """Fill in every feature that needs no model."""
    hard = _hard(weights)
    contexts: dict[int, tuple[float, float, float, float]] = {}
    for candidate in candidates:
        if candidate.rank not in contexts:
            contexts[candidate.rank] = _context_values(reading, candidate.passage, weights, hard)
        cov_ctx, hard_ctx, worst_ctx, phrases = contexts[candidate.rank]
        alone, near = prepare_text(candidate.text), prepare_text(candidate.near)
        rate, type_near, hint_near, type_missing = _type_features(reading, candidate)
        negated = is_negated(candidate.text, reading.lang)
        candidate.values = {
            "cov_sent": _coverage(weights, alone),
            "cov_near": _coverage(weights, near),
            "cov_ctx": cov_ctx,
            "hard_near": _coverage(hard, near) if hard else 1.0,
            "hard_ctx": hard_ctx,
            "worst_near": _worst(weights, near),
            "worst_ctx": worst_ctx,
            "pairs": _pairs(reading, candidate),
            "type": rate,
            "type_near": type_near,
            "rank": 1.0 / (1 + candidate.rank),
            "length": min(len(read_words(candidate.text)), 60) / 60,
            "is_row": float(candidate.unit.kind == ROW),
            "opposite": rate_opposite(reading, near),
            "negated_asked": float(reading.is_negated and not negated),
            "negated_said": float(negated and not reading.is_negated),
            "negated_near": rate_negated_near(reading, candidate.text),
            "type_missing": type_missing,
            "number_conflict": rate_number_conflict(reading, candidate.near),
            "hint_near": hint_near,
            "substituted": rate_substituted(reading, candidate.text, near),
            "n_words": min(len(reading.words), 16) / 16,
            "phrases": phrases,
            "attribute": _attribute_cover(reading, near),
            "missing": min(sum(cover_of(word, near) < 0.5 for word in reading.words), 6) / 6,
        }


def _context_values(
    reading: QuestionReading, passage: Passage, weights: dict[Word, float], hard: dict[Word, float]
) -> tuple[float, float, float, float]:
    text = prepare_text(context_of(passage))
    phrases = [phrase.casefold() for phrase in reading.phrases]
    held = sum(phrase in text.folded for phrase in phrases) / len(phrases) if phrases else 1.0
    return _coverage(weights, text), _coverage(hard, text) if hard else 1.0, _worst(weights, text), held


def prefilter(candidates: Sequence[Candidate], limit: int = MAX_EMBEDDED) -> list[Candidate]:
    """The candidates worth an embedding: word coverage, kind of answer and rank of the passage."""

    def promise(candidate: Candidate) -> float:
        values = candidate.values
        return values["cov_sent"] + 0.6 * values["cov_near"] + 0.3 * values["type"] + 0.3 * values["rank"] + 0.2 * values["pairs"]

    return sorted(candidates, key=promise, reverse=True)[:limit]


def score_vectors(reading: QuestionReading, candidates: Sequence[Candidate], embed: Embed) -> None:
    """Fill in the features that need the embedding, and the gaps to the best candidate."""
    if not candidates:
        return
    question = embed([reading.text], "query")[0]
    rows = np.asarray(embed([embedded_text(candidate) for candidate in candidates], "passage"))
    cosines = [float(value) for value in rows @ question]
    best_cos = max(cosines)
    best_cover = max(candidate.values["cov_sent"] for candidate in candidates)
    for candidate, cosine in zip(candidates, cosines, strict=True):
        dense = candidate.passage.scores.dense_cosine
        candidate.values |= {
            "cos": cosine,
            "cos_gap": best_cos - cosine,
            "cov_gap": best_cover - candidate.values["cov_sent"],
            "dense": dense if dense is not None else best_cos,
        }


def embedded_text(candidate: Candidate) -> str:
    lead = candidate.passage.heading_path[-1] if candidate.passage.heading_path else ""
    return f"{lead}: {candidate.text}" if lead else candidate.text


def feature_row(candidate: Candidate) -> list[float]:
    return [candidate.values[name] for name in FEATURES]
