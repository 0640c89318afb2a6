from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import passage
from tests.verification_pure.answers.test_conflicts import audit_text

QUESTION = "Which chat tool should staff use?"
HEADING = ("Chat tool",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We recommend using Slate for messages.", "Use the chat tool of the intranet."),
        ("Slate is the approved chat tool.", "The standard chat tool is Brook."),
        ("Everybody must use Slate as chat tool.", "We advise using Brook."),
    ],
)
def test_documents_that_recommend_different_things_conflict(first: str, second: str) -> None:
    report = audit_text(QUESTION, passage(1, first, document="a.md", heading=HEADING), passage(2, second, document="b.md", heading=HEADING))
    assert [side.document for side in report.sides] == ["a.md", "b.md"]


@pytest.mark.parametrize(
    "second",
    [
        "Use Slate as the chat tool.",
        "If you travel, use the chat tool Brook.",
        "We do not recommend using Brook.",
        "The chat tool Brook was closed last year.",
        "Use a chat tool.",
    ],
)
def test_the_same_a_condition_a_denial_or_no_recommendation_is_no_conflict(second: str) -> None:
    first = passage(1, "We recommend using Slate.", document="a.md", heading=HEADING)
    assert not audit_text(QUESTION, first, passage(2, second, document="b.md", heading=HEADING)).found


def test_recommendations_for_another_purpose_are_not_compared() -> None:
    first = passage(1, "We recommend using Slate.", document="a.md", heading=HEADING)
    assert not audit_text(QUESTION, first, passage(2, "We recommend using Quill.", document="b.md", heading=("Text editor",))).found


def test_a_question_about_a_special_case_is_not_answered_by_the_general_rules() -> None:
    sides = [
        passage(1, "We recommend using Slate.", document="a.md", heading=HEADING),
        passage(2, "We recommend using Brook.", document="b.md", heading=HEADING),
    ]
    assert audit_text(QUESTION, *sides).found
    assert not audit_text("Which chat tool should staff use for patents?", *sides).found


def test_recommendations_in_chinese_conflict() -> None:
    assert audit_text(
        "员工应该使用哪种密码管理器？",
        passage(1, "我们推荐使用青锁。", document="a.md", heading=("密码管理器",)),
        passage(2, "密码管理器必须使用云盾。", document="b.md", heading=("密码管理器",)),
    ).found
