from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verification.rules.contract import AnswerThresholds, Claim, ConflictReport, Finding, Scores, Side
from verification.rules.decision import DecisionInputs, decide

OPEN = AnswerThresholds()
ONE, TWO, THREE = (Claim(f"{n:016x}", f"Claim {n}.", (n,)) for n in (1, 2, 3))
ANSWERING = {"answered", "partial", "answered_unverified"}


def found(claim, outcome="ok", score=0.9, layer="L3"):
    return Finding(claim.id, claim.markers[0], layer, outcome, score=score)


def side(value):
    return Side(value, "d", "d.md", "r", "c", "line 1", 0, 1, value)


def conflict(*values):
    return ConflictReport("frontdesk|openinghours", tuple(side(value) for value in values), "complete_permitted_subject_field_source_set", 2)


GOOD = DecisionInputs(
    visible_count=3,
    hits=2,
    best_scores=Scores(dense_cosine=0.8, bm25=7.0),
    claims=(ONE, TWO),
    findings=(found(ONE), found(TWO)),
    relevance=Finding("", None, "Q", "ok", score=0.9),
    confidence=0.9,
)


def outcome(thresholds=OPEN, **changes):
    verdict = decide(replace(GOOD, **changes), thresholds)
    return verdict.status, verdict.reason


def test_SYS_B6_answer_has_no_reason():
    assert outcome() == ("answered", "")


def test_SYS_B6_no_corpus():
    assert outcome(visible_count=0, hits=0) == ("abstained", "no_corpus")


def test_SYS_B6_index_outdated():
    assert outcome(live_outdated=True, hits=0) == ("abstained", "index_outdated")


def test_SYS_B6_no_evidence_is_not_a_negative_answer():
    assert outcome(hits=0) == ("abstained", "no_evidence")
    assert outcome(evidence_left=0) == ("abstained", "no_evidence")


@pytest.mark.parametrize("thresholds", [AnswerThresholds(min_dense_cosine=0.81), AnswerThresholds(min_bm25=7.5)])
def test_SYS_B6_low_retrieval(thresholds):
    assert outcome(thresholds) == ("abstained", "low_retrieval")
    assert outcome(thresholds, retrieval_scored=False) == ("answered", "")


def test_R06_each_threshold_is_held_against_the_score_it_names():
    assert outcome(AnswerThresholds(min_bm25=5.0)) == ("answered", "")
    assert outcome(AnswerThresholds(min_dense_cosine=0.5, min_bm25=5.0), best_scores=Scores(dense_cosine=0.8)) == ("answered", "")


def test_R07_none_is_no_score_and_passes_no_threshold():
    verdict = decide(replace(GOOD, best_scores=Scores()), AnswerThresholds(min_dense_cosine=0.0))
    assert (verdict.reason, verdict.detail) == ("low_retrieval", {"score": "not_scored"})
    assert outcome(best_scores=Scores()) == ("answered", "")


def test_R07_a_threshold_of_zero_is_a_threshold():
    assert outcome(AnswerThresholds(min_dense_cosine=0.0), best_scores=Scores(dense_cosine=-0.01)) == ("abstained", "low_retrieval")
    assert outcome(AnswerThresholds(min_dense_cosine=0.0), best_scores=Scores(dense_cosine=0.0)) == ("answered", "")
    assert outcome(AnswerThresholds(min_confidence=0.0), confidence=None) == ("abstained", "verification_unavailable")
    assert outcome(AnswerThresholds(min_answers=0.0), relevance=None) == ("abstained", "verification_unavailable")


def test_a_score_that_does_not_compare_is_below_every_threshold():
    assert outcome(AnswerThresholds(min_dense_cosine=-1.0), best_scores=Scores(dense_cosine=float("nan"))) == ("abstained", "low_retrieval")


def test_SYS_B6_unsupported_attribute():
    verdict = decide(replace(GOOD, unsupported_attribute=("Front desk", "phone")), OPEN)
    assert (verdict.status, verdict.reason, verdict.detail) == ("abstained", "unsupported_attribute", {"subject": "Front desk", "attribute": "phone"})


