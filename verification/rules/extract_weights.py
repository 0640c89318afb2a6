"""Numbers of the answerability model, as fitted by benchmarks/fit_answerability.py. Features are named in extract_features.FEATURES."""

from __future__ import annotations

MODEL_NAME = "answerability_v1"
RANK_WEIGHTS: dict[str, float] = {
    "bias": -42.0, "cov_sent": 1.5, "cov_rest": 4.0, "cov_near": 1.5, "cov_ctx": 3.0, "hard_near": 1.0, "hard_ctx": 1.0, "worst_near": -0.5, "worst_ctx": -1.0, "pairs": 1.0,
    "type": 2.0, "type_near": 0.5, "cos": 35.0, "cos_gap": -15.0, "rank": 0.8, "opposite": -1.0, "negated_asked": -0.5, "negated_said": -0.5, "missing": -2.0,
}  # fmt: skip
ANSWER_WEIGHTS: dict[str, dict[str, float]] = {
    "en": {"bias": -30.7678, "type": 1.3832, "type_near": 0.3794, "cos": 9.8968, "cov_gap": -0.723, "opposite": -0.9889, "negated_asked": -2.5901, "type_missing": -0.9403, "number_conflict": -1.6516, "hint_near": 1.0603, "phrases": 0.5219, "probe_missing": 2.9954, "clause": 7.7231, "statement": 14.0557, "margin": 0.226},
    "zh": RANK_WEIGHTS | {"bias": -38.86},
}  # fmt: skip
