from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verification_pure.checks.mutation_cases import CHINESE, CONTRASTS, ENGLISH, MUTATORS
from verification.rules.entailment import check_entailment

THRESHOLD = 0.5
CASES = (*ENGLISH, *CHINESE)
MUTANTS = sorted({(name, bad, evidence) for evidence, _ in CASES for name, mutate in MUTATORS.items() for bad in mutate(evidence) if bad != evidence})
MAX_FALSE_ALARMS = 0.02


def judge(claim, *evidence, heading=""):
    finding = check_entailment(claim, evidence, heading, THRESHOLD)
    return finding.outcome, finding.detail


@pytest.mark.parametrize(("mutator", "claim", "evidence"), MUTANTS)
def test_a_claim_that_says_something_else_is_unsupported(mutator, claim, evidence):
    assert judge(claim, evidence)[0] == "unsupported"


@pytest.mark.parametrize(("claim", "evidence"), [(bad, evidence) for evidence, _, bads in CONTRASTS for bad in bads])
def test_a_claim_about_another_clause_or_an_exception_is_unsupported(claim, evidence):
    assert judge(claim, evidence)[0] == "unsupported"


def test_mutants_are_many_and_of_every_kind():
    assert {name for name, _, _ in MUTANTS} == set(MUTATORS)
    assert len(MUTANTS) >= 150


def test_clean_paraphrases_raise_few_false_alarms():
    pairs = [(text, evidence) for evidence, paraphrases in CASES for text in (evidence, *paraphrases)]
    pairs += [(text, evidence) for evidence, goods, _ in CONTRASTS for text in goods]
    alarms = [(text, judge(text, evidence)) for text, evidence in pairs if judge(text, evidence)[0] != "ok"]
    assert len(alarms) <= MAX_FALSE_ALARMS * len(pairs), alarms


@pytest.mark.parametrize("evidence", [evidence for evidence, _ in CASES])
def test_a_whole_sentence_is_supported_by_itself_with_score_one(evidence):
    finding = check_entailment(evidence, [f"Other words come first. {evidence} And others after.", "另一段文字。"], "", 1.0)
    assert (finding.layer, finding.outcome, finding.score) == ("L3", "ok", 1.0)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The office is open on Sunday.", "It is not true that the office is open on Sunday."),
        ("Employees share passwords.", "Employees may not share passwords unless IT approves."),
        ("share passwords", "Employees may not share passwords unless IT approves."),
        ("Employees may not share passwords.", "Employees may not share passwords unless IT approves."),
        ("Claims are due within 30 days.", "Claims are due within 30 days was the old rule; now they are due within 14 days."),
        ("Claims are due within 30 days.", "Claims are due within 30 days. This is no longer valid."),
        ("Lunch is free.", "Some believe that lunch is free."),
        ("Lunch is free.", "There is no evidence that lunch is free."),
        ("The building is closed.", "If the alarm rings, the building is closed.".replace("If the alarm rings, the", "Call Alice if the")),
        ("Visitors may use the lift.", "Visitors may use the lift only if a guide is present."),
        ("Remote work is allowed.", "Previously, remote work is allowed on all days."),
        ("周日办公室开放。", "并非周日办公室开放。"),
        ("员工可以共享密码。", "员工可以共享密码的说法不属实。"),
        ("员工可以携带电脑出境。", "除非信息部批准，员工可以携带电脑出境的申请一律退回。"),
        ("报销期限为30天。", "报销期限为30天。该规定已废止。"),
        ("携带电脑出境", "员工不得携带电脑出境。"),
        ("午餐免费。", "据说午餐免费。"),
    ],
)
def test_words_torn_out_of_what_turns_them_are_unsupported(claim, evidence):
    assert judge(claim, evidence)[0] == "unsupported"


