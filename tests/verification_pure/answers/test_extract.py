from __future__ import annotations

import pytest

from tests.verification_pure.answers.builders import embed, passage
from verification.rules.contract import AnswerThresholds, Draft
from verification.rules.extract import draft_answer, rank_sentences, rate_confidence
from verification.rules.extract_features import NO_LEAD
from verification.rules.question import read_question

LEAVE = passage(
    1, "Staff may take leave at any time. New staff have 25 days of paid leave a year. The office is closed on Sundays.", heading=("Leave",)
)
PARKING = passage(2, "Parking costs $40 a month. It is paid with the salary.", document="parking.md", heading=("Parking",))
LISTED = passage(1, "Visitors must bring:\n\n- a badge\n- a signed form\n\nThe porter opens the gate.", heading=("Visitors",))


def draft(question: str, *passages, max_claims: int = 3) -> Draft:
    found = draft_answer(read_question(question), passages or (LEAVE, PARKING), embed, AnswerThresholds(max_claims=max_claims))
    assert found is not None
    return found


def test_the_sentence_that_answers_is_picked_and_cited() -> None:
    answer = draft("How many days of paid leave do new staff have?")
    assert answer.claims[0].text == "New staff have 25 days of paid leave a year."
    assert answer.text == "New staff have 25 days of paid leave a year. [1]"
    assert answer.mode == "extractive"


def test_every_claim_is_read_at_its_span() -> None:
    for question in ("How much does parking cost?", "How is it paid?", "Where is the office?"):
        for claim in draft(question).claims:
            text = {1: LEAVE, 2: PARKING}[claim.spans[0].n].text
            assert text[claim.spans[0].start : claim.spans[0].end] == claim.text


def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    answer = draft("With what is parking paid each month, the salary?")
    assert [claim.text for claim in answer.claims] == ["Parking costs $40 a month.", "It is paid with the salary."]


def test_a_lead_in_brings_its_items_up_to_the_limit() -> None:
    answer = draft("What must visitors bring?", LISTED)
    assert [claim.text for claim in answer.claims] == ["Visitors must bring:", "a badge", "a signed form"]
    assert len(draft("What must visitors bring?", LISTED, max_claims=1).claims) == 1


def test_an_unrelated_question_gets_a_low_confidence_and_a_fitting_one_a_higher() -> None:
    fits = draft("How many days of paid leave do new staff have?").confidence
    unrelated = draft("Which planet has the most moons?").confidence
    assert fits is not None
    assert unrelated is not None
    assert fits > 10 * unrelated


def test_no_passage_gives_no_draft() -> None:
    assert draft_answer(read_question("Who is it?"), (), embed, AnswerThresholds()) is None
    assert draft_answer(read_question("Who is it?"), (passage(1, "# Heading only"),), embed, AnswerThresholds()) is None


def test_a_question_of_function_words_alone_does_not_fail() -> None:
    assert draft("Is it so?").confidence is not None


def test_the_same_input_gives_the_same_draft() -> None:
    assert draft("How much does parking cost?") == draft("How much does parking cost?")


def test_chinese_is_read_by_its_words() -> None:
    zh = passage(1, "访客须提前登记。停车费为每月四十元。办公室周日关闭。", heading=("停车",))
    answer = draft("停车费每月多少钱？", zh)
    assert answer.claims[0].text == "停车费为每月四十元。"


def test_the_number_of_sentences_embedded_is_bounded() -> None:
    counted: list[int] = []

    def counting(texts, kind):
        counted.append(len(texts))
        return embed(texts, kind)

    long = passage(1, " ".join(f"Rule {n} says that staff take {n} days of leave." for n in range(300)))
    draft_answer(read_question("How many days of leave do staff take?"), (long,), counting, AnswerThresholds())
    assert sum(counted) <= 40


def test_a_measure_is_taken_from_the_next_sentence_when_the_best_has_none() -> None:
    held = passage(1, "Hours on top of the plan go to the time account. The time account may hold 40 hours.", heading=("Time account",))
    assert draft("How far on top of the plan may the time account go?", held).claims[0].text == "The time account may hold 40 hours."


def test_a_row_says_less_to_how_to_than_a_sentence() -> None:
    held = passage(1, "| 事件 | 时限 |\n|---|---|\n| 电梯停运 | 当天 |\n\n电梯停运时应立即联系物业，不要自行开门。")
    ranked = rank_sentences(read_question("电梯停运时应该怎么做？"), (held,), embed)
    assert {candidate.unit.kind: candidate.values["type"] for _, candidate in ranked} == {"row": 0.3, "prose": 0.7}


def test_a_ruling_says_more_to_may_i_than_any_other_sentence() -> None:
    held = passage(1, "Smoking is forbidden in the yard. The smoking yard is big.")
    values = {
        candidate.text: candidate.values["type"] for _, candidate in rank_sentences(read_question("Is smoking allowed in the yard?"), (held,), embed)
    }
    assert values == {"Smoking is forbidden in the yard.": 1.0, "The smoking yard is big.": 0.7}


def test_a_field_line_is_drafted_with_the_line_that_names_its_thing() -> None:
    held = passage(1, "主题：阅览室\n位置：二楼\n开放时间：上午九点\n")
    assert [claim.text for claim in draft("阅览室开放时间是几点？", held).claims] == ["主题：阅览室", "开放时间：上午九点"]


def test_the_lead_of_a_sentence_is_over_those_of_other_documents_only() -> None:
    reading = read_question("How much does parking cost a month?")
    ranked = rank_sentences(reading, (LEAVE, PARKING), embed)
    best = ranked[0][1]
    others = [candidate.values["cos"] for _, candidate in ranked if candidate.passage.document_id != best.passage.document_id]
    assert best.passage is PARKING
    assert best.values["cos_lead"] == pytest.approx(best.values["cos"] - sum(others) / len(others))
    assert {candidate.values["cos_lead"] for _, candidate in rank_sentences(reading, (PARKING,), embed)} == {NO_LEAD}


@pytest.mark.parametrize("question", ["desk", "Parking?", "停车", "? parking ?", "the parking", "40"])
def test_a_question_of_one_word_embeds_nothing_empty(question: str) -> None:
    def embed_words(texts, kind):
        assert all(any(char.isalnum() for char in text) for text in texts)
        return embed(texts, kind)

    reading = read_question(question)
    ranked = rank_sentences(reading, (LEAVE, PARKING), embed_words)
    assert 0.0 <= rate_confidence(reading, ranked, ranked[0][1], embed_words) <= 1.0
