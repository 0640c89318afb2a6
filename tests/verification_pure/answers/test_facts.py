from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import fact, passage
from verification.rules.facts_answer import FactAnswer, UnsupportedAttribute, draft_fact_answer, find_fact_answer
from verification.rules.question import read_question

FACTS = (
    fact("借阅台", "开放时间", "上午九点"),
    fact("Front desk", "Opening hours", "9 am"),
    fact("Front desk", "Phone", "555 0100"),
    fact("red small circle", "colour", "red", document="shapes.png"),
    fact("red small circle", "size", "small", document="shapes.png"),
    fact("中国内地", "REVENUE", "3.5", unit="亿元", period="FY2024"),
    fact("中国内地", "REVENUE", "3.1", unit="亿元", period="FY2023"),
)


def ask(question: str, synonyms: dict[str, list[str]] | None = None) -> FactAnswer | UnsupportedAttribute | None:
    return find_fact_answer(read_question(question), FACTS, synonyms or {})


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("请问借阅台的开放时间是什么时候？", "上午九点"),
        ("借阅台 开放时间", "上午九点"),
        ("What are the opening hours of the front desk, please?", "9 am"),
        ("What size is the small red circle?", "small"),
        ("中国内地FY2024的REVENUE是多少", "3.5"),
        ("中国内地2023年的REVENUE是多少？", "3.1"),
    ],
)
def test_SYS_B2_subject_and_field_give_the_value(question: str, value: str) -> None:
    answer = ask(question)
    assert isinstance(answer, FactAnswer)
    assert [found.value_text for found in answer.facts] == [value]


def test_SYS_B5_known_subject_without_the_asked_field_is_an_unsupported_attribute() -> None:
    assert ask("What is the material of the red small circle?") == UnsupportedAttribute("red small circle", "material")
    assert ask("借阅台的电话是多少？") == UnsupportedAttribute("借阅台", "电话")


def test_SYS_B5_politeness_is_not_an_attribute() -> None:
    answer = ask("Could you please tell me the size of the red small circle? Thanks!")
    assert isinstance(answer, FactAnswer)


def test_SYS_D3_two_questions_share_their_subject() -> None:
    answer = ask("What are the opening hours of the front desk? What is the phone?")
    assert isinstance(answer, FactAnswer)
    assert [found.value_text for found in answer.facts] == ["9 am", "555 0100"]


def test_a_restriction_that_the_fact_does_not_carry_is_not_answered_by_it() -> None:
    assert ask("What are the opening hours of the front desk on Sunday?") is None
    assert ask("中国内地FY2022的REVENUE是多少") is None


def test_unknown_subject_is_left_to_the_text() -> None:
    assert ask("Who founded the museum?") is None


def test_synonyms_of_the_mapping_count_as_names() -> None:
    answer = ask("大陆FY2024的营收是多少", {"中国内地": ["大陆"], "revenue": ["营收"]})
    assert isinstance(answer, FactAnswer)
    assert answer.facts[0].value_text == "3.5"


def test_the_text_names_value_unit_and_source() -> None:
    answer = ask("中国内地FY2024的REVENUE是多少")
    assert isinstance(answer, FactAnswer)
    assert answer.text == "中国内地 · REVENUE (FY2024): 3.5 亿元 (source: desk.md · L3)"


def test_a_fact_is_cited_in_the_passage_that_holds_it_or_not_at_all() -> None:
    answer = ask("What are the opening hours of the front desk?")
    assert isinstance(answer, FactAnswer)
    draft = draft_fact_answer(answer, [passage(2, "9 am", document="desk.md")])
    assert draft is not None
    assert draft.mode == "fact"
    assert draft.claims[0].markers == (2,)
    assert draft_fact_answer(answer, [passage(1, "other", document="other.md")]) is None
