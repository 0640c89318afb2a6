from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.analyzer import analyze, analyze_query
from tests.retrieval_pure.lexical.corpora import index_chunks

TEXTS = [
    "员工每年享有十五天带薪年假，须提前两周申请。",
    "Employees get 25 days of annual leave. Requests go to the line manager.",
    "報銷流程：請於三十日內提交發票。",
    "VPN 连接失败时，请重启 Cisco AnyConnect 客户端。",
    "The travel budget for 2025 is 1,250.75 euros per person.",
]


def find(question):
    index = index_chunks([[analyze(text) for text in TEXTS]])
    return [hit.ordinal for hit in index.search(analyze_query(question), index.make_mask(np.ones(len(TEXTS), np.bool_)), 5)]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("请问年假有多少天？", 0),
        ("带薪年假怎么申请", 0),
        ("How many days of annual leave do employees get?", 1),
        ("如何提交發票", 2),
        ("AnyConnect 客户端为什么连接失败?", 3),
        ("ＶＰＮ连接", 3),
        ("What is the travel budget of 1250.75?", 4),
    ],
)
def test_R20_chinese_english_and_mixed_questions_find_their_text(question, best):
    assert find(question)[0] == best


@pytest.mark.parametrize(
    "question",
    ["What is it?", "Could you please tell me who they are?", "请问这是什么？", "谢谢您！", "？！…", "", "火星的卫星叫什么", "Who won the match?"],
)
def test_SYS_A6_a_question_without_a_common_content_word_finds_nothing(question):
    assert find(question) == []


def test_english_words_are_folded_and_stemmed():
    assert analyze("Running RUNS ran-down") == ["run", "run", "ran", "down"]
    assert analyze("The company’s policies don't change") == ["the", "compani", "polici", "don", "chang"]
    assert analyze("ﬁne Straße ℌello") == ["fine", "strass", "hello"]


def test_figures_stay_whole_and_lose_their_commas():
    assert analyze("1,250.75 in 3.11 on 2024-05-01") == ["1250.75", "in", "3.11", "on", "2024", "05", "01"]
    assert analyze("1,2,3 v1") == ["1", "2", "3", "v1"]


def test_chinese_gives_words_and_pairs_and_no_pair_spans_other_text():
    terms = analyze("北京大学ABC生活")
    assert {"北京大学", "北京", "京大", "大学", "abc", "生活"} <= set(terms)
    assert "学生" not in terms


def test_a_text_keeps_its_stop_words_and_a_question_does_not():
    assert analyze("who is the manager") == ["who", "is", "the", "manag"]
    assert analyze_query("who is the manager") == ["manag"]


def test_pairs_of_a_question_do_not_span_a_dropped_word():
    assert analyze_query("请问年假有多少天") == ["年假"]
    assert analyze_query("请问有多少天") == ["天"]


def test_a_name_that_the_dictionary_lacks_survives_its_stop_character():
    assert "禅那" in analyze_query("禅那在佛经中指什么？")


def test_an_acronym_that_looks_like_a_stop_word_stays():
    assert analyze_query("What does IT offer in the US?") == ["it", "offer", "us"]
    assert analyze_query("WHAT IS IT") == []


def test_repeats_are_kept_in_texts_and_questions():
    assert analyze("leave leave") == ["leav", "leav"]
    assert analyze_query("leave, leave!") == ["leav", "leav"]


@given(st.text())
def test_any_text_gives_terms_without_white_space_and_the_same_each_time(text):
    terms = analyze(text)
    assert terms == analyze(text)
    assert all(term and not any(map(str.isspace, term)) for term in terms)


@given(st.text(alphabet="的年假有多少天请问leaveITwho \n,.1'"))
def test_what_a_question_asks_for_is_found_in_the_same_text(question):
    """Longer Chinese words may be cut otherwise between other neighbours; pairs, and all other terms, may not."""
    terms = {term for term in analyze_query(question) if term.isascii() or len(term) == 2}
    assert terms <= set(analyze(question))


def test_a_lone_surrogate_is_no_term():
    assert analyze("pay\ud800roll \udfff") == ["pay", "roll"]


def test_threads_get_the_same_terms():
    texts = [f"{text} {no} happily running policies" for no in range(40) for text in TEXTS]
    expected = [analyze(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(analyze, texts)) == expected
