"""Readers of measures, money, shares, frequencies, ordinals and plain numbers. The table at the end is in order of precedence."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from verification.rules.number_dates import DATE_READERS, TIME_READERS
from verification.rules.number_units import CHINESE_UNIT, ENGLISH_UNIT, MONEY_SIGN, UNITS, find_unit
from verification.rules.number_words import DIGITS, HAN, NUMERAL, ORDINALS, SUFFIX, read_numeral
from verification.rules.quantity import Quantity

if TYPE_CHECKING:
    from verification.rules.number_dates import Reader

_PER_WORDS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "annually": "year", "yearly": "year", "annual": "year",
}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_HALF = Decimal("0.5")
# Words after "one" that make it a pronoun or an idiom, not a number
_PRONOUN_TAIL = "of|another|more|or|who|that|can|could|may|must|should|is|was|has|and|to|the"


def _make(found: re.Match[str], value: Decimal | int | None, unit: str = "", kind: str = "number") -> Quantity | None:
    if value is None:
        return None
    if unit:
        known = find_unit(unit)
        unit, kind = known.name, known.kind
    return Quantity(Decimal(value), unit, kind, found.start(), found.end(), found[0])


def _read_measure(found: re.Match[str]) -> Quantity | None:
    if found["numeral"] == "一" and find_unit(found["unit"]).kind == "count":
        return None  # 一个 is an article
    return _make(found, read_numeral(found["numeral"]), found["unit"])


def _read_below_zero(found: re.Match[str]) -> Quantity | None:
    value = read_numeral(found["numeral"])
    return _make(found, None if value is None else -value, found["unit"])


def _read_money(found: re.Match[str]) -> Quantity | None:
    text = found["numeral"]
    factor = {"m": 10**6, "b": 10**9}.get(text[-1:].lower(), 1)
    value = read_numeral(text[:-1].strip() if factor > 1 else text)
    return _make(found, None if value is None else value * factor, found["sign"])


def _read_share(found: re.Match[str]) -> Quantity | None:
    """百分之五, 五成."""
    value = read_numeral(found["percent"] or found["tenths"])
    return _make(found, None if value is None else value * (1 if found["percent"] else 10), "%")


def _read_half(found: re.Match[str]) -> Quantity | None:
    """Half an hour, 半年, 两个半小时."""
    whole = found["whole"]
    return _make(found, ((read_numeral(whole) or 0) if whole else 0) + _HALF, found["unit"] or found["unit_b"])


def _read_unit_and_half(found: re.Match[str]) -> Quantity | None:
    value = read_numeral(found["numeral"])
    return _make(found, None if value is None else value + _HALF, found["unit"])


def _read_single(found: re.Match[str]) -> Quantity | None:
    """For a year, within a week: one of the unit."""
    return _make(found, 1, found["unit"])


def _read_per(found: re.Match[str]) -> Quantity | None:
    """Daily, per month, 每年: kind "per", which a duration never equals."""
    groups = found.groupdict()
    name = _PER_WORDS.get((groups.get("word") or "").lower()) or find_unit(groups.get("unit") or groups.get("unit_b") or "").name
    if name not in UNITS or UNITS[name].kind != "duration":
        return None
    return Quantity(Decimal(1), name, "per", found.start(), found.end(), found[0])


def _read_ordinal(found: re.Match[str]) -> Quantity | None:
    text = next(part for part in found.groupdict().values() if part).lower()
    return _make(found, ORDINALS.get(text) or read_numeral(text), kind="ordinal")


def _read_times(found: re.Match[str]) -> Quantity:
    return Quantity(Decimal(_TIMES[found[0].lower()]), "time", "count", found.start(), found.end(), found[0])


def _read_one(found: re.Match[str]) -> Quantity | None:
    return _make(found, 1)


def _read_plain(found: re.Match[str]) -> Quantity | None:
    text = found[0]
    if text.lower() == "one" or (not text.isascii() and not _is_plain_han(text)):
        return None
    return _make(found, read_numeral(text))


def _is_plain_han(text: str) -> bool:
    """Chinese numerals without a unit are numbers only when long: 一些, 万一, 十分 are words."""
    if text[0] in "-−0123456789" or len(text) >= 3:
        return True
    return len(text) == 2 and text[0] in "二两三四五六七八九" and text[1] in "十百千万亿"


_P = re.compile
_NUM = rf"(?P<numeral>{NUMERAL})"
_UNIT_EN = rf"(?P<unit>{ENGLISH_UNIT})"
_UNIT_ZH = rf"(?P<unit>{CHINESE_UNIT})"
_TIME_UNIT_ZH = "小时|钟头|分钟|秒|天|日|周|星期|个月|月|季度|年"
_NOT_BEFORE_ONE = "".join(rf"(?<!\b{word} )" for word in ("no", "any", "every", "each", "the", "this", "that", "which", "another"))
READERS: tuple[Reader, ...] = (
    *DATE_READERS,
    *TIME_READERS,
    (_P(rf"(?P<sign>(?<![A-Za-z])(?:{MONEY_SIGN})) ?(?P<numeral>{DIGITS}(?:{SUFFIX}|[ ]?[mMbB](?![A-Za-z]))?)(?:元(?!素))?"), _read_money),
    (_P(r"(?<![\w.,])(?P<numeral>\d{1,3})(?P<unit>p)(?![\w.])"), lambda found: _make(found, read_numeral(found["numeral"]), "pence")),
    (_P(rf"百分之(?P<percent>{HAN}|{DIGITS})|(?P<tenths>[一二三四五六七八九])成(?![为功立果长员本就分])"), _read_share),
    (_P(rf"零下 ?{_NUM} ?{_UNIT_ZH}"), _read_below_zero),
    (_P(rf"\bminus {_NUM} ?{_UNIT_EN}", re.I), _read_below_zero),
    (
        _P(
            rf"(?:(?P<whole>{NUMERAL})个)?半个?(?P<unit>{_TIME_UNIT_ZH})|(?<!and a )\bhalf[ -](?:an?[ -])?(?P<unit_b>hour|day|week|month|year)\b",
            re.I,
        ),
        _read_half,
    ),
    (_P(rf"{_NUM}(?P<unit>年|天|小时|周|个月)半"), _read_unit_and_half),
    (_P(rf"(?:(?<=\bfor )|(?<=\bwithin )|(?<=\bafter ))an? {_UNIT_EN}", re.I), _read_single),
    (_P(rf"(?:\b(?:per|each|every|an?)[ -]|/ ?){_UNIT_EN}|每(?:一|个)?(?P<unit_b>{_TIME_UNIT_ZH})", re.I), _read_per),
    (_P(rf"\b(?P<word>{'|'.join(_PER_WORDS)})\b", re.I), _read_per),
    (_P(rf"第 ?(?P<han>\d+|{HAN})"), _read_ordinal),
    (_P(rf"{_NUM}[ -]?{_UNIT_EN}", re.I), _read_measure),
    (_P(rf"(?<![哪某任同])(?<!哪一){_NUM} ?{_UNIT_ZH}"), _read_measure),
    (_P(rf"\b(?P<word>{'|'.join(ORDINALS)})\b|(?<![\d.,A-Za-z])(?P<digits>\d+)(?:st|nd|rd|th)\b", re.I), _read_ordinal),
    (_P(r"\b(?:once|twice|thrice)\b", re.I), _read_times),
    (_P(rf"{_NOT_BEFORE_ONE}\bone(?= (?!(?:{_PRONOUN_TAIL})\b)[a-z]{{3}})", re.I), _read_one),
    (_P(rf"{NUMERAL}(?![A-Za-z])", re.I), _read_plain),
)
