"""The decision: one table over recorded findings, pure, read from top to bottom; the first row that holds decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from verification.rules.claims import render_states
from verification.rules.contract import Scores, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from verification.rules.contract import AnswerThresholds, Claim, ConflictReport, Finding


@dataclass(frozen=True, slots=True)
class DecisionInputs:
    """All that was seen before the decision. Counts are over what the asker may see.

    retrieval_scored: False when a value was found by its exact key, so that there is no score to hold against a threshold.
    best_scores: the best of each named score over the hits. stale_cited, stale_candidates: chunk ids whose source changed.
    evidence_left: evidence items after all gates. chunk_settings_dropped: chunks dropped for changed or unknown settings.
    sampled: ids of the claims that the tier "sample" checked. relevance: the finding of layer Q, None when not asked for.
    """

    visible_count: int
    hits: int
    live_outdated: bool = False
    retrieval_scored: bool = True
    best_scores: Scores = field(default_factory=Scores)
    unsupported_attribute: tuple[str, str] | None = None
    conflict: ConflictReport | None = None
    stale_cited: tuple[str, ...] = ()
    stale_candidates: tuple[str, ...] = ()
    evidence_left: int = 1
    chunk_settings_dropped: int = 0
    prompt_budget_error: bool = False
    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    entailment_tier: str = "full"  # full | sample | skip
    sampled: tuple[str, ...] = ()
    relevance: Finding | None = None
    confidence: float | None = None


def decide(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict:
    """The verdict over what was seen; every input has one.

    Source: SYS-B6, SYS-E2, SYS-E5.
    """
    for rule in _TABLE:
        verdict = rule(inputs, thresholds)
        if verdict is not None:
            return verdict
    return _answer(inputs, thresholds)


def _abstain(reason: str, **detail: str) -> Verdict:
    return Verdict("abstained", reason, detail=detail)


def _check_corpus(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    return _abstain("no_corpus") if inputs.visible_count <= 0 else None


def _check_index(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    return _abstain("index_outdated") if inputs.live_outdated else None


def _check_hits(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    return _abstain("no_evidence") if inputs.hits <= 0 else None


def _check_retrieval(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict | None:
    low = _find_low_score(inputs, thresholds) if inputs.retrieval_scored else ""
    return _abstain("low_retrieval", score=low) if low else None


def _find_low_score(inputs: DecisionInputs, thresholds: AnswerThresholds) -> str:
    """Name of a score below the threshold that names it, or empty. A score that was not taken passes nothing and fails nothing;
    where no score with a threshold was taken, nothing has passed."""
    pairs = {"dense_cosine": thresholds.min_dense_cosine, "bm25": thresholds.min_bm25}
    asked = {name: least for name, least in pairs.items() if least is not None}
    taken = {name: getattr(inputs.best_scores, name) for name in asked if getattr(inputs.best_scores, name) is not None}
    if asked and not taken:
        return "not_scored"
    return next((name for name, score in taken.items() if _is_below(score, asked[name])), "")


def _is_below(score: float, least: float | None) -> bool:
    """Below a threshold that is set. 0 is a threshold (R07), and what does not compare (NaN) is below it."""
    return least is not None and not score >= least


def _check_attribute(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    if inputs.unsupported_attribute is None:
        return None
    subject, attribute = inputs.unsupported_attribute
    return _abstain("unsupported_attribute", subject=subject, attribute=attribute)


def _check_conflict(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    conflict = inputs.conflict
    if conflict is None or not conflict.found:
        return None
    return _abstain("conflicting_evidence", key=conflict.key, sides=str(len(conflict.sides)))


def _check_sources(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict | None:
    cited = set(inputs.stale_cited) | {finding.claim_id for finding in inputs.findings if finding.outcome == "stale"}
    if cited:
        return _abstain("source_changed", cited=str(len(cited)))
    if inputs.stale_candidates and (thresholds.stale_candidates != "drop" or inputs.evidence_left <= 0):
        return _abstain("source_changed", candidates=str(len(inputs.stale_candidates)))
    return None


def _check_evidence_left(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    if inputs.evidence_left > 0:
        return None
    return _abstain("chunk_settings_changed" if inputs.chunk_settings_dropped else "no_evidence")


def _check_budget(inputs: DecisionInputs, _: AnswerThresholds) -> Verdict | None:
    return Verdict("failed", "prompt_budget") if inputs.prompt_budget_error else None


def _check_claims(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict | None:
    """A claim that is unsupported or too low is taken out; where none is left, or one of a sample fell, nothing is said.

    A good claim never hides a bad one: the least score of what is kept is at or above the threshold.
    """
    claim_ids = {claim.id for claim in inputs.claims}
    unsupported, low = _find_unsupported(inputs), _find_low_claims(inputs, thresholds)
    sampled = set(inputs.sampled) if inputs.entailment_tier == "sample" else set()
    if claim_ids and (unsupported == claim_ids or sampled & unsupported):
        return _abstain("unsupported_claims", claims=str(len(unsupported)))
    if claim_ids and (unsupported | low == claim_ids or sampled & low):
        return _abstain("low_entailment", claims=str(len(low)))
    return None


def _find_unsupported(inputs: DecisionInputs) -> set[str]:
    return {claim_id for claim_id, state in render_states(inputs.claims, inputs.findings).items() if state == "unsupported"}


def _find_low_claims(inputs: DecisionInputs, thresholds: AnswerThresholds) -> set[str]:
    """Claims of which any entailment score, so the least, is below the threshold."""
    return {
        finding.claim_id
        for finding in inputs.findings
        if finding.layer == "L3" and finding.score is not None and _is_below(finding.score, thresholds.min_entailment)
    }


def _find_unverified(inputs: DecisionInputs) -> tuple[str, ...]:
    """Claims that should have been checked for entailment, and about which nothing is known."""
    states = render_states(inputs.claims, inputs.findings)
    due = set(inputs.sampled) if inputs.entailment_tier == "sample" and inputs.sampled else set(states)
    return tuple(claim.id for claim in inputs.claims if claim.id in due and states[claim.id] == "exists_only")


def _check_verified(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict | None:
    unverified = _find_unverified(inputs)
    if unverified and not thresholds.allow_unverified:
        return _abstain("verification_unavailable", tier=inputs.entailment_tier, claims=str(len(unverified)))
    return None


def _check_relevance(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict | None:
    relevance = inputs.relevance
    if not inputs.claims:
        return _abstain("does_not_answer", claims="0")
    if relevance is not None and relevance.outcome == "unsupported":
        return _abstain("does_not_answer", check=relevance.detail)
    if _is_relevance_failed(inputs) and not thresholds.allow_unverified:
        return _abstain("verification_unavailable", check="relevance")
    return _check_answer_score("answers", None if relevance is None else relevance.score, thresholds.min_answers) or _check_answer_score(
        "confidence", inputs.confidence, thresholds.min_confidence
    )


def _is_relevance_failed(inputs: DecisionInputs) -> bool:
    return inputs.relevance is not None and inputs.relevance.outcome == "failed"


def _check_answer_score(name: str, score: float | None, least: float | None) -> Verdict | None:
    """A threshold that is set needs a score: none taken is unknown, which is neither low nor a pass."""
    if least is None:
        return None
    if score is None:
        return _abstain("verification_unavailable", score=name)
    return _abstain("does_not_answer", score=name) if _is_below(score, least) else None


def _answer(inputs: DecisionInputs, thresholds: AnswerThresholds) -> Verdict:
    states = render_states(inputs.claims, inputs.findings)
    low = _find_low_claims(inputs, thresholds)
    removed = tuple(claim.id for claim in inputs.claims if states[claim.id] == "unsupported" or claim.id in low)
    unverified = _find_unverified(inputs)
    detail = {"unverified": ",".join(unverified)} if unverified else {}
    if inputs.entailment_tier == "sample" and inputs.sampled:
        detail["not_sampled"] = ",".join(claim.id for claim in inputs.claims if states[claim.id] == "exists_only" and claim.id not in unverified)
    if unverified or _is_relevance_failed(inputs):
        return Verdict("answered_unverified", "verification_unavailable", removed, detail)
    return Verdict("partial" if removed else "answered", "unsupported_claims" if removed else "", removed, detail)


# The rows of answering.md, in its order
_TABLE: tuple[Callable[[DecisionInputs, AnswerThresholds], Verdict | None], ...] = (
    _check_corpus,
    _check_index,
    _check_hits,
    _check_retrieval,
    _check_attribute,
    _check_conflict,
    _check_sources,
    _check_evidence_left,
    _check_budget,
    _check_claims,
    _check_verified,
    _check_relevance,
)
