"""Bytes to text: the ladder, and one-for-one repairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.parsing.decoding import check_lines, decode_text
from rag4c.kernel.errors import Permanent


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("naïve".encode(), "naïve", "utf-8"),
        (b"\xef\xbb\xbfabc", "abc", "utf-8"),
        ("会议\r\n".encode("utf-16-le"), "会议\r\n", "utf-16-le"),
        (b"\xff\xfe" + "议题".encode("utf-16-le"), "议题", "utf-16-le"),
        (b"\xfe\xff" + "议题".encode("utf-16-be"), "议题", "utf-16-be"),
        ("plain ascii in utf-16".encode("utf-16-be"), "plain ascii in utf-16", "utf-16-be"),
        ("年假二十五天。".encode("gb18030"), "年假二十五天。", "gb18030"),
        ("Café au lait, très bien".encode("cp1252"), "Café au lait, très bien", "cp1252"),
    ],
)
def test_the_ladder_finds_the_encoding(data, text, encoding):
    decoded = decode_text(data)
    assert (decoded.text, decoded.encoding) == (text, encoding)


def test_a_guess_says_that_it_is_one():
    assert decode_text("très".encode("cp1252")).review_codes == {"encoding_guessed"}


def test_mostly_utf8_with_a_broken_byte_stays_utf8():
    decoded = decode_text("résumé für alle – gut".encode() + b"\xff!")
    assert decoded.text.endswith("gut\ufffd!")
    assert decoded.review_codes == {"invalid_bytes"}


def test_ascii_with_one_nul_is_not_utf16():
    assert decode_text(b"line one\nline\x00two\nmore").text == "line one\nline\ufffdtwo\nmore"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), min_size=1))
def test_R21_nul_is_replaced_one_for_one(text):
    decoded = decode_text(b"\xef\xbb\xbf" + text.encode())
    assert decoded.text == text.replace("\x00", "\ufffd")
    assert ("nul_replaced" in decoded.flags) == ("\x00" in text)
    assert len(decoded.text) == len(text)


def test_R21_lone_surrogates_are_replaced_one_for_one():
    decoded = decode_text(b"a\xed\xa0\x80b")
    assert decoded.text == "a\ufffdb"
    assert decoded.flags == {"surrogate_replaced"}
    assert decoded.review_codes == {"invalid_bytes"}


@given(st.binary(max_size=200))
def test_any_bytes_decode_to_text_that_a_database_takes(data):
    text = decode_text(data).text
    assert "\x00" not in text
    text.encode()


def test_a_declared_single_byte_encoding_does_not_beat_valid_utf8():
    assert decode_text("naïve".encode(), "iso-8859-1").text == "naïve"


def test_a_declared_codec_that_is_no_text_encoding_is_not_used():
    assert decode_text(b"abc", "unicode_escape").encoding == "utf-8"


def test_an_endless_line_is_refused():
    check_lines("a" * 10 + "\n" + "b" * 10, 10)
    with pytest.raises(Permanent) as refusal:
        check_lines("a" * 11, 10)
    assert refusal.value.code == "too_large"
