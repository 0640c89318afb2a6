"""The answerability model: how likely a sentence answers a question, from its features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from verification.rules.extract_weights import LINEAR, MODEL_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIDENCE_NAME = MODEL_NAME


def rate_candidate(values: Mapping[str, float], lang: str) -> float:
    """Probability-like number from 0 to 1; comparable within one language of one model version."""
    weights = LINEAR[lang]
    total = weights["bias"] + sum(weight * values[name] for name, weight in weights.items() if name != "bias")
    return 1.0 / (1.0 + math.exp(-total))
