from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.verification_pure.answers.builders import fact, passage
from verification.rules.facts_answer import FactAnswer, UnsupportedAttribute, find_fact_answer, render_fact
from verification.rules.question import read_question

if TYPE_CHECKING:
    from verification.rules.contract import FactRow, Passage


def place(row: FactRow, held: Passage, words: str) -> FactRow:
    """The fact at the place where the passage says it."""
    start = held.span_start + held.text.index(words)
    return replace(row, chunk_id=held.chunk_id, span_start=start, span_end=start + len(words))


ROOMS = passage(1, "| Training room | Seats |\n|---|---|\n| Orion | 24 |\n", document="rooms.md", heading=("Rooms",))
SHEET = passage(1, "| Property | Value |\n|---|---|\n| Drift | 0.1 mg |\n", document="x7.md", heading=("X7 scale: data sheet", "Technical data"))
OTHER = passage(1, "| Property | Value |\n|---|---|\n| Drift | 0.5 mg |\n", document="x9.md", heading=("X9 scale: data sheet", "Technical data"))
SALES = passage(1, "单位：万元\n\n| 销售地区 | 2024年度收入 |\n|---|---|\n| 川南 | 396 |\n", document="sales.md", heading=("收入",))
FACTS = (
    place(fact("Orion", "Seats", "24", "rooms.md"), ROOMS, "24"),
    place(fact("Technical data", "Drift", "0.1 mg", "x7.md"), SHEET, "0.1 mg"),
    place(fact("Technical data", "Drift", "0.5 mg", "x9.md"), OTHER, "0.5 mg"),
    place(fact("川南", "2024年度收入", "396", "sales.md", unit="CNY", period="2024年度"), SALES, "396"),
    fact("Leeds desk", "Opening hours", "9 am"),
    fact("York desk", "Phone extension", "12"),
    fact("主厅", "开放时间", "上午九点"),
    fact("侧厅", "分机号", "12"),
    fact("赞助", "截止日期", "3月1日"),
    fact("婚假", "假期天数", "13天"),
)
PASSAGES = {held.chunk_id: held for held in (ROOMS, SHEET, OTHER, SALES)}


def ask(question: str) -> FactAnswer | UnsupportedAttribute | None:
    return find_fact_answer(read_question(question), FACTS, {}, PASSAGES.get)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many seats does the training room Orion have?", "24"),
        ("What is the drift of the X7 scale?", "0.1 mg"),
        ("What is the drift of the X9 scale?", "0.5 mg"),
        ("川南地区2024年度收入是多少万元？", "396"),
    ],
)
def test_SYS_D3_title_headings_and_table_head_count_as_said_by_the_fact(question: str, value: str) -> None:
    answer = ask(question)
    assert isinstance(answer, FactAnswer)
    assert [found.value_text for found in answer.facts] == [value]


def test_what_neither_the_fact_nor_its_headings_say_is_not_answered_by_it() -> None:
    assert ask("What is the drift of the X8 scale?") is None
    assert ask("How many seats does the training room Orion have on Sunday?") is None


def test_facts_that_are_named_by_a_heading_say_so_because_the_same_words_stand_elsewhere() -> None:
    answer = ask("What is the drift of the X7 scale?")
    assert isinstance(answer, FactAnswer)
    assert answer.is_by_heading


def test_SYS_B5_a_field_that_only_another_subject_has_is_unsupported() -> None:
    assert ask("What is the phone extension of the Leeds desk?") == UnsupportedAttribute("Leeds desk", "phone extension")
    assert ask("主厅的分机号是多少？") == UnsupportedAttribute("主厅", "分机号")


def test_a_subject_that_is_a_heading_says_so() -> None:
    outcome = ask("Where is the technical data kept?")
    assert isinstance(outcome, UnsupportedAttribute)
    assert outcome.is_heading


def test_a_name_inside_a_longer_chinese_word_is_not_that_name() -> None:
    assert ask("赞助商的结案报告是什么程度？") is None
    assert ask("晚婚假需要什么材料？") is None
    assert isinstance(ask("婚假需要什么材料？"), UnsupportedAttribute)
    assert isinstance(ask("赞助的结案报告是什么程度？"), UnsupportedAttribute)


def test_a_cell_under_a_scaled_unit_is_shown_with_its_full_amount() -> None:
    row = replace(fact("川南", "收入", "396", unit="CNY"), value=Decimal("3960000.0000000000"))
    assert render_fact(row) == "川南 · 收入: 396 (= 3,960,000 CNY) (source: desk.md · L3)"
    assert render_fact(replace(row, value=Decimal(396))) == "川南 · 收入: 396 CNY (source: desk.md · L3)"
    assert "1,890 EUR (source" in render_fact(fact("X7", "Price", "1,890 EUR", unit="EUR"))