def test_SYS_B6_conflicting_evidence_names_the_key():
    verdict = decide(replace(GOOD, conflict=conflict("9 am", "10 am")), OPEN)
    assert (verdict.status, verdict.reason, verdict.detail) == ("abstained", "conflicting_evidence", {"key": "frontdesk|openinghours", "sides": "2"})
    assert outcome(conflict=conflict("9 am")) == ("answered", "")


def test_SYS_B6_source_changed():
    assert outcome(stale_cited=("c1",)) == ("abstained", "source_changed")
    assert outcome(findings=(found(ONE), found(TWO), found(TWO, "stale", None, "L2"))) == ("abstained", "source_changed")


def test_SYS_B6_source_changed_for_a_candidate_that_is_not_cited():
    assert outcome(stale_candidates=("c9",)) == ("abstained", "source_changed")
    assert outcome(AnswerThresholds(stale_candidates="drop"), stale_candidates=("c9",)) == ("answered", "")
    assert outcome(AnswerThresholds(stale_candidates="drop"), stale_candidates=("c9",), evidence_left=0) == ("abstained", "source_changed")
    assert outcome(AnswerThresholds(stale_candidates="unheard-of"), stale_candidates=("c9",)) == ("abstained", "source_changed")


def test_SYS_B6_chunk_settings_changed_only_when_nothing_is_left():
    assert outcome(chunk_settings_dropped=2) == ("answered", "")
    assert outcome(chunk_settings_dropped=2, evidence_left=0) == ("abstained", "chunk_settings_changed")


def test_SYS_B6_prompt_budget_is_a_failure():
    assert outcome(prompt_budget_error=True) == ("failed", "prompt_budget")


def test_SYS_B6_unsupported_claims():
    assert outcome(findings=(found(ONE, "unsupported"), found(TWO, "unsupported"))) == ("abstained", "unsupported_claims")


def test_SYS_B6_low_entailment():
    strict = AnswerThresholds(min_entailment=0.95)
    assert outcome(strict) == ("abstained", "low_entailment")
    assert outcome(strict, findings=(found(ONE, "unsupported"), found(TWO))) == ("abstained", "low_entailment")


def test_SYS_B6_partial_answer_lists_what_was_taken_out():
    verdict = decide(replace(GOOD, findings=(found(ONE), found(TWO, "unsupported"))), OPEN)
    assert (verdict.status, verdict.reason, verdict.removed_claims) == ("partial", "unsupported_claims", (TWO.id,))


def test_a_good_claim_never_hides_a_bad_one():
    verdict = decide(replace(GOOD, findings=(found(ONE, score=1.0), found(TWO, score=0.2))), AnswerThresholds(min_entailment=0.5))
    assert (verdict.status, verdict.removed_claims) == ("partial", (TWO.id,))


def test_the_least_of_several_scores_of_a_claim_decides():
    findings = (found(ONE, score=0.9), found(ONE, score=0.1))
    assert outcome(AnswerThresholds(min_entailment=0.5), claims=(ONE,), findings=findings) == ("abstained", "low_entailment")


def test_R07_entailment_threshold_of_zero_refuses_what_is_below_it():
    assert outcome(AnswerThresholds(min_entailment=0.0), claims=(ONE,), findings=(found(ONE, score=-0.1),)) == ("abstained", "low_entailment")
    assert outcome(AnswerThresholds(min_entailment=0.0), claims=(ONE,), findings=(found(ONE, score=0.0),)) == ("answered", "")


def test_SYS_B6_verification_unavailable_when_the_check_failed():
    findings = (found(ONE), found(TWO, "failed", None))
    assert outcome(findings=findings) == ("abstained", "verification_unavailable")
    assert outcome(AnswerThresholds(allow_unverified=True), findings=findings) == ("answered_unverified", "verification_unavailable")


def test_SYS_B6_verification_unavailable_when_the_check_was_skipped():
    assert outcome(entailment_tier="skip", findings=()) == ("abstained", "verification_unavailable")
    verdict = decide(replace(GOOD, entailment_tier="skip", findings=()), AnswerThresholds(allow_unverified=True))
    assert (verdict.status, verdict.detail) == ("answered_unverified", {"unverified": f"{ONE.id},{TWO.id}"})


