"""Two scales: how promising a sentence is among others, and how likely the best one answers the question."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from verification.rules.extract_probe import PROBES
from verification.rules.extract_weights import ANSWER_WEIGHTS, MODEL_NAME, RANK_WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIDENCE_NAME = MODEL_NAME
BIAS = "bias"
MAX_MARGIN = 5.0  # lead over the next sentence in units of the rank logit; more says nothing more


def logit_of(weights: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Weighted sum with the bias."""
    return weights[BIAS] + sum(weight * values[name] for name, weight in weights.items() if name != BIAS)


def squash(logit: float) -> float:
    """Logistic function, safe for any size."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))


def rate_rank(values: Mapping[str, float]) -> float:
    """How promising a sentence is, 0 to 1, in any language; only the order among sentences of one question is meant."""
    return squash(logit_of(RANK_WEIGHTS, values))


def rate_answer(values: Mapping[str, float], lang: str) -> float:
    """How likely the best sentence answers the question, 0 to 1. Needs the probe values where the language's model uses them."""
    return squash(logit_of(ANSWER_WEIGHTS[lang], values))


def needs_probe(lang: str) -> bool:
    """Whether the answer model of the language uses the probes, which cost embeddings."""
    return not set(PROBES).isdisjoint(ANSWER_WEIGHTS[lang])
