from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag4c.kernel.canonical import sha256_hex
from verification.rules.text_hash import SpanCheck, check_span

TEXT = "年假为 25 days.\nSick pay: full 😀."


@given(st.data())
def test_SYS_B1_every_span_of_the_current_text_reproduces(data):
    start = data.draw(st.integers(0, len(TEXT) - 1))
    end = data.draw(st.integers(start + 1, len(TEXT)))
    assert check_span(TEXT, (start, end), sha256_hex(TEXT), TEXT[start:end]) == SpanCheck("ok")


@given(st.integers(0, len(TEXT) - 1))
def test_SYS_B1_one_changed_character_is_stale(place):
    changed = TEXT[:place] + ("x" if TEXT[place] != "x" else "y") + TEXT[place + 1 :]
    assert check_span(changed, (0, 3), sha256_hex(TEXT), TEXT[0:3]) == SpanCheck("stale", "digest_differs")


def test_SYS_B1_a_source_that_is_gone_is_stale():
    assert check_span(None, (0, 3), sha256_hex(TEXT), TEXT[0:3]) == SpanCheck("stale", "absent")


def test_SYS_B1_a_span_that_does_not_say_the_quote_is_stale():
    assert check_span(TEXT, (1, 4), sha256_hex(TEXT), TEXT[0:3]) == SpanCheck("stale", "span_differs")
    for span in ((-1, 2), (3, 3), (4, 2), (0, len(TEXT) + 1)):
        assert check_span(TEXT, span, sha256_hex(TEXT), TEXT[0:2]).reason == "span_outside"
