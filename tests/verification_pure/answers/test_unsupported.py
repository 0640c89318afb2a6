from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import passage
from verification.rules.contract import CitedSpan, Claim, Draft, Passage
from verification.rules.facts_answer import UnsupportedAttribute
from verification.rules.question import read_question
from verification.rules.unsupported import settle_unsupported

PHONE = UnsupportedAttribute("Leeds desk", "phone")


def settle(unsupported: UnsupportedAttribute, text: str, said: str, confidence: float = 0.9, question: str = "") -> tuple[str, str] | None:
    held: Passage = passage(1, text)
    start = text.index(said)
    claim = Claim("c1", said, (1,), (CitedSpan(1, start, start + len(said)),))
    draft = Draft(said, (claim,), confidence, "answerability_v2", "extractive")
    asked = read_question(question or f"What is the {unsupported.attribute} of the {unsupported.subject}?")
    return settle_unsupported(unsupported, asked, draft, (held,), 0.7)


@pytest.mark.parametrize(
    ("unsupported", "text", "said"),
    [
        (PHONE, "York desk · Phone: 12\nLeeds desk · Room: 4\n", "York desk · Phone: 12"),
        (PHONE, "York desk · Phone: 12\nLeeds desk · Room: 4\n", "Leeds desk · Room: 4"),
        (UnsupportedAttribute("主厅", "分机号"), "侧厅 · 分机号：12\n主厅 · 位置：二楼\n", "侧厅 · 分机号：12"),
        (UnsupportedAttribute("Leeds desk", "fee"), "| Desk | Room |\n|---|---|\n| Leeds desk | 4 |\n", "| Leeds desk | 4 |"),
    ],
)
def test_SYS_B5_a_record_of_another_field_or_subject_is_no_answer(unsupported: UnsupportedAttribute, text: str, said: str) -> None:
    assert settle(unsupported, text, said) == (unsupported.subject, unsupported.attribute)


def test_a_row_that_carries_subject_and_attribute_is_let_through() -> None:
    assert settle(PHONE, "| Leeds desk, phone | 12 |\n", "| Leeds desk, phone | 12 |") is None


def test_prose_is_believed_when_it_is_rated_high_enough() -> None:
    assert settle(PHONE, "Call the Leeds desk on 12.", "Call the Leeds desk on 12.") is None
    assert settle(PHONE, "Call the Leeds desk on 12.", "Call the Leeds desk on 12.", confidence=0.6) == ("Leeds desk", "phone")


def test_a_heading_decides_only_what_no_passage_speaks_of() -> None:
    heading = UnsupportedAttribute("Visits", "phone", is_heading=True)
    assert settle(heading, "Phone the desk first.", "Phone the desk first.", confidence=0.1) is None
    assert settle(heading, "Ask the desk first.", "Ask the desk first.", confidence=0.1) == ("Visits", "phone")


def test_without_a_draft_the_record_decides() -> None:
    assert settle_unsupported(PHONE, read_question("What is the phone of the Leeds desk?"), None, (), 0.7) == ("Leeds desk", "phone")


def test_a_table_row_of_the_subject_with_one_amount_of_the_asked_kind_is_let_through() -> None:
    unsupported = UnsupportedAttribute("Sheet music", "hold")
    table = "| Type | Loan period | Renewals |\n|---|---|---|\n| Sheet music | 14 weeks | by arrangement |\n| Atlas | 2 weeks | 1 |\n"
    row = "| Sheet music | 14 weeks | by arrangement |"
    assert settle(unsupported, table, row, question="How long can a choir hold sheet music?") is None
    assert settle(unsupported, table, row, question="What colour is the sheet music?") == ("Sheet music", "hold")


def test_of_two_amounts_in_a_row_the_one_in_the_asked_unit_counts() -> None:
    unsupported = UnsupportedAttribute("献血假", "放")
    table = "| 假期 | 天数 | 说明 |\n|---|---|---|\n| 献血假 | 2天 | 献血后一周内使用 |\n"
    assert settle(unsupported, table, "| 献血假 | 2天 | 献血后一周内使用 |", question="献血假可以放几天？") is None
    assert settle(unsupported, table, "| 献血假 | 2天 | 献血后一周内使用 |", question="献血假可以放多久？") == ("献血假", "放")