def test_sampled_claims_must_pass_and_the_others_are_said_to_be_unchecked():
    sampled = {"entailment_tier": "sample", "sampled": (ONE.id,)}
    verdict = decide(replace(GOOD, findings=(found(ONE),), **sampled), OPEN)
    assert (verdict.status, verdict.detail) == ("answered", {"not_sampled": TWO.id})
    assert outcome(findings=(found(ONE, "unsupported"),), **sampled) == ("abstained", "unsupported_claims")
    assert outcome(AnswerThresholds(min_entailment=0.95), findings=(found(ONE),), **sampled) == ("abstained", "low_entailment")
    assert outcome(findings=(found(ONE, "failed", None),), **sampled) == ("abstained", "verification_unavailable")


def test_a_sample_of_none_is_no_check():
    assert outcome(entailment_tier="sample", findings=()) == ("abstained", "verification_unavailable")


def test_SYS_B6_does_not_answer():
    assert outcome(relevance=Finding("", None, "Q", "unsupported", "another subject")) == ("abstained", "does_not_answer")
    assert outcome(AnswerThresholds(min_answers=0.95)) == ("abstained", "does_not_answer")
    assert outcome(AnswerThresholds(min_confidence=0.95)) == ("abstained", "does_not_answer")
    assert outcome(claims=(), findings=()) == ("abstained", "does_not_answer")


def test_a_relevance_check_that_failed_is_unknown_and_never_passes():
    failed = Finding("", None, "Q", "failed")
    assert outcome(relevance=failed) == ("abstained", "verification_unavailable")
    assert outcome(AnswerThresholds(allow_unverified=True), relevance=failed) == ("answered_unverified", "verification_unavailable")


ORDERED = [
    ("no_corpus", {"visible_count": 0}),
    ("index_outdated", {"live_outdated": True}),
    ("no_evidence", {"hits": 0}),
    ("low_retrieval", {"best_scores": Scores(dense_cosine=0.1)}),
    ("unsupported_attribute", {"unsupported_attribute": ("a", "b")}),
    ("conflicting_evidence", {"conflict": conflict("1", "2")}),
    ("source_changed", {"stale_cited": ("c",)}),
    ("chunk_settings_changed", {"chunk_settings_dropped": 1, "evidence_left": 0}),
    ("prompt_budget", {"prompt_budget_error": True}),
    ("unsupported_claims", {"findings": (found(ONE, "unsupported"), found(TWO, "unsupported"))}),
    ("does_not_answer", {"relevance": Finding("", None, "Q", "unsupported")}),
]


@pytest.mark.parametrize("first", range(len(ORDERED)))
def test_SYS_B6_the_first_row_that_holds_decides(first):
    changes = {}
    for _, change in reversed(ORDERED[first:]):
        changes |= change
    assert outcome(AnswerThresholds(min_dense_cosine=0.5), **changes)[1] == ORDERED[first][0]


