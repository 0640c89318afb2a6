"""The locator grammar: parsed and printed without loss, and read back as a span."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.locators import Locator, Name, parse_locator, print_locator, read_lines
from documents.parsing.lines import LineIndex
from rag4c.kernel.errors import Invalid
from tests.documents_pure.support import json_lines, shared_folder

_NAMES = st.builds(Name, st.text(st.characters(codec="utf-8"), min_size=1), st.integers(0, 99)) | st.builds(Name, st.just(""), st.integers(1, 99))
_INTS = st.integers(1, 10_000)


@pytest.mark.parametrize(
    "text",
    [
        "L3", "L3-L6", "L7,table=1,row=营业收入,col=FY2024", "L2,row=Revenue,col=FY2024", 'L6,table=1,row=Revenue,col="FY2024 > Q1"',
        "L2,row=North,col=Q1#2",
        "page=2,bbox=72:130.5:192:145,table=1,row=Revenue", 'sheet="P&L, new",cell=B4', "sheet=Data,range=A1:B2", "p=12", "p=3-5",
        "table=1,row=a,p=4", "slide=2,table=1,row=REVENUE,col=FY2024",
        "slide=2,notes=1", "bbox=80:80:400:125,ocr=1", "part=1.1,L3", "header=Subject", "ptr=/report/rows/0/a,b=c", 'L1,row="#P1"',
        "L4,table=2,row=#3", "page=1,bbox=1:2:3:4,ocr=1", "footer=1",
    ],
)  # fmt: skip
def test_every_form_of_the_grammar_round_trips(text):
    assert print_locator(parse_locator(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "L0",
        "L3-L2",
        "3",
        "L3,",
        "L1,L2",
        "col=a,row=b",
        "L1,page=2",
        "page=x",
        "cell=B4",
        "L1,row=",
        "L1,row=a b",
        'L1,row="a',
        "bbox=1:2:3",
        "ocr=1",
        "p=1-2-3",
        "L1\n",
        "row=a",
    ],
)
def test_what_the_grammar_does_not_allow_is_invalid(text):
    with pytest.raises(Invalid) as refusal:
        parse_locator(text)
    assert refusal.value.code == "locator"


@given(_INTS, st.integers(0, 50), st.none() | _INTS, _NAMES, _NAMES)
def test_any_label_survives_in_a_table_locator(first, more, table, row, col):
    locator = Locator(first, first + more, table=table, row=row, col=col)
    assert parse_locator(print_locator(locator)) == locator


@given(_INTS, st.lists(st.decimals(-999, 999, places=1), min_size=4, max_size=4))
def test_boxes_survive(page, box):
    locator = Locator(page=page, bbox=tuple(Decimal(number) for number in box))
    assert parse_locator(print_locator(locator)) == locator


def test_lines_end_at_lf_and_crlf_only():
    text = "one\r\ntwo\u2028still two\rstill\nthree"
    assert text[slice(*read_lines(text, parse_locator("L2")))] == "two\u2028still two\rstill"
    assert text[slice(*read_lines(text, parse_locator("L1-L3")))] == text
    assert text[slice(*read_lines(text, parse_locator("L1")))] == "one"


def test_lines_that_are_not_there_are_invalid():
    with pytest.raises(Invalid):
        read_lines("one", parse_locator("L2"))
    with pytest.raises(Invalid):
        read_lines("one", parse_locator("p=1"))


@given(st.text(st.sampled_from("a\r\n年"), max_size=40), st.data())
def test_a_span_lies_within_its_located_lines(text, data):
    index = LineIndex(text)
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    end = data.draw(st.integers(start, len(text)))
    first, last = read_lines(text, parse_locator(index.locate(start, end)))
    assert first <= start
    assert end <= last or text[last:end].strip("\r\n") == ""


def test_the_locators_of_the_shared_fixtures_round_trip():
    rows = json_lines(shared_folder() / "files/expected.jsonl")
    found = [place["locator"] for row in rows for place in [*row["expect"]["locators"], *row["expect"]["facts"]] if place.get("locator")]
    assert len(found) > 60
    for text in found:
        assert print_locator(parse_locator(text)) == text
