from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import embed, passage
from verification.rules.contract import AnswerThresholds, CitedSpan, Claim, Passage
from verification.rules.question import read_question
from verification.rules.relevance import check_answers_question, find_unknown_words


def details(question: str, text: str, *, heading: tuple[str, ...] = (), thresholds: AnswerThresholds | None = None) -> set[str]:
    held: Passage = passage(1, text, heading=heading)
    claim = Claim("c1", text, (1,), (CitedSpan(1, 0, len(text)),))
    findings = check_answers_question(read_question(question), (claim,), (held,), embed, thresholds or AnswerThresholds())
    assert all(finding.layer == "Q" for finding in findings)
    return {finding.detail for finding in findings if finding.outcome == "unsupported"}


def test_R29_text_on_the_topic_that_gives_no_value_does_not_answer() -> None:
    assert "type_mismatch" in details("How much is the transit subsidy?", "All staff may apply for the transit subsidy.")
    assert "type_mismatch" in details("停车费是多少钱？", "停车费由财务组收取。")


def test_a_fitting_sentence_has_one_ok_finding() -> None:
    assert details("How long is the notice period?", "The notice period is 30 days.") == set()
    assert details("试用期多久？", "试用期为三个月。") == set()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was the budget of Globex in 2023?", "The budget of Globex in 2022 was $5 million."),
        ("2023年的预算金额是多少？", "2022年的预算为500万元。"),
    ],
)
def test_another_year_is_a_time_mismatch(question: str, text: str) -> None:
    assert "time_mismatch" in details(question, text)


def test_the_year_may_stand_in_the_heading() -> None:
    assert "time_mismatch" not in details("What was the budget of Globex in 2023?", "The budget of Globex was $5 million.", heading=("Report 2023",))


def test_another_name_is_a_missing_subject() -> None:
    assert "subject_missing" in details("What does Acme sell?", "Globex sells maps.")
    assert details("What does Globex sell?", "Globex sells maps.") == set()


def test_other_words_for_a_subject_are_left_to_the_confidence_in_chinese() -> None:
    assert "subject_missing" not in details("捡到的东西的保管期是多久？", "拾到的物品保管两个月。")
    assert "subject_missing" in details("Globex的保管期是多久？", "拾到的物品保管两个月。")
    assert "subject_missing" in details("What is the keeping period of things that turned up?", "Lost property is kept for two months.")


def test_another_unit_is_a_unit_mismatch() -> None:
    assert "unit_mismatch" in details("How many days does the review take?", "The review costs $20.")
    assert "unit_mismatch" not in details("How many days does the review take?", "The review takes two weeks.")


@pytest.mark.parametrize(
    ("question", "other", "fitting"),
    [
        ("What is the area of the cold store?", "The cold store is 5 m high and kept at 2 °C.", "The cold store covers 900 square metres."),
        ("冷库的面积有多大？", "冷库温度2度，最大堆高5米。", "冷库占地900平方米。"),
        ("How heavy is a pallet?", "A pallet is 120 cm long.", "A pallet is 25 kg."),
        ("What is the temperature of the store?", "The store is 5 m high.", "The store is kept at 2 °C and is 5 m high."),
    ],
)
def test_another_measure_is_a_unit_mismatch(question: str, other: str, fitting: str) -> None:
    assert "unit_mismatch" in details(question, other)
    assert "unit_mismatch" not in details(question, fitting)


def test_a_number_without_a_unit_may_be_of_any_measure() -> None:
    assert "unit_mismatch" not in details("What is the area of the cold store?", "Cold store: 900, height 5 m.")


def test_SYS_B5_a_word_that_no_passage_carries_is_unknown() -> None:
    held = (passage(1, "The red circle is small."),)
    assert find_unknown_words(read_question("What is the material of the small red circle?"), held) == ("material",)


def test_an_attribute_that_is_named_nowhere_is_missing() -> None:
    assert "attribute_missing" in details("What material does the circle have?", "The circle is red and small.")


def test_R07_a_threshold_of_zero_is_not_no_threshold() -> None:
    text = "The notice period is 30 days."
    assert "low_confidence" in details("How long is the notice period?", text, thresholds=AnswerThresholds(min_answers=1.0))
    assert "low_confidence" not in details("How long is the notice period?", text, thresholds=AnswerThresholds(min_answers=0.0))


def test_R07_a_threshold_of_zero_still_rates_the_answer() -> None:
    text = "The notice period is 30 days."
    claim, reading = Claim("c1", text, (1,), (CitedSpan(1, 0, len(text)),)), read_question("How long is the notice period?")
    rated, unrated = (
        check_answers_question(reading, (claim,), (passage(1, text),), embed, AnswerThresholds(min_answers=least))[0].score for least in (0.0, None)
    )
    assert rated is not None
    assert unrated is None


def test_no_claims_give_no_findings() -> None:
    assert check_answers_question(read_question("Who?"), (), (), embed, AnswerThresholds()) == ()


def test_a_word_behind_a_prefix_that_makes_it_another_is_another_thing() -> None:
    assert "another_thing" in details("员工的产假有多少天？", "员工的陪产假为15天。")
    assert "another_thing" in details("How much do members pay?", "Non-members pay 5 EUR.")
    assert "another_thing" not in details("员工的陪产假有多少天？", "员工的陪产假为15天。")
    assert "another_thing" not in details("How much do members pay?", "Members pay 3 EUR, non-members pay 5 EUR.")


def test_a_quantity_of_another_unit_that_is_only_a_condition_is_no_answer() -> None:
    assert "type_mismatch" in details("How many weeks of leave do staff get?", "Staff qualify for leave after six months of service.")
    assert "type_mismatch" in details("员工有多少天假期？", "员工工作满一年后可以申请假期。")
    assert details("How many weeks of leave do staff get?", "Staff get leave of three months.") == set()
    assert details("How many weeks of leave do staff get?", "After six months of service, staff get 16 weeks of leave.") == set()


def test_how_often_is_answered_by_a_frequency() -> None:
    assert details("How often is the lift checked?", "The lift is checked every year.") == set()
    assert details("电梯多久检查一次？", "电梯每年检查一次。") == set()
    assert "type_mismatch" in details("How often is the lift checked?", "The lift is checked by 3 people.")


def test_which_day_of_is_answered_by_a_place_in_a_row() -> None:
    assert details("From which day of absence is a note needed?", "A note is needed from the fourth day of absence.") == set()


@pytest.mark.parametrize(
    ("question", "text"),
    [("Who leads the Millbrook branch?", "Branch: Millbrook"), ("地方文献室由谁负责？", "部门：地方文献室")],
)
def test_a_claim_that_only_repeats_the_question_says_nothing(question: str, text: str) -> None:
    assert "says_nothing_new" in details(question, text)


def test_a_claim_that_adds_a_value_says_something() -> None:
    assert "says_nothing_new" not in details("Who leads the Millbrook branch?", "Millbrook · Lead: the head of lending")


def test_the_last_object_of_a_question_must_be_known_to_the_passage() -> None:
    said = "The bonus for recommending an applicant is 800 euros."
    assert "another_thing" in details("How high is the bonus for recommending a new tenant?", said)
    assert "another_thing" not in details("How high is the bonus for recommending a new applicant?", said)
