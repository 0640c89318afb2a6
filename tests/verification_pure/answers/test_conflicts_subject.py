from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import passage
from tests.verification_pure.answers.test_conflicts import audit_text
from verification.rules.conflicts_subject import same_row_subject
from verification.rules.conflicts_values import differs
from verification.rules.extract_cover import Candidate, list_candidates
from verification.rules.question import read_question

DELETED = "We permanently delete all content from the account 30 days after cancellation, and from the backups within 60 days."


def candidate(text: str, place: int = 0) -> Candidate:
    return list_candidates([passage(1, text)])[place]


def test_one_template_for_another_place_is_no_conflict_when_the_question_names_the_place() -> None:
    text = "Employees in Leeds have 27 days of annual leave per year. Employees in Hamburg have 30 days of annual leave per year."
    assert not audit_text("How many days of annual leave do employees in Leeds have?", passage(1, text)).found


def test_the_same_place_in_another_document_with_another_value_conflicts() -> None:
    assert audit_text(
        "How many days of annual leave do employees in Leeds have?",
        passage(1, "Employees in Leeds have 27 days of annual leave per year.", document="a.md"),
        passage(2, "Employees in Leeds have 25 days of annual leave per year.", document="b.md"),
    ).found


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("What is the fee for the repair of balances?", "| Repair of | Fee |\n|---|---|\n| Balances | 190 EUR |\n| pH meters | 40 EUR |"),
        ("维修天平的检测费是多少元？", "| 项目 | 检测费 |\n|---|---|\n| 维修天平 | 300元 |\n| 维修酸度计 | 150元 |"),
    ],
)
def test_other_rows_of_a_table_are_other_subjects(question: str, table: str) -> None:
    assert not audit_text(question, passage(1, table)).found


def test_a_value_for_something_that_no_side_names_is_no_conflict() -> None:
    sides = [
        passage(1, "The daily meal allowance for domestic business trips is 34 EUR.", document="2024.md"),
        passage(2, "The daily meal allowance for domestic business trips is 28 EUR.", document="2023.md"),
    ]
    assert audit_text("What is the daily meal allowance for domestic business trips?", *sides).found
    assert not audit_text("What is the daily meal allowance for business trips to Japan?", *sides).found


def test_kept_and_deleted_tell_of_one_event() -> None:
    assert audit_text(
        "How long is the data of a Globex account kept?",
        passage(1, "The data of a Globex account is kept for 60 days.", document="refund.md"),
        passage(
            2,
            "We permanently delete the data of a Globex account from our servers 30 days after cancellation.",
            document="cancellation.md",
            heading=("Cancellation of a Globex account",),
        ),
    ).found


def test_a_second_value_for_another_clause_does_not_hide_agreement() -> None:
    assert not audit_text(
        "How long is the data of a Globex account kept?",
        passage(1, "After 30 days, we permanently delete all data from the Globex account.", document="refund.md"),
        passage(
            2,
            "We permanently delete all content from the account 30 days after cancellation, and from the backups within 60 days.",
            document="cancellation.md",
            heading=("Cancellation of a Globex account",),
        ),
    ).found


def test_another_thing_with_a_value_of_the_same_kind_is_no_conflict() -> None:
    assert not audit_text(
        "苏州员工的试用期是几个月？",
        passage(1, "苏州员工的试用期为3个月。", document="a.md"),
        passage(2, "苏州员工差旅费用的报销期限为费用发生后30天。", document="b.md"),
    ).found


def test_rows_speak_of_the_same_only_under_the_same_first_cell() -> None:
    question = read_question("What is the fee for the repair of balances?")
    table = "| Repair of | Fee |\n|---|---|\n| Balances | 190 EUR |\n| pH meters | 40 EUR |"
    balances, meters = candidate(table, 1), candidate(table, 2)
    assert same_row_subject(question, balances, candidate(table.replace("190", "150"), 1))
    assert not same_row_subject(question, balances, meters)
    assert same_row_subject(question, balances, candidate("The repair of balances costs 150 EUR."))
    assert not same_row_subject(question, balances, candidate("The repair of pipettes costs 150 EUR."))


@pytest.mark.parametrize(("days", "expected"), [(60, True), (30, False)])
def test_the_value_counts_whose_clause_speaks_of_the_same(days: int, expected: bool) -> None:  # noqa: FBT001 - a case of the table
    question = read_question("How long is data kept after a Globex account ends?")
    chosen = candidate(f"After {days} days, we permanently delete all data from the Globex account.")
    assert differs(question, chosen, candidate(DELETED)) is expected


def test_sentences_of_which_the_question_says_next_to_nothing_do_not_conflict() -> None:
    sides = [
        passage(n, f"The deposit for a reader card at the town library is {n}00 EUR and is paid back in full.", document=f"{n}.md") for n in (1, 2)
    ]
    assert audit_text("How much is the deposit for a reader card?", *sides).found
    assert not audit_text("How many EUR does it take to replace a lost card?", *sides).found
