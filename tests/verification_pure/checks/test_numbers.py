from __future__ import annotations

import itertools
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.rules.number_words import read_han, read_words
from verification.rules.numbers import covers_quantity, read_quantities, same_quantity


def read(text):
    return [(str(quantity.value), quantity.unit) for quantity in read_quantities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 days", [("30", "day")]),
        ("thirty days", [("30", "day")]),
        ("30天", [("30", "day")]),
        ("三十天", [("30", "day")]),
        ("３０天", [("30", "day")]),
        ("30-day period", [("30", "day")]),
        ("3个工作日", [("3", "workday")]),
        ("half an hour", [("0.5", "hour")]),
        ("一个半小时", [("1.5", "hour")]),
        ("two and a half hours", [("2.5", "hour")]),
        ("三年半", [("3.5", "year")]),
        ("5%", [("5", "percent")]),
        ("百分之五", [("5", "percent")]),
        ("五成", [("50", "percent")]),
        ("5-10%", [("5", "percent"), ("10", "percent")]),
        ("10 to 20 days", [("10", "day"), ("20", "day")]),
        ("1,234.5 万元", [("12345000.0", "CNY")]),
        ("3.5 million dollars", [("3500000.0", "USD")]),
        ("$5k", [("5000", "USD")]),
        ("€ 1.5bn", [("1500000000.0", "EUR")]),
        ("1亿2千万", [("120000000", "")]),
        ("两万三千", [("23000", "")]),
        ("三千五百元", [("3500", "CNY")]),
        ("one hundred and twenty people", [("120", "person")]),
        ("two dozen eggs", [("24", "")]),
        ("9 am", [("540", "clock")]),
        ("上午九点", [("540", "clock")]),
        ("下午3点半", [("930", "clock")]),
        ("at noon", [("720", "clock")]),
        ("Saturday: 10.00 to 13.00", [("6", "weekday"), ("600", "clock"), ("780", "clock")]),
        ("open 9.30–17.30", [("570", "clock"), ("1050", "clock")]),
        ("from 7.45 am", [("465", "clock")]),
        ("10.00 to 13.00 kg", [("10.00", "kilogram"), ("13.00", "kilogram")]),
        ("£12.50 to 13.00", [("12.50", "GBP"), ("13.00", "")]),
        ("42p per mile", [("42", "penny")]),
        ("30 pence", [("30", "penny")]),
        ("2024-05-01", [("20240501", "ymd")]),
        ("May 1, 2024", [("20240501", "ymd")]),
        ("1 May 2024", [("20240501", "ymd")]),
        ("2024年5月1日", [("20240501", "ymd")]),
        ("二〇二四年五月一日", [("20240501", "ymd")]),
        ("05/13/2024", [("20240513", "ymd")]),
        ("FY2024", [("2024", "fy")]),
        ("Q1 2024", [("20241", "yq")]),
        ("2024年第一季度", [("20241", "yq")]),
        ("前86年", [("-86", "y")]),
        ("in May", [("5", "m")]),
        ("每月15日", [("1", "month"), ("15", "d")]),
        ("15日内", [("15", "day")]),
        ("twice a year", [("2", "time"), ("1", "year")]),
        ("for a year", [("1", "year")]),
        ("第3条", [("3", "")]),
        ("-5°C", [("-5", "celsius")]),
        ("零下5度", [("-5", "celsius")]),
        ("人数为1，200人", [("1", ""), ("200", "person")]),
        ("周一至周五", [("1", "weekday"), ("5", "weekday")]),
    ],
)
def test_quantities_are_read_in_both_languages(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text", ["一些 一般 一起 万一 十分", "You may go", "COVID-19, B12 and 1.2.3", "no one", "one of the rules", "哪一年", "march on"]
)
def test_words_and_codes_are_no_numbers(text):
    assert read(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 hour", "60 minutes"),
        ("1 week", "7 days"),
        ("1 year", "12 months"),
        ("两周", "14 days"),
        ("thirty days", "30天"),
        ("9 am", "上午九点"),
        ("5 pm", "17:00"),
        ("$5,000", "5000 dollars"),
        ("350万元", "3,500,000元"),
        ("May 1, 2024", "2024年5月1日"),
        ("12 percent", "百分之十二"),
        ("3 km", "3000 metres"),
        ("in 2024 it", "2024年"),
        ("twice", "2 times"),
        ("£0.42", "42p"),
        ("14.00 to 18.00", "14:00 to 18:00"),
    ],
)
def test_same_amount_in_other_words_is_the_same(one, other):
    assert same_quantity(read_quantities(one)[0], read_quantities(other)[0])
    assert same_quantity(read_quantities(other)[0], read_quantities(one)[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 month", "30 days"),
        ("30 days", "30 working days"),
        ("1 year", "365 days"),
        ("30 days", "30 weeks"),
        ("5%", "5 percentage points"),
        ("$30", "€30"),
        ("9 am", "9 pm"),
        ("May 1, 2024", "May 1, 2023"),
        ("FY2024", "2024年"),
        ("30 days", "30"),
        ("3次", "3人"),
        ("5 GB", "5 GiB"),
        ("daily", "1 day"),
    ],
)
def test_other_unit_or_value_is_not_the_same(one, other):
    assert not same_quantity(read_quantities(one)[0], read_quantities(other)[0])
    assert not covers_quantity(read_quantities(one)[0], read_quantities(other)[0])


def test_a_more_exact_date_covers_a_less_exact_one_and_never_the_reverse():
    day, month, year, decade = (read_quantities(text)[0] for text in ("May 1, 2024", "May 2024", "2024年", "the 2020s"))
    assert covers_quantity(day, month)
    assert covers_quantity(day, year)
    assert covers_quantity(year, decade)
    assert not covers_quantity(month, day)
    assert not covers_quantity(decade, year)


@given(st.integers(1, 10**9 - 1))
def test_spelled_english_numbers_read_back(number):
    assert read_words(spell(number)) == number


def spell(number):
    small = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ]
    tens = ["x", "x", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            return f"{spell(number // size)} {name}" + (f"{' and' if name == 'hundred' else ''} {spell(rest)}" if rest else "")
    if number < 20:
        return small[number]
    return tens[number // 10] + (f"-{small[number % 10]}" if number % 10 else "")


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_chinese_numerals_read_back(thousands, hundreds, tens, ones):
    digits = "零一二三四五六七八九"
    text = digits[thousands] + "千"
    for digit, step in ((hundreds, "百"), (tens, "十"), (ones, "")):
        text += digits[digit] + step if digit else "零" if not text.endswith("零") else ""
    value = thousands * 1000 + hundreds * 100 + tens * 10 + ones
    assert read_han(text.rstrip("零")) == value
    assert read_han(f"{text.rstrip('零')}万") == value * 10000


def test_chinese_numerals_in_short_form():
    assert [read_han(text) for text in ("二〇二四", "十", "十五", "一百二十五万", "三千五", "两百", "三点五", "一亿零三万")] == [
        2024,
        10,
        15,
        1250000,
        3500,
        200,
        Decimal("3.5"),
        100030000,
    ]


@given(st.text(alphabet="0123456789.,-/:%$ 年月日天点半万元一二十百 daysMay19am第周ofnethr", max_size=40))
def test_reading_never_fails_and_spans_are_in_order(text):
    quantities = read_quantities(text)
    assert all(text[quantity.start : quantity.end] == quantity.text for quantity in quantities)
    assert all(before.end <= after.start for before, after in itertools.pairwise(quantities))
    assert all(same_quantity(quantity, quantity) for quantity in quantities)
