"""The numbers that say how well a sentence answers a question, beyond the words it covers.

All lie about 0 to 1, and none knows a data set: names and numbers, the kind of answer and how near it stands, signs of something else, e5 similarity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verification.rules.asked_units import drop_conditions
from verification.rules.extract_contrary import rate_hint_near, rate_number_conflict, rate_opposite, rate_type_missing
from verification.rules.extract_cover import Candidate, coverage_of, hard_words, worst_of
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.lexicon_words import Word, cover_of, prepare_text, read_words
from verification.rules.question_types import fitting_quantities, is_negated, rate_type, tells_ruling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Embed
    from verification.rules.question import QuestionReading

FEATURES = (
    "cov_sent", "cov_rest", "cov_near", "cov_ctx", "hard_near", "hard_ctx", "worst_near", "worst_ctx", "pairs", "phrases", "rank",
    "type", "type_near", "type_missing", "hint_near", "number_conflict", "opposite", "negated_asked", "negated_said", "missing",
    "cos", "cos_gap", "cos_lead", "cov_gap",
)  # fmt: skip
NEAR_CHARS = 20
NO_LEAD = 0.02  # where every candidate is of one document: about the lead of a sentence that is on the topic by chance


def score_details(reading: QuestionReading, candidates: Sequence[Candidate], weights: dict[Word, float]) -> None:
    """Fill in the features that need no model; the coverage is there already."""
    hard = hard_words(weights)
    for candidate in candidates:
        near = prepare_text(candidate.near)
        negated = is_negated(candidate.text, reading.lang)
        candidate.values |= _type_features(reading, candidate) | {
            "hard_near": coverage_of(hard, near) if hard else 1.0,
            "worst_near": worst_of(weights, near),
            "number_conflict": rate_number_conflict(reading, candidate.near),
            "opposite": rate_opposite(reading, near),
            "negated_asked": float(reading.is_negated and not negated),
            "negated_said": float(negated and not reading.is_negated),
            "missing": min(sum(cover_of(word, near) < 0.5 for word in reading.words), 6) / 6,
        }


def _type_features(reading: QuestionReading, candidate: Candidate) -> dict[str, float]:
    held = drop_conditions(reading.text, find_quantities(candidate.text), candidate.text)
    fitting = fitting_quantities(reading.answer_type, held, reading.quantities)
    asked = frozenset(word.text.casefold() for word in reading.words)
    places = [word.start for word in read_words(candidate.text) if word.key in reading.word_keys] if fitting else []
    gap = min((abs(place - quantity.start) for place in places for quantity in fitting), default=None)
    return {
        "type": 1.0 if tells_ruling(reading.text, candidate.text) else rate_type(reading.answer_type, candidate.text, fitting, asked),
        "type_near": 0.0 if gap is None else 1.0 / (1.0 + gap / NEAR_CHARS),
        "type_missing": rate_type_missing(reading, fitting, candidate.text),
        "hint_near": rate_hint_near(reading, candidate.text, fitting),
    }


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
        candidate.values |= {
            "cos": cosine,
            "cos_gap": best_cos - cosine,
            "cos_lead": _lead_of(candidate, candidates, cosines, cosine),
            "cov_gap": best_cover - candidate.values["cov_sent"],
        }


def _lead_of(candidate: Candidate, candidates: Sequence[Candidate], cosines: Sequence[float], cosine: float) -> float:
    """How far the sentence is nearer to the question than the sentences of other documents are: cosines are squeezed, so only their lead tells."""
    others = [value for other, value in zip(candidates, cosines, strict=True) if other.passage.document_id != candidate.passage.document_id]
    return cosine - sum(others) / len(others) if others else NO_LEAD


def embedded_text(candidate: Candidate) -> str:
    lead = candidate.passage.heading_path[-1] if candidate.passage.heading_path else ""
    return f"{lead}: {candidate.text}" if lead else candidate.text


def feature_row(candidate: Candidate) -> list[float]:
    return [candidate.values[name] for name in FEATURES]
