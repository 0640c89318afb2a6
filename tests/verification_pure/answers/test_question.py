from __future__ import annotations

import pytest

from verification.rules.question import read_question, strip_politeness


@pytest.mark.parametrize(
    ("question", "answer_type"),
    [
        ("How long is the notice period?", "duration"),
        ("Within what time must a loss be reported?", "duration"),
        ("After how many days is a frozen account closed?", "duration"),
        ("How many rooms does the office have?", "number"),
        ("How much does a parking permit cost?", "money"),
        ("What percentage of the budget goes to travel?", "percent"),
        ("When was the archive opened?", "when"),
        ("In what year did the merger happen?", "date"),
        ("Who signs the lease?", "person"),
        ("Where are the spare keys kept?", "place"),
        ("May visitors bring a dog?", "yes_no"),
        ("Why was the lift closed?", "reason"),
        ("How do I book a room?", "manner"),
        ("Which phone number reaches the porter?", "contact"),
        ("Which form is needed?", "which"),
        ("What mileage rate do drivers get?", "number"),
        ("What do I have to pay for a second card?", "money"),
        ("What's the biggest quantity of acid I may keep?", "number"),
        ("How often is the lift checked?", "frequency"),
        ("From which day of absence is a note needed?", "number"),
        ("How long must a user name be?", "number"),
        ("电梯多久检查一次？", "frequency"),
        ("差旅费用的报销期限是多少天？", "duration"),
        ("试用期多久？", "duration"),
        ("几天内要提交报销？", "duration"),
        ("会议室有多少个座位？", "number"),
        ("停车费是多少钱？", "money"),
        ("什么时候关门？", "when"),
        ("谁负责签字？", "person"),
        ("钥匙放在哪里？", "place"),
        ("访客可以带宠物吗？", "yes_no"),
        ("为什么电梯停用？", "reason"),
        ("如何预订会议室？", "manner"),
        ("需要哪些材料？", "list"),
    ],
)
def test_answer_type_is_read_from_the_form_of_the_question(question: str, answer_type: str) -> None:
    assert read_question(question).answer_type == answer_type


def test_a_clause_with_when_does_not_make_it_a_question_of_date() -> None:
    assert read_question("When a laptop is lost, how soon must it be reported?").answer_type == "duration"


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("Could you please tell me where the keys are, thank you?", "where the keys are?"),
        ("Hello, please where are the keys?", "where are the keys?"),
        ("请问钥匙放在哪里？谢谢！", "钥匙放在哪里？"),
        ("您好，我想知道试用期多久", "试用期多久"),
        ("Where is the thank you card?", "Where is the thank you card?"),
    ],
)
def test_politeness_is_removed_only_at_the_edges(asked: str, plain: str) -> None:
    assert strip_politeness(asked).rstrip("！!?？") == plain.rstrip("？?")


def test_SYS_D3_several_questions_are_told_apart() -> None:
    assert read_question("What are the opening hours? Who has the key?").sub_questions == ("What are the opening hours", "Who has the key")
    assert read_question("借阅台的开放时间是什么？电话是多少？").sub_questions == ("借阅台的开放时间是什么", "电话是多少")


def test_one_question_has_no_parts() -> None:
    assert read_question("If the lift is closed, who is told?").sub_questions == ()
    assert read_question("在什么情况下，组委会可以取消活动？").sub_questions == ()


def test_subject_and_attribute_come_from_the_of_form() -> None:
    reading = read_question("What is the material of the red small circle?")
    assert (reading.subject, reading.attribute) == ("the red small circle", "material")
    reading = read_question("借阅台的开放时间是什么时候？")
    assert (reading.subject, reading.attribute) == ("借阅台", "开放时间")


def test_names_numbers_and_units_are_told_from_plain_words() -> None:
    reading = read_question("How many days does Globex keep P1 logs of 2024?")
    assert set(reading.names) == {"Globex", "P1"}
    assert reading.unit_hints[0] == "days"
    assert any(quantity.kind in {"date", "number"} for quantity in reading.quantities)


def test_negation_is_seen_in_both_languages() -> None:
    assert read_question("What must not be stored?").is_negated
    assert read_question("哪些材料不能带入？").is_negated
    assert not read_question("有哪些不同的房间？").is_negated


def test_a_reading_of_an_empty_question_is_empty() -> None:
    reading = read_question("  ")
    assert reading.words == ()
    assert reading.answer_type == "other"


def test_a_bare_zero_is_where_counting_starts_and_no_word_to_be_found() -> None:
    assert [word.text for word in read_question("How far below zero may the balance fall?").words] == ["below", "balance", "fall"]
