from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import embed, fact, passage
from verification.rules.conflicts import audit_conflicts
from verification.rules.contract import AnswerThresholds, ConflictReport, Draft, Passage
from verification.rules.extract import draft_answer
from verification.rules.question import read_question

FACT_DRAFT = Draft("9 am", (), 1.0, "fact_key_match", "fact")


def audit_facts(*values: str, fields: tuple[str, ...] = ("hours",)) -> ConflictReport:
    facts = [fact("desk", fields[n % len(fields)], value, document=f"desk-{n}.md") for n, value in enumerate(values)]
    return audit_conflicts(read_question("What are the hours of the desk?"), FACT_DRAFT, (), facts, embed)


def audit_text(question: str, *passages: Passage) -> ConflictReport:
    reading = read_question(question)
    drafted = draft_answer(reading, passages, embed, AnswerThresholds())
    assert drafted is not None
    return audit_conflicts(reading, drafted, passages, (), embed)


@pytest.mark.parametrize("same", [5, 50])
def test_SYS_B3_one_other_value_among_many_is_found(same: int) -> None:
    report = audit_facts(*["9 am"] * same, "10 am")
    assert report.found
    assert {side.value for side in report.sides} == {"9 am", "10 am"}
    assert report.same_key_sources_checked == same + 1
    assert report.support_scope == "complete_permitted_subject_field_source_set"


@pytest.mark.parametrize(
    "values",
    [("30 days", "30 天", "thirty days"), ("1 hour", "60 minutes"), ("9 am", "09:00"), ("2024-05-01", "1 May 2024"), ("Red", "red ")],
)
def test_the_same_value_in_other_words_or_units_is_no_conflict(values: tuple[str, ...]) -> None:
    assert not audit_facts(*values).found


@pytest.mark.parametrize("values", [("30 days", "30 working days"), ("allowed", "not allowed"), ("1.5", "1.50001"), ("5 %", "5 points")])
def test_values_that_only_look_alike_are_a_conflict(values: tuple[str, ...]) -> None:
    assert audit_facts(*values).found


def test_values_of_other_fields_or_periods_are_not_compared() -> None:
    assert not audit_facts("9 am", "555 0100", fields=("hours", "phone")).found
    facts = [fact("desk", "cost", "3", period="FY2023"), fact("desk", "cost", "4", period="FY2024")]
    assert not audit_conflicts(read_question("What is the cost of the desk?"), FACT_DRAFT, (), facts, embed).found


def test_two_documents_that_give_another_number_for_the_same_thing_conflict() -> None:
    report = audit_text(
        "How long is the notice period for staff?",
        passage(1, "The notice period for staff is 30 days.", document="staff.md"),
        passage(2, "The notice period for staff is 60 days.", document="contract.md"),
    )
    assert [side.document for side in report.sides] == ["staff.md", "contract.md"]
    assert report.support_scope == "bounded_same_subject_search(2)"


def test_SYS_B8_a_newer_date_in_the_name_or_a_version_note_does_not_outrank() -> None:
    report = audit_text(
        "How long is the notice period for staff?",
        passage(1, "Version 2 of 2024. The notice period for staff is 30 days.", document="staff-2024.md"),
        passage(2, "Version 1 of 2019. The notice period for staff is 60 days.", document="staff-2019.md"),
    )
    assert report.found


def test_the_same_duration_in_another_unit_or_language_is_no_conflict() -> None:
    assert not audit_text(
        "How long is the break for staff?",
        passage(1, "The break for staff is 1 hour.", document="a.md"),
        passage(2, "The break for staff is 60 minutes.", document="b.md"),
    ).found


def test_sentences_about_other_subjects_do_not_conflict() -> None:
    assert not audit_text(
        "How long is the notice period for staff?",
        passage(1, "The notice period for staff is 30 days.", document="staff.md"),
        passage(2, "Parcels are kept for 10 days at the porter's desk.", document="mail.md"),
    ).found


def test_a_side_quotes_its_place_in_the_document() -> None:
    second = passage(2, "See below. The notice period for staff is 60 days.", document="contract.md", start=100)
    report = audit_text(
        "How long is the notice period for staff?", passage(1, "The notice period for staff is 30 days.", document="staff.md"), second
    )
    side = report.sides[1]
    assert second.text[side.span_start - 100 : side.span_end - 100] == side.quote == "The notice period for staff is 60 days."


def test_a_negated_rule_against_the_same_rule_conflicts() -> None:
    assert audit_text(
        "May visitors bring dogs to the office?",
        passage(1, "Visitors may bring dogs to the office.", document="a.md"),
        passage(2, "Visitors may not bring dogs to the office.", document="b.md"),
    ).found


def test_one_statement_written_twice_with_another_number_conflicts_whatever_is_asked() -> None:
    first = passage(1, "The archive on the second floor holds 12 large cabinets with old maps.", document="a.md")
    second = passage(2, "The archive on the second floor holds 14 large cabinets with old maps.", document="b.md")
    assert audit_text("What does the archive on the second floor hold?", first, second).found


def test_short_sentences_under_other_titles_are_about_other_things() -> None:
    first = passage(1, "Adult males in the wild reach 90 cm.", document="heron.md", heading=("Heron",))
    second = passage(2, "Adult males in the wild reach 14 cm.", document="robin.md", heading=("Robin",))
    assert not audit_text("How many cm do adult males of the heron in the wild reach?", first, second).found


def test_lower_and_upper_bounds_do_not_disagree() -> None:
    assert not audit_text(
        "How many days of leave can staff take?",
        passage(1, "Staff can take at least 20 days of leave.", document="a.md"),
        passage(2, "Staff can take at most 40 days of leave.", document="b.md"),
    ).found


def test_yearly_against_monthly_conflicts_for_a_yes_no_question() -> None:
    assert audit_text(
        "Are Globex subscriptions annual only?",
        passage(1, "Globex subscriptions are on an annual basis only.", document="a.md"),
        passage(2, "Globex subscriptions for teams are paid on a monthly basis.", document="b.md"),
    ).found
