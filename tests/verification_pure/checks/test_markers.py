from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verification.rules.markers import MarkerFilter, cited_numbers, clean_markers, neutralize_markers, scan_markers, strip_markers

ALPHABET = st.sampled_from(
    [
        "[",
        "]",
        "1",
        "2",
        "12",
        "0",
        "9",
        ",",
        " ",
        "-",
        "【",
        "】",
        "［",
        "］",
        "`",
        "```",
        "~~~",
        "\n",
        "a",
        "天",
        "=",
        "x = [1, 2]",
        "[1]",
        "[3]",
        "【2】",
        "[1-3]",
    ]
)
TEXTS = st.lists(ALPHABET, max_size=30).map("".join)


@given(number=st.integers(1, 120), count=st.integers(1, 120))
def test_R02_marker_n_is_one_based_for_every_n(number, count):
    text = f"Leave is 25 days [{number}]."
    assert cited_numbers(text, count) == ((number,) if number <= count else ())
    assert clean_markers(text, count) == (text if number <= count else "Leave is 25 days.")


def test_R02_zero_is_never_a_marker_that_counts():
    assert clean_markers("a [0] b [00]", 9) == "a b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a [1] b", "a [1] b"),
        ("a【1】b", "a[1]b"),
        ("a［2］b", "a[2]b"),
        ("a [1, 3] b", "a [1][3] b"),
        ("a [1，3] b", "a [1][3] b"),
        ("a [1-3] b", "a [1][2][3] b"),
        ("a [12] b", "a [12] b"),
        ("a [13] b", "a b"),
        ("a [11-14]", "a [11][12]"),
        ("a [3-1]", "a"),
        ("a [1, 99]", "a [1]"),
        ("a [1][99][2]", "a [1][2]"),
        ("国发[2024]5号", "国发[2024]5号"),
        ("see [note] and [a1]", "see [note] and [a1]"),
        ("(Smith [1])", "(Smith [1])"),
    ],
)
def test_markers_are_shown_plain_and_in_range(text, shown):
    assert clean_markers(text, 12) == shown


@pytest.mark.parametrize(
    "text",
    [
        "use `x[1]` here",
        "```\na = [1, 2]\nb[99]\n```\n",
        "~~~py\nx[99]\n~~~",
        "``a ` [99]`` end",
        "rows = [1, 2, 99]",
        "m = [[1, 2], [3, 4]]",
        "```\nno end [99]",
    ],
)
def test_code_and_literal_arrays_keep_their_brackets(text):
    assert clean_markers(text, 1) == text
    assert cited_numbers(text, 100) == ()


def test_a_backtick_that_closes_nothing_hides_no_marker():
    assert clean_markers("it`s 5 days [99]\nnext` [1]", 1) == "it`s 5 days\nnext` [1]"


@settings(max_examples=400)
@given(text=TEXTS, cuts=st.lists(st.integers(0, 80), max_size=12), count=st.integers(0, 12))
def test_SYS_E2_stream_gives_the_same_text_however_it_is_cut(text, cuts, count):
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    stream = MarkerFilter(count)
    shown = "".join(stream.feed(text[start:end]) for start, end in itertools.pairwise(places)) + stream.finish()
    assert shown == clean_markers(text, count)
    by_character = MarkerFilter(count)
    assert "".join(by_character.feed(char) for char in text) + by_character.finish() == shown


def test_SYS_E2_stream_cut_at_every_character_shows_no_marker_out_of_range():
    stream = MarkerFilter(3)
    assert "".join(stream.feed(char) for char in "A [12] b [1] c【3】d") + stream.finish() == "A b [1] c[3]d"


@given(text=TEXTS, count=st.integers(0, 12))
def test_cleaning_is_idempotent_and_loses_only_markers(text, count):
    once = clean_markers(text, count)
    assert all(1 <= number <= count for piece in scan_markers(text, count) for number in piece.numbers)
    assert "".join(piece.text for piece in scan_markers(text, count)) == text
    assert set(cited_numbers(once, 999)) <= set(range(1, count + 1)) or "`" in text or "~" in text or "=" in text or "[" in strip_markers(text)


def test_quoted_evidence_cites_nothing():
    text = "as shown [3] and 【12】"
    assert neutralize_markers(text) == "as shown 〔3〕 and 〔12〕"
    assert len(neutralize_markers(text)) == len(text)
    assert cited_numbers(neutralize_markers(text), 99) == ()


def test_strip_takes_every_marker_and_leaves_code():
    assert strip_markers("a [1] b【22】 `c[1]`") == "a b `c[1]`"
