"""Dates, times of day and weekdays in English and Chinese. Each reader finds its own form and returns None where the form does not hold."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from verification.rules.number_units import ENGLISH_UNIT
from verification.rules.number_words import HAN, ORDINALS, read_han
from verification.rules.quantity import Quantity
from verification.rules.word_list import words

if TYPE_CHECKING:
    from collections.abc import Callable

Reader = tuple[re.Pattern[str], "Callable[[re.Match[str]], Quantity | None]"]

_MONTHS = words("january february march april may june july august september october november december")
MONTHS = {name: n for n, name in enumerate(_MONTHS, start=1)} | {name[:3]: n for n, name in enumerate(_MONTHS, start=1)} | {"sept": 9}
WEEKDAYS = {name: n for n, name in enumerate(words("monday tuesday wednesday thursday friday saturday sunday"), start=1)}
_HAN_WEEKDAYS = {han: n for n, hans in enumerate(["一1", "二2", "三3", "四4", "五5", "六6", "日天7"], start=1) for han in hans}
# May and March are words too: a month name is capitalised, and it needs a day, a year or a preposition beside it.
_MONTH = (
    r"(?P<month>(?-i:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d.:]\d|[A-Za-z%])"
_YEAR = r"(?P<year>[12]\d{3})(?!\d|,\d|\.\d)"
_NO = r"(?<![\d.A-Za-z])"
_HAN_N = r"[零〇一二三四五六七八九十]{1,3}"
_HAN_YEAR = r"(?P<bc>(?:公元)?前)?(?P<year>\d{1,4}|[零〇一二三四五六七八九]{4})[ ]?年"
_HAN_MONTH = rf"(?P<month>1[0-2]|0?[1-9]|{_HAN_N})[ ]?月(?:份)?"
_HAN_DAY = rf"(?P<day>[0-3]?\d|{_HAN_N})[ ]?[日号號]"
_QUARTER_WORDS = "first|second|third|fourth|1st|2nd|3rd|4th"
_HALF = r"(?P<half>凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|晚间|夜里|午后|早|晚)"
_MERIDIEM = r"(?P<meridiem>[ap]\.?[ ]?m\b\.?)"


def _quantity(found: re.Match[str], value: int, unit: str, kind: str) -> Quantity:
    return Quantity(Decimal(value), unit, kind, found.start(), found.end(), found[0])


def read_int(text: str | None) -> int | None:
    """Digits or Chinese numerals as an integer."""
    if not text:
        return None
    if text.isdigit():
        return int(text)
    value = read_han(text)
    return None if value is None else int(value)


def make_date(found: re.Match[str], *, year: int | None = None, month: int | None = None, day: int | None = None) -> Quantity | None:
    """Pack the parts that are there; None where month or day cannot be."""
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    value, unit = 0, ""
    for name, part, width in (("y", year, 10000), ("m", month, 100), ("d", day, 100)):
        if part is not None:
            value, unit = value * width + part, unit + name
    return _quantity(found, value, unit, "date")


def _read_date(found: re.Match[str]) -> Quantity | None:
    groups = found.groupdict()
    month_text = (groups.get("month") or "").lower().rstrip(".")
    month = MONTHS.get(month_text) or read_int(month_text)
    year = read_int(groups.get("year"))
    if year is not None and groups.get("bc"):
        year = -year
    if year is not None and found.re is _HAN_DATE and len(groups["year"]) < 3 and month is None and year > 0:
        return None  # 3年 is a duration
    return make_date(found, year=year, month=month, day=read_int(groups.get("day")))


def _read_slashed(found: re.Match[str]) -> Quantity | None:
    """05/13/2024 or 13/05/2024; where both orders can be, it is no date that two readers agree on."""
    first, second, year = int(found["first"]), int(found["second"]), int(found["year"])
    if first > 12 >= second:
        return make_date(found, year=year, month=second, day=first)
    if second > 12 >= first or first == second:
        return make_date(found, year=year, month=first, day=second)
    return _quantity(found, year * 10000 + first * 100 + second, "ambiguous", "slashed_date")


def _read_quarter(found: re.Match[str]) -> Quantity | None:
    groups = {name: text for name, text in found.groupdict().items() if text}
    text = (groups.get("quarter") or groups.get("quarter_b") or "").lower()
    quarter = ORDINALS.get(text) or read_int(text[:1])
    year = read_int(groups.get("year") or groups.get("year_b"))
    if quarter is None or not 1 <= quarter <= 4:
        return None
    return _quantity(found, quarter if year is None else year * 10 + quarter, "q" if year is None else "yq", "date")


def _read_fiscal(found: re.Match[str]) -> Quantity:
    year = int(found["year"] or found["year_b"])
    return _quantity(found, year if year >= 100 else 2000 + year, "fy", "date")


def _read_decade(found: re.Match[str]) -> Quantity:
    if found["century"]:
        return _quantity(found, (int(found["century"]) - 1) * 10 + (read_int(found["tens"]) or 0) // 10, "decade", "date")
    return _quantity(found, int(found["decade"]), "decade", "date")


def _read_century(found: re.Match[str]) -> Quantity | None:
    text = (found["century"] or found["century_b"]).lower()
    value = ORDINALS.get(text) or read_int(text)
    return None if value is None else _quantity(found, value, "century", "date")


def _read_clock(found: re.Match[str]) -> Quantity | None:
    groups = found.groupdict()
    hour, minute = read_int(groups["hour"]), _read_minute(groups)
    if hour is None or minute is None or hour > 24 or minute > 59:
        return None
    meridiem = (groups.get("meridiem") or "").lower()
    half = groups.get("half") or ""
    if meridiem:
        hour = hour % 12 + (12 if meridiem.startswith("p") else 0)
    elif half in {"下午", "傍晚", "晚上", "晚间", "夜里", "午后", "晚", "中午"}:
        hour = hour + 12 if hour < (11 if half == "中午" else 12) else hour
    unclear = not meridiem and not half and hour <= 12 and "spoken" in groups
    return _quantity(found, hour * 60 + minute, "clock12" if unclear else "clock", "time")


def _read_minute(groups: dict[str, str | None]) -> int | None:
    text = groups.get("minute")
    return {"半": 30, "一刻": 15, "三刻": 45}.get(text) or read_int(text) if text else 0


def _read_named_time(found: re.Match[str]) -> Quantity:
    return _quantity(found, 720 if found[0].lower() in {"noon", "midday", "正午"} else 0, "clock", "time")


def _read_weekday(found: re.Match[str]) -> Quantity:
    text = found["day"].lower()
    return _quantity(found, WEEKDAYS.get(text) or _HAN_WEEKDAYS[text], "weekday", "weekday")


_HAN_DATE = re.compile(rf"{_NO}{_HAN_YEAR}(?:[ ]?{_HAN_MONTH}(?:[ ]?{_HAN_DAY})?)?(?![前后以之内間间])")
_P = re.compile
DATE_READERS: tuple[Reader, ...] = (
    (_P(rf"{_NO}(?P<year>[12]\d{{3}})(?P<s>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=s)(?P<day>[0-3]?\d)(?!\d|\.\d)"), _read_date),
    (_P(rf"{_NO}(?P<first>[0-3]?\d)[/.](?P<second>[0-3]?\d)[/.](?P<year>[12]\d{{3}})(?!\d)"), _read_slashed),
    (_P(rf"\b{_MONTH} ?{_DAY},? {_YEAR}", re.I), _read_date),
    (_P(rf"{_NO}{_DAY} (?:of )?{_MONTH},? {_YEAR}", re.I), _read_date),
    (_P(rf"\b{_MONTH},? (?:of )?{_YEAR}", re.I), _read_date),
    (
        _P(
            r"(?<![A-Za-z])(?:FY ?'?|fiscal(?: year)? |financial year )(?P<year>\d{4}|\d{2})(?!\d)|(?P<year_b>\d{4}) ?(?:财年|财政年度|会计年度)",
            re.I,
        ),
        _read_fiscal,
    ),
    (_P(rf"(?<![A-Za-z])Q(?P<quarter>[1-4])(?: ?(?:of )?{_YEAR})?|(?<!\d)(?P<year_b>[12]\d{{3}}) ?Q(?P<quarter_b>[1-4])", re.I), _read_quarter),
    (_P(rf"\b(?P<quarter>{_QUARTER_WORDS})[ -]quarter(?:,? (?:of )?{_YEAR})?", re.I), _read_quarter),
    (_P(r"(?:(?<!\d)(?P<year>[12]\d{3}) ?年(?:的|度)?)?第? ?(?P<quarter>[一二三四1-4]) ?季度"), _read_quarter),
    (_P(r"(?<!\d)(?P<century>\d{1,2}) ?世纪 ?(?P<tens>\d0|[一二三四五六七八九]十) ?年代|\b(?P<decade>[12]\d{2})0'?s\b"), _read_decade),
    (
        _P(r"\b(?P<century>\d{1,2}(?=st|nd|rd|th))(?:st|nd|rd|th)[ -]century|(?<!\d)(?P<century_b>\d{1,2}|[一二三四五六七八九十]{1,3}) ?世纪", re.I),
        _read_century,
    ),
    (_HAN_DATE, _read_date),
    (_P(rf"{_NO}{_HAN_MONTH}[ ]?{_HAN_DAY}"), _read_date),
    (_P(rf"\b{_MONTH} (?:the )?{_DAY}(?! ?(?:percent|days|hours|employees|people|people))", re.I), _read_date),
    (_P(rf"{_NO}(?:the )?{_DAY} (?:of )?{_MONTH}", re.I), _read_date),
    (_P(rf"(?<![\d.零〇一二三四五六七八九十]){_HAN_MONTH}(?![内前后之以])"), _read_date),
    (
        _P(rf"(?<=每月)(?:的|第)?{_HAN_DAY}|{_NO}(?P<day_b>[0-3]?\d)[号號](?![楼线门院机])"),
        lambda m: make_date(m, day=read_int(m["day"] or m["day_b"])),
    ),
    (
        _P(
            rf"\b(?:in|of|by|since|until|till|from|to|through|late|early|mid|every|each|before|after|during|next|"
            rf"last) (?={_MONTH})(?P<name>[A-Za-z]+)\b",
            re.I,
        ),
        lambda m: _read_month_word(m),
    ),
)


def _read_range_end(found: re.Match[str]) -> Quantity | None:
    return _read_clock(found) if _AFTER_RANGE.search(found.string[: found.start()]) else None


_DOTTED = r"(?:[5-9]|0\d|1\d|2[0-4])\.[0-5][05]"  # 9.30: a time of day only beside a meridiem or as one end of a range
_RANGE = r" ?(?:to|until|till|[-–—]) ?"
_AFTER_RANGE = re.compile(rf"(?<![\d.:£$€¥]){_DOTTED}{_RANGE}$")
_NO_MEASURE = rf"(?!\d| ?(?:[A-Z]{{3}}\b|°|{ENGLISH_UNIT}))"
TIME_READERS: tuple[Reader, ...] = (
    (_P(rf"(?<![\d:.])(?P<hour>1[0-2]|0?\d)\.(?P<minute>[0-5]\d) ?{_MERIDIEM}", re.I), _read_clock),
    (_P(rf"(?<![\d:.£$€¥])(?={_DOTTED}{_RANGE}{_DOTTED}{_NO_MEASURE})(?P<hour>\d+)\.(?P<minute>\d\d)"), _read_clock),
    (_P(rf"(?<=[ –—-])(?={_DOTTED}{_NO_MEASURE})(?P<hour>\d+)\.(?P<minute>\d\d)"), _read_range_end),
    (_P(rf"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d))?(?::[0-5]\d)? ?{_MERIDIEM}", re.I), _read_clock),
    (_P(rf"{_HALF}? ?(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:])"), _read_clock),
    (_P(r"(?<![\d:.])(?P<hour>1[0-2]|[1-9]) ?o'?clock(?P<spoken>)", re.I), _read_clock),
    (
        _P(
            rf"{_HALF}? ?(?P<spoken>)(?<![\d.])(?P<hour>[01]?\d|2[0-4]|{_HAN_N}) ?[点點时時](?!间|候|代|机|刻表|段|长|击|"
            rf"\d{{3}})钟?(?:整|(?P<minute>半|[一三]刻|[0-5]?\d|{_HAN_N})(?:分(?!钟))?)?"
        ),
        _read_clock,
    ),
    (_P(r"\b(?:noon|midday|midnight)\b|正午|午夜", re.I), _read_named_time),
    (_P(r"\b(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b", re.I), _read_weekday),
    (_P(r"(?<![一二三四五六七八九十\d两])(?:周|星期|礼拜)(?P<day>[一二三四五六日天])(?![\d周岁年])"), _read_weekday),
)


def _read_month_word(found: re.Match[str]) -> Quantity:
    month = MONTHS[found["name"].lower()]
    return Quantity(Decimal(month), "m", "date", found.start("name"), found.end("name"), found["name"])


__all__ = ["DATE_READERS", "HAN", "MONTHS", "TIME_READERS", "Reader", "make_date", "read_int"]