@pytest.mark.parametrize(
    ("claim", "evidence", "code"),
    [
        ("Leave is 26 days.", "Leave is 25 days.", "number_not_in_evidence"),
        ("Leave starts on May 2, 2024.", "Leave starts on May 1, 2024.", "date_not_in_evidence"),
        ("The tower belongs to Globex.", "The tower belongs to Acme.", "name_not_in_evidence"),
        ("Leave is 25 days.", "Parking in the yard costs 25 euros a day.", "number_not_in_evidence"),
        ("Badges glow in darkness.", "Parking in the yard is paid.", "too_little_overlap"),
        ("", "Parking in the yard is paid.", "nothing_to_compare"),
        ("Five managers sign for 3 clerks.", "Three managers sign for 5 clerks.", "number_of_another_thing"),
        ("Visitors must sign in.", "Visitors may sign in.", "modality_differs"),
        ("The fee is unpaid.", "The fee is paid.", "negated_word"),
    ],
)
def test_the_finding_says_what_disagrees(claim, evidence, code):
    assert judge(claim, evidence) == ("unsupported", code)


def test_all_numbers_and_names_are_covered_by_the_cited_texts_together():
    claim = "Leave is 25 days, and Alice approves it."
    assert judge(claim, "Leave is 25 days.", "Leave: Alice approves it.")[0] == "ok"
    assert judge(claim, "Leave is 25 days.") == ("unsupported", "name_not_in_evidence")
    assert judge(claim, "Leave: Alice approves it.") == ("unsupported", "number_not_in_evidence")


def test_the_heading_names_the_subject():
    assert judge("The front desk opens at 9 am.", "Opens at 9 am.", heading="Front desk")[0] == "ok"


def test_no_evidence_supports_nothing():
    assert judge("Leave is 25 days.") == ("unsupported", "nothing_to_compare")


def test_overlap_is_held_against_the_threshold():
    claim, evidence = "Staff bring lunch boxes weekly on trains.", "Staff bring lunch boxes."
    finding = check_entailment("Staff bring small lunch boxes.", [evidence], "", 0.5)
    assert finding.outcome == "ok"
    assert 0 < finding.score < 1
    assert check_entailment("Staff bring small lunch boxes.", [evidence], "", 0.99).detail == "too_little_overlap"
    assert check_entailment(claim, [evidence], "", 0.5).outcome == "unsupported"


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab not 不得 12天 May.must 。,“”[A-Z]", max_size=50), st.text(alphabet="ab not 不得 12天 May.must 。,“”", max_size=80))
def test_any_text_gets_a_finding_that_is_the_same_every_time(claim, evidence):
    finding = check_entailment(claim, [evidence], "", THRESHOLD)
    assert finding.outcome in {"ok", "unsupported"}
    assert (finding.outcome == "ok") == (finding.detail == "")
    assert 0.0 <= finding.score <= 1.0
    assert finding == check_entailment(claim, [evidence], "", THRESHOLD)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Repair · 40 EUR", "Kind\tFee\nCleaning\t15 EUR\nRepair\t40 EUR"),
        ("维修 · 40元", "| 项目 | 费用 |\n|---|---|\n| 清洗 | 15元 |\n| 维修 | 40元 |"),
        ("Leeds desk · Phone: 12", "York desk · Phone: 11\nLeeds desk · Phone: 12\nLeeds desk · Room: 4"),
        ("主厅 · 开放时间：上午九点", "侧厅 · 开放时间：上午十点\n主厅 · 开放时间：上午九点"),
        ("24", "- 12\n- 24"),
        ("37Desk", "- 37Desk\n- 12Room"),
        ("他们都可以。", "访客怎么办？\n\n他们都可以。"),
        ("Guests may not smoke unless the host agrees.", "Staff may smoke outside. Guests may not smoke unless the host agrees."),
    ],
)
def test_a_whole_sentence_item_row_or_record_line_is_supported_by_its_own_text(claim, evidence):
    assert judge(claim, evidence) == ("ok", "")


def test_a_whole_sentence_that_the_next_one_takes_back_is_superseded():
    assert judge("The limit is 30 days.", "The limit is 30 days. This rule is no longer in force.") == ("unsupported", "superseded")
    assert judge("期限为30天。", "期限为30天。上述规定已废止。") == ("unsupported", "superseded")


def test_a_part_that_is_torn_out_of_a_negation_is_unsupported():
    assert judge("smoke in the yard", "Guests may not smoke in the yard.")[0] == "unsupported"