SCORES = st.one_of(st.none(), st.sampled_from([-0.1, 0.0, 0.3, 0.5, 0.7, 1.0]))
FINDINGS = st.lists(
    st.builds(
        Finding,
        st.sampled_from([ONE.id, TWO.id, THREE.id]),
        st.just(1),
        st.sampled_from(["L1", "L2", "L3"]),
        st.sampled_from(["ok", "exists_only", "stale", "unsupported", "failed"]),
        st.just(""),
        SCORES,
    ),
    max_size=6,
).map(tuple)
INPUTS = st.builds(
    DecisionInputs,
    visible_count=st.integers(0, 3),
    hits=st.integers(0, 3),
    live_outdated=st.booleans(),
    retrieval_scored=st.booleans(),
    best_scores=st.builds(Scores, dense_cosine=SCORES, bm25=SCORES),
    unsupported_attribute=st.sampled_from([None, None, None, ("a", "b")]),
    conflict=st.sampled_from([None, conflict("1"), conflict("1", "2")]),
    stale_cited=st.sampled_from([(), (), ("c",)]),
    stale_candidates=st.sampled_from([(), (), ("c",)]),
    evidence_left=st.integers(0, 2),
    chunk_settings_dropped=st.integers(0, 1),
    prompt_budget_error=st.sampled_from([False, False, True]),
    claims=st.sampled_from([(), (ONE,), (ONE, TWO), (ONE, TWO, THREE)]),
    findings=FINDINGS,
    entailment_tier=st.sampled_from(["full", "sample", "skip"]),
    sampled=st.sampled_from([(), (ONE.id,), (ONE.id, TWO.id)]),
    relevance=st.one_of(
        st.none(), st.builds(Finding, st.just(""), st.none(), st.just("Q"), st.sampled_from(["ok", "unsupported", "failed"]), st.just(""), SCORES)
    ),
    confidence=SCORES,
)
THRESHOLDS = st.builds(
    AnswerThresholds,
    min_dense_cosine=SCORES,
    min_bm25=SCORES,
    min_confidence=SCORES,
    min_entailment=SCORES,
    min_answers=SCORES,
    stale_candidates=st.sampled_from(["refuse_all", "drop"]),
    allow_unverified=st.booleans(),
)
REASONS = {
    "abstained": {
        "no_corpus", "index_outdated", "no_evidence", "low_retrieval", "unsupported_attribute", "conflicting_evidence", "source_changed",
        "chunk_settings_changed", "unsupported_claims", "low_entailment", "verification_unavailable", "does_not_answer",
    },
    "failed": {"prompt_budget"},
    "answered": {""},
    "partial": {"unsupported_claims"},
    "answered_unverified": {"verification_unavailable"},
}  # fmt: skip


@settings(max_examples=500)
@given(inputs=INPUTS, thresholds=THRESHOLDS)
def test_SYS_B6_every_input_has_one_verdict_with_a_known_code(inputs, thresholds):
    verdict = decide(inputs, thresholds)
    assert verdict.reason in REASONS[verdict.status]
    assert verdict == decide(inputs, thresholds)
    assert set(verdict.removed_claims) <= {claim.id for claim in inputs.claims}
    if verdict.status in ANSWERING:
        assert len(verdict.removed_claims) < len(inputs.claims)


def worsen(finding):
    """Every finding that is worse than this one: a lower score, or known to be bad instead of good. Unknown and bad are not comparable."""
    if finding.score is not None:
        yield replace(finding, score=finding.score - 0.4)
    worse = {"ok": ["stale", "unsupported", "failed"], "exists_only": ["stale", "unsupported"]}.get(finding.outcome, [])
    yield from (replace(finding, outcome=outcome_) for outcome_ in worse if finding.layer == "L3" or outcome_ != "failed")


@settings(max_examples=500)
@given(inputs=INPUTS, thresholds=THRESHOLDS, data=st.data())
def test_a_worse_finding_never_turns_an_abstention_into_an_answer(inputs, thresholds, data):
    before = decide(inputs, thresholds)
    if not inputs.findings:
        return
    place = data.draw(st.integers(0, len(inputs.findings) - 1))
    for worse in worsen(inputs.findings[place]):
        after = decide(replace(inputs, findings=(*inputs.findings[:place], worse, *inputs.findings[place + 1 :])), thresholds)
        if before.status not in ANSWERING:
            assert after.status not in ANSWERING, worse
        kept = {claim.id for claim in inputs.claims} - set(after.removed_claims)
        if after.status in ANSWERING:
            assert kept <= {claim.id for claim in inputs.claims} - set(before.removed_claims)


@settings(max_examples=300)
@given(inputs=INPUTS, thresholds=THRESHOLDS)
def test_lower_scores_and_higher_thresholds_never_open_an_answer(inputs, thresholds):
    if decide(inputs, thresholds).status in ANSWERING:
        return
    lower = replace(
        inputs, best_scores=Scores(*(None if score is None else score - 1 for score in (inputs.best_scores.dense_cosine, inputs.best_scores.bm25)))
    )
    assert decide(lower, thresholds).status not in ANSWERING
    raised = replace(thresholds, min_entailment=1.1, min_confidence=1.1, min_answers=1.1)
    assert decide(inputs, raised).status not in ANSWERING
