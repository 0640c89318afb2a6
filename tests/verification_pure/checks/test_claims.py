from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.rules.claims import render_states, sample_claims, split_claims
from verification.rules.contract import Claim, Finding


def shape(text, count=9):
    return [(claim.text, claim.markers) for claim in split_claims(text, count)]


def test_marker_stands_before_or_after_the_full_stop():
    assert shape("Leave is 25 days [1]. Sick pay is full.[2] Travel is free. [3] Food is not.") == [
        ("Leave is 25 days.", (1,)),
        ("Sick pay is full.", (2,)),
        ("Travel is free.", (3,)),
        ("Food is not.", ()),
    ]


def test_chinese_sentences_split_without_spaces():
    assert shape("年假为25天[1]。病假全薪。[2]差旅由公司支付！真的？") == [
        ("年假为25天。", (1,)),
        ("病假全薪。", (2,)),
        ("差旅由公司支付！", ()),
        ("真的？", ()),
    ]


def test_list_items_are_claims_without_their_bullets_and_headings_are_none():
    assert shape("# Leave\n- 25 days [1]\n* 5 more days after five years [2]\n1. Ask Alice. [3]\n（2）提前两周申请【4】\n\n---\n") == [
        ("25 days", (1,)),
        ("5 more days after five years", (2,)),
        ("Ask Alice.", (3,)),
        ("提前两周申请", (4,)),
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith opens at 9 a.m. and closes at 5 p.m.",
        "See e.g. No. 5 of the list.",
        "The rate is 3.5 percent vs. 4 percent.",
        "J. Smith of the U.S. office signs.",
        "He said “stop.”",
        "Version 1.2.3 is current.",
        "A line\nthat goes on.",
    ],
)
def test_abbreviations_numbers_and_soft_breaks_end_no_sentence(sentence):
    assert [text for text, _ in shape(sentence)] == [sentence.replace("\n", " ")]


def test_abbreviation_before_a_capital_may_end_a_sentence():
    assert len(shape("It closes at 5 p.m. Visitors leave.")) == 2


def test_marker_that_opens_a_line_belongs_to_what_follows():
    assert shape("[1] Leave is 25 days.\n[2] Sick pay is full.") == [("Leave is 25 days.", (1,)), ("Sick pay is full.", (2,))]


def test_several_markers_count_once_and_out_of_range_is_no_citation():
    assert shape("A rule holds [1][2][1].", 2) == [("A rule holds.", (1, 2))]
    assert shape("A rule holds [7].", 2) == [("A rule holds.", ())]


def test_code_is_not_cut_and_its_brackets_cite_nothing():
    assert shape("Call `run. Now[1]` first [2].") == [("Call `run. Now[1]` first.", (2,))]


def test_claim_ids_are_stable_and_tell_equal_sentences_apart():
    first, second = split_claims("Yes. Yes.", 1)
    assert first.id != second.id
    assert split_claims("Yes. Yes.", 1) == (first, second)
    assert len(first.id) == 16
    assert int(first.id, 16) >= 0


@given(st.text(alphabet="ab A.。！?\n[1]【2】-`", max_size=60))
def test_no_word_of_an_answer_is_lost(text):
    claims = split_claims(text, 2)
    assert all(claim.text == " ".join(claim.text.split()) and claim.text for claim in claims)
    assert all(set(claim.markers) <= {1, 2} for claim in claims)


def make_claims(number):
    return tuple(Claim(f"{n:016x}", f"claim {n}", (1,)) for n in range(number))


def test_sample_is_by_hash_so_that_it_is_the_same_everywhere():
    claims = make_claims(2000)
    half = sample_claims(claims, 0.5)
    assert half == sample_claims(claims, 0.5)
    assert 900 < len(half) < 1100
    assert set(sample_claims(claims, 0.2)) <= set(half)
    assert sample_claims(claims, 0) == ()
    assert sample_claims(claims, 1) == claims


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ([("L1", "ok"), ("L2", "ok"), ("L3", "ok")], "ok"),
        ([("L1", "ok"), ("L2", "ok")], "exists_only"),
        ([("L1", "ok"), ("L2", "ok"), ("L3", "failed")], "exists_only"),
        ([("L1", "ok"), ("L3", "ok"), ("L3", "failed")], "exists_only"),
        ([("L1", "ok"), ("L3", "exists_only")], "exists_only"),
        ([("L1", "ok"), ("L2", "stale"), ("L3", "ok")], "stale"),
        ([("L1", "ok"), ("L2", "stale"), ("L3", "unsupported")], "unsupported"),
        ([("L1", "unsupported"), ("L3", "ok")], "unsupported"),
        ([], "exists_only"),
    ],
)
def test_SYS_E2_the_worst_finding_is_the_state_of_a_claim(outcomes, state):
    (claim,) = make_claims(1)
    findings = [Finding(claim.id, 1, layer, outcome) for layer, outcome in outcomes]
    assert render_states([claim], findings) == {claim.id: state}


def test_SYS_E2_a_claim_without_citation_is_unsupported_whatever_was_found():
    bare = Claim("0" * 16, "Said without a source.", ())
    assert render_states([bare], [Finding(bare.id, None, "L3", "ok", score=1.0)]) == {bare.id: "unsupported"}


def test_findings_about_other_claims_are_ignored():
    (claim,) = make_claims(1)
    assert render_states([claim], [Finding("f" * 16, 1, "L3", "unsupported")]) == {claim.id: "exists_only"}


def test_a_marker_with_no_sentence_cites_for_nobody():
    assert split_claims("[1]", 2) == ()
    assert shape("[1]\n\n---\n") == []
