"""Facts: every written form of a record, and numbers that say exactly what stands there."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.fact_values import Unit, is_blank, read_number, read_period, read_unit
from documents.locators import parse_locator, read_lines
from documents.records import FactMapping, normalize_key, read_facts
from tests.documents_pure.support import ANY_TEXT, MARKDOWN, parsed
from tests.documents_pure.test_chunking import parsed_or_none


def facts_of(source: str, name: str = "a.md", mapping: FactMapping | None = None):
    return read_facts(parsed(source, name), mapping or FactMapping())


def triples(source: str, name: str = "a.md") -> list[tuple[str, str, str]]:
    return [(fact.subject, fact.field, fact.value_text) for fact in facts_of(source, name)]


@pytest.mark.parametrize(
    ("source", "name", "origin", "expected"),
    [
        ("主题：新台\n开放时间：上午九点。", "a.md", "record_lines", ("新台", "开放时间", "上午九点")),
        ("主题：新台\n\n开放时间：上午九点，周末休息。", "a.txt", "record_lines", ("新台", "开放时间", "上午九点，周末休息")),
        ("主题：新台。开放时间：上午九点。", "a.md", "record_lines", ("新台", "开放时间", "上午九点")),
        ("Subject: Front desk\nOpening hours: 9 am.", "a.txt", "record_lines", ("Front desk", "Opening hours", "9 am")),
        ("新台 · 开放时间：上午九点。", "a.md", "inline", ("新台", "开放时间", "上午九点")),
        ("- Front desk · Opening hours: 9 am", "a.md", "inline", ("Front desk", "Opening hours", "9 am")),
        ("# Front desk\n\nOpening hours: 9 am", "a.md", "heading_field", ("Front desk", "Opening hours", "9 am")),
        ("# Front desk\n\n## Overview\n\n- **Opening hours:** 9:30 am.", "a.md", "heading_field", ("Front desk", "Opening hours", "9:30 am")),
        ("# Front desk\n\n| Item | Value |\n|---|---|\n| Opening hours | 9 am |", "a.md", "table_pair", ("Front desk", "Opening hours", "9 am")),
        ("# Front desk\n\nOpening hours\n: 9 am", "a.md", "definition", ("Front desk", "Opening hours", "9 am")),
        ("Front desk\n: Opening hours: 9 am", "a.md", "definition", ("Front desk", "Opening hours", "9 am")),
        ("| Place | Opening hours | Phone |\n|---|---|---|\n| Front desk | 9 am | |", "a.md", "table_cell", ("Front desk", "Opening hours", "9 am")),
        ("<h2>Front desk</h2><dl><dt>Opening hours<dd>9 am</dl>", "a.html", "definition", ("Front desk", "Opening hours", "9 am")),
        ("<html><h2>Front desk</h2><table><tr><th>Opening hours<td>9 am<tr><th>Phone<td>-</table>", "a.html", "table_pair", ("Front desk",
        "Opening hours", "9 am")),
        ("<h2>Front desk</h2><p>Opening hours: 9 am<br>Closed", "a.html", "heading_field", ("Front desk", "Opening hours", "9 am")),
    ],
)  # fmt: skip
def test_SYS_B2_each_form_of_a_record_gives_the_fact(source, name, origin, expected):
    (fact,) = facts_of(source, name)
    assert (fact.subject, fact.field, fact.value_text) == expected
    assert fact.origin == origin
    assert fact.review_reason == ""
    assert fact.value_text in parsed(source, name).text[fact.span_start : fact.span_end]
    assert fact.value is None


@pytest.mark.parametrize(
    "line",
    [
        "We open at 9:30 am", "See https://x.example/a", "The rule that you must know before you travel is: keep receipts",
        "Please note the following: x", "When in doubt: ask", "a, b and c: d",
        "This is a sentence. Then: more", "Write to hr@x.example: always", "一二三四五六七八九十一二三：值", "Phone:", "Phone: n/a", "Phone: —",
    ],
)  # fmt: skip
def test_SYS_B2_prose_with_a_colon_is_no_record(line):
    assert facts_of(f"# Front desk\n\n{line}") == ()


def test_a_record_ends_with_its_section():
    assert triples("主题：新台\n开放时间：九点\n\n# 旧台\n\n电话：123") == [("新台", "开放时间", "九点"), ("旧台", "电话", "123")]
    assert triples("主题：新台\n开放时间：九点\n\n闲话一句。\n\n# 旧台\n\n电话：123") == [("新台", "开放时间", "九点"), ("旧台", "电话", "123")]


def test_a_value_that_an_editor_wrapped_is_read_whole_or_not_at_all():
    (fact,) = facts_of(
        "# Desk\n\n- Opening hours: from nine in the morning until six in the\n  evening, without a break.\n- Other regions: ask the regional office, or,"
    )
    assert fact.value_text == "from nine in the morning until six in the evening, without a break"
    assert fact.locator == "L3-L4"
    assert facts_of("# Desk\n\nEveryone who works here should be able to keep this\nthought: it is about people.") == ()


def test_hidden_text_code_and_quotes_state_nothing():
    assert facts_of("# Desk\n\n<!-- Hours: 9 -->\n\n```\nHours: 9\n```\n\n> Hours: 9\n\n<p hidden>Hours: 9</p>") == ()
    assert facts_of("<html><h1>Desk</h1><p hidden>Hours: 9</p><p>Hello</p>", "a.html") == ()


def test_a_field_listed_twice_in_one_section_is_no_record_and_two_sections_may_disagree():
    assert {fact.review_reason for fact in facts_of("# Steps\n\n- Owner: Alice\n- Owner: Bob")} == {"repeated_field"}
    apart = facts_of("# Desk\n\nHours: 9 am\n\n# Desk\n\nHours: 10 am")
    assert [(fact.value_text, fact.review_reason) for fact in apart] == [("9 am", ""), ("10 am", "")]
    records = facts_of("主题：新台\n开放时间：九点\n\n主题：新台\n开放时间：十点")
    assert [(fact.value_text, fact.review_reason) for fact in records] == [("九点", ""), ("十点", "")]


def test_keys_are_folded_and_synonyms_apply():
    assert normalize_key(" Opening－Hours (ＡＭ) ") == "openinghoursam"
    mapping = FactMapping(synonyms=(("opening hours", "open from", "开放时间"),))
    keys = {facts_of(f"# D\n\n{field}: 9 am", mapping=mapping)[0].field_key for field in ("Opening Hours", "open-from", "开放时间")}
    assert keys == {"openinghours"}
    assert facts_of("# D\n\nLimit (EUR): 9")[0].field_key == "limit"


def test_fields_that_never_answer_are_marked():
    assert [fact.review_reason for fact in facts_of("# D\n\n备注：x\n\nVersion note: y\n\nHours: 9")] == [
        "non_answerable_field",
        "non_answerable_field",
        "",
    ]


def test_cells_are_located_and_scaled_by_the_nearest_unit():
    source = "单位：万元\n\n| 项目 | FY2024 | 人数（人） | 单价(USD) |\n|---|---|---|---|\n| 收入 | (1,234.5) | 12 | 3 |\n| 毛利率 | 12.5% | | |"
    facts = {(fact.row_path, fact.col_path): fact for fact in facts_of(source) if fact.origin == "table_cell"}
    income = facts["收入", "FY2024"]
    assert (income.value, income.unit, income.scale, income.period, income.locator) == (
        Decimal(-12_345_000),
        "CNY",
        10_000,
        "FY2024",
        "L5,table=1,row=收入,col=FY2024",
    )
    assert (facts["收入", "人数（人）"].value, facts["收入", "人数（人）"].unit) == (12, "person")
    assert (facts["收入", "单价(USD)"].value, facts["收入", "单价(USD)"].unit) == (3, "USD")
    assert (facts["毛利率", "FY2024"].value, facts["毛利率", "FY2024"].unit, facts["毛利率", "FY2024"].scale) == (
        Decimal("0.125"),
        "percent",
        Decimal("0.01"),
    )
    assert len(facts) == 4


def test_equal_labels_are_numbered_and_reviewed():
    facts = facts_of("| Site | Q1 | Q1 |\n|---|---|---|\n| North | 10 | 11 |")
    assert [(fact.locator, fact.review_reason) for fact in facts] == [
        ("L3,table=1,row=North,col=Q1#1", "duplicate_label"),
        ("L3,table=1,row=North,col=Q1#2", "duplicate_label"),
    ]


@pytest.mark.parametrize(
    ("text", "value", "unit", "scale"),
    [
        ("1,234", "1234", "", "1"), ("(56)", "-56", "", "1"), ("−3.5", "-3.5", "", "1"), ("12.5%", "0.125", "percent", "0.01"), ("(2)%", "-0.02",
        "percent", "0.01"), ("¥1.2万", "12000", "CNY", "10000"),
        ("3亿元", "300000000", "CNY", "100000000"), ("USD 2.5 million", "2500000", "USD", "1000000"), ("$1,000", "1000", "USD", "1"), ("5 港元", "5",
        "HKD", "1"), ("３００元", "300", "CNY", "1"),
        ("25 days", "25", "day", "1"), ("10个工作日", "10", "working_day", "1"), ("2 million", "2000000", "", "1000000"), ("0", "0", "", "1"),
        ("1'000", "1000", "", "1"), ("€9", "9", "EUR", "1"),
    ],
)  # fmt: skip
def test_numbers_are_exact(text, value, unit, scale):
    number = read_number(text)
    assert number is not None
    assert (number.value, number.unit, number.scale, number.review_reason) == (Decimal(value), unit, Decimal(scale), "")


@pytest.mark.parametrize("text", ["12,5", "1.234,56", "1,23,456", "1.234.567"])
def test_ambiguous_marks_are_reviewed_and_never_guessed(text):
    number = read_number(text)
    assert number is not None
    assert (number.value, number.review_reason) == (None, "ambiguous_number")


@pytest.mark.parametrize("text", ["9 am", "9:30", "2024-01-02", "twelve", "12 or 13", "(5", "A1", ""])
def test_what_is_no_number_is_text(text):
    assert read_number(text) is None


def test_a_unit_in_the_cell_beats_what_stands_around():
    around = Unit("CNY", Decimal(10_000))
    assert read_number("5", around).value == 50_000
    assert read_number("5 USD", around).value == 5
    assert read_number("5%", around).value == Decimal("0.05")
    assert read_number("2 million", around).unit == "CNY"


@pytest.mark.parametrize(
    ("text", "unit", "scale"),
    [("单位：万元", "CNY", 10**4), ("USD million", "USD", 10**6), ("In thousands of EUR", "EUR", 10**3), ("(in millions)", "", 10**6), ("单位：亿",
    "", 10**8), ("USD m", "USD", 10**6), ("币种：港元", "HKD", 1), ("%", "percent", None), ("Results", "", 1)],
)  # fmt: skip
def test_units_of_captions(text, unit, scale):
    found = read_unit(text)
    assert (found.unit, found.scale) == (unit, Decimal("0.01") if scale is None else scale)


def test_blanks_dashes_and_errors_state_nothing():
    assert all(is_blank(text) for text in ("", " ", "-", "?", "_", "—", "–", "N/A", "#REF!", "#DIV/0!", "无", "...", "暂无"))
    assert not any(is_blank(text) for text in ("0", "no", "否", "(1)"))


def test_periods_are_named_as_written():
    assert [read_period(text) for text in ("FY2024", "Q1 2024", "2024年上半年", "2023-06", "Revenue 2022", "Room 12")] == [
        "FY2024",
        "Q1 2024",
        "2024年上半年",
        "2023-06",
        "2022",
        "",
    ]


@settings(max_examples=120)
@given(
    MARKDOWN
    | ANY_TEXT
    | st.lists(st.sampled_from(["# H", "主题：台", "时间：九点。", "A · B: c", "k: v", "| a | b |\n|--|--|\n| x | 1,2 |", "t\n: d"]), max_size=8).map(
        "\n\n".join
    ),
    st.sampled_from(["a.md", "a.txt"]),
)
def test_every_fact_stands_where_it_says(source, name):
    extract = parsed_or_none(source, name)
    if extract is None:
        return
    for fact in read_facts(extract, FactMapping()):
        element = extract.elements[fact.element_seq]
        assert element.span_start <= fact.span_start < fact.span_end <= element.span_end
        assert not element.hidden
        first, last = read_lines(extract.text, parse_locator(fact.locator))
        assert first <= fact.span_start
        assert fact.span_end <= last
        assert fact.subject
        assert fact.value_text
