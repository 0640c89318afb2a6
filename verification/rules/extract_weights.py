"""Numbers of the answerability model, as fitted by benchmarks/fit_answerability.py, which prints the figures that they reach.

RANK_WEIGHTS were set by hand. English: fitted on the development half of SQuAD 2 (questions.jsonl, sha256 in the shared SHA256SUMS) with and without
the right paragraph. Chinese: on that of CMRC and on company questions of our own (demo, benchmarks/sets) with and without the right document; the
lead over sentences of other documents (`cos_lead`) tells paraphrases apart there: area under the curve 0.91 out of fold against 0.83 of the rank
rule, interval of the gain [0.04, 0.12]; on CMRC 0.976 against 0.979 [-0.016, 0.009]. Calibrate on one's own documents.
"""

from __future__ import annotations

MODEL_NAME = "answerability_v2"
RANK_WEIGHTS: dict[str, float] = {
    "bias": -42.0, "cov_sent": 1.5, "cov_rest": 4.0, "cov_near": 1.5, "cov_ctx": 3.0, "hard_near": 1.0, "hard_ctx": 1.0, "worst_near": -0.5, "worst_ctx": -1.0, "pairs": 1.0,
    "type": 2.0, "type_near": 0.5, "cos": 35.0, "cos_gap": -15.0, "rank": 0.8, "opposite": -1.0, "negated_asked": -0.5, "negated_said": -0.5, "missing": -2.0,
}  # fmt: skip
ANSWER_WEIGHTS: dict[str, dict[str, float]] = {
    "en": {
        "bias": -31.2024, "type": 1.2191, "type_near": 0.2744, "cos": 11.3015, "cov_gap": -0.0178, "opposite": -0.9756, "negated_asked": -2.5414, "type_missing": -0.9915,
        "number_conflict": -1.4649, "hint_near": 2.4238, "phrases": 0.5854, "probe_missing": 3.1521, "clause": 6.1084, "statement": 13.9971, "margin": 0.2292,
    },
    "zh": {
        "bias": -19.0338, "cos": 14.6796, "cos_lead": 19.136, "margin": 0.523, "type": 0.1012, "type_missing": -2.2392, "cov_rest": 0.9264, "cov_ctx": 2.1677,
        "opposite": -3.8708, "hard_near": 1.6449,
    },
}  # fmt: skip
