"""Numbers of the answerability model, as fitted by benchmarks/fit_answerability.py. Features are named in extract_features.FEATURES."""

from __future__ import annotations

MODEL_NAME = "answerability_v0"
RANK_WEIGHTS: dict[str, float] = {
    "bias": -38.0, "cov_sent": 2.5, "cov_near": 1.5, "cov_ctx": 1.0, "hard_near": 1.0, "hard_ctx": 1.0, "worst_near": -0.5, "worst_ctx": -1.0, "pairs": 1.0,
    "type": 2.0, "type_near": 0.5, "cos": 35.0, "cos_gap": -15.0, "rank": 0.8, "opposite": -1.0, "negated_asked": -0.5, "negated_said": -0.5, "missing": -2.0,
}  # fmt: skip
ANSWER_WEIGHTS: dict[str, dict[str, float]] = {
    "en": {"bias": -27.5463, "type": 0.8955, "type_near": 0.319, "cos": 8.7903, "cov_gap": -2.0391, "opposite": -1.1364, "negated_asked": -2.8386, "type_missing": -1.4365, "number_conflict": -1.8041, "hint_near": 1.3023, "phrases": 0.5026, "probe_missing": 3.1124, "clause": 7.752, "statement": 12.1963, "margin": 0.182},
    "zh": RANK_WEIGHTS,
}  # fmt: skip
