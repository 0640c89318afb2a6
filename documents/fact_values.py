"""Numbers as people write them: value as Decimal with unit and scale, or the reason why it cannot be said."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

ONE = Decimal(1)
PERCENT = "percent"
_SCALES = {
    "万亿": 10**12, "亿": 10**8, "千万": 10**7, "百万": 10**6, "万": 10**4, "千": 10**3,
    "trillion": 10**12, "tn": 10**12, "billions": 10**9, "billion": 10**9, "bn": 10**9, "b": 10**9, "millions": 10**6, "million": 10**6,
    "mn": 10**6, "mm": 10**6,
    "m": 10**6, "thousands": 10**3, "thousand": 10**3, "k": 10**3,
}  # fmt: skip
_CURRENCIES = {
    "人民币": "CNY", "元": "CNY", "rmb": "CNY", "cny": "CNY", "¥": "CNY", "美元": "USD", "usd": "USD", "us$": "USD", "$": "USD", "港元": "HKD",
    "港币": "HKD", "hkd": "HKD",
    "hk$": "HKD", "欧元": "EUR", "eur": "EUR", "€": "EUR", "euros": "EUR", "euro": "EUR", "英镑": "GBP", "gbp": "GBP", "£": "GBP", "日元": "JPY",
    "jpy": "JPY",
    "dollars": "USD", "yuan": "CNY",
}  # fmt: skip
_PLAIN_UNITS = {
    "天": "day", "日": "day", "个工作日": "working_day", "工作日": "working_day", "小时": "hour", "分钟": "minute", "秒": "second", "周": "week", "个月": "month",
    "月": "month", "年": "year", "人": "person",
    "次": "time", "个": "item", "份": "item", "working days": "working_day", "working day": "working_day", "business days": "working_day",
    "business day": "working_day",
    "days": "day", "day": "day", "hours": "hour", "hour": "hour", "hrs": "hour", "minutes": "minute", "minute": "minute", "mins": "minute",
    "min": "minute",
    "seconds": "second", "second": "second", "weeks": "week", "week": "week", "months": "month", "month": "month", "years": "year", "year": "year",
    "people": "person", "persons": "person", "km": "km", "kg": "kg", "gb": "GB", "mb": "MB", "tb": "TB", "pages": "page", "页": "page",
    "times": "time",
}  # fmt: skip


def _any_of(words: dict[str, object] | dict[str, int] | dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_CURRENCY, _SCALE, _PLAIN = _any_of(_CURRENCIES), _any_of(_SCALES), _any_of(_PLAIN_UNITS)
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<before>{_CURRENCY})?\s*(?P<sign>[-+])?\s*(?P<inner>{_CURRENCY})?\s*(?P<digits>\d[\d.,']*)\s*"
    rf"(?:(?P<percent>%|percent|per cent)|(?P<scale>{_SCALE})?\s*(?P<unit>{_CURRENCY}|{_PLAIN})?)\s*(?P<close>\))?(?P<after>%)?"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:'\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_BLANK = re.compile(r"[\s\-–—−/.…*]*|n/?a\.?|nil|none|tbd|tbc|无|暂无|待定|不适用|#(?:n/a|ref!|value!|div/0!|name\?|null!|num!)", re.IGNORECASE)
_UNIT_TEXT = re.compile(
    rf"(?P<scale_zh>万亿|亿|千万|百万|万|千)?(?P<money>{_CURRENCY})|\b(?P<scale>trillion|billion|million|thousand|bn|mn|tn)s?\b|(?P<percent>%|\bper ?cent\b)",
    re.IGNORECASE,
)
_SHORT_SCALE = re.compile(rf"(?:{_CURRENCY})\s*['’]?(?P<scale>000s?|k|m|b)\b", re.IGNORECASE)
_BARE_SCALE = re.compile(r"(万亿|亿|千万|百万|万|千)(?=$|[\s)）])")
_PERIOD = re.compile(
    r"(?:FY|财年)\s?\d{2,4}|(?:19|20)\d{2}\s*年(?:度)?(?:\s*(?:第?[一二三四1-4]季度|[上下]半年|1?\d月|H[12]|Q[1-4]))?|[QH][1-4]\s*(?:FY)?\s*(?:19|20)\d{2}|"
    r"(?:19|20)\d{2}\s*[QH][1-4]|(?:19|20)\d{2}-(?:0[1-9]|1[0-2])(?:-\d{2})?|\b(?:19|20)\d{2}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit and scale that a heading, caption or line gives to the bare numbers below it; "" and 1 when not stated."""

    unit: str = ""
    scale: Decimal = ONE


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was read. `value` is scaled already, and None when `review_reason` says why."""

    value: Decimal | None
    unit: str
    scale: Decimal
    review_reason: str = ""


NOTHING = Unit()


def is_blank(text: str) -> bool:
    """Blanks, dashes, marks alone, errors and "not applicable" state nothing."""
    return not any(char.isalnum() for char in text) or _BLANK.fullmatch(text.strip()) is not None


def read_number(text: str, around: Unit = NOTHING) -> Number | None:
    """The number that `text` consists of, or None when it is not one. `around`: what column, caption or line say."""
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", text).replace("−", "-").strip().lower())
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    is_percent = bool(match["percent"] or match["after"])
    own = match["before"] or match["inner"] or match["unit"] or ""
    unit = PERCENT if is_percent else _CURRENCIES.get(own) or _PLAIN_UNITS.get(own, "")
    scale = Decimal("0.01") if is_percent else Decimal(_SCALES.get(match["scale"] or "", 1))
    if not unit and not match["scale"]:
        unit, scale = around.unit, around.scale
    elif not unit and not is_percent:
        unit = around.unit
    elif unit in _CURRENCIES.values() and not match["scale"] and unit == around.unit:
        scale = around.scale
    digits = match["digits"].rstrip(".,'")
    if not _GROUPED.fullmatch(digits):
        return Number(None, unit, scale, "ambiguous_number")
    value = Decimal(digits.replace(",", "").replace("'", "")) * scale
    return Number(-value if match["sign"] == "-" or match["open"] else value, unit, scale)


def read_unit(text: str) -> Unit:
    """What a caption, a column label in brackets or the line above says of the numbers."""
    plain = unicodedata.normalize("NFKC", text).lower()
    unit, scale = "", ONE
    for match in _UNIT_TEXT.finditer(plain):
        unit = unit or (_CURRENCIES[match["money"]] if match["money"] else PERCENT if match["percent"] else "")
        word = match["scale_zh"] or match["scale"]
        scale = Decimal(_SCALES[word]) if word and scale == ONE else scale
        if match["percent"]:
            scale = Decimal("0.01")
    if scale == ONE and (short := _SHORT_SCALE.search(plain)):
        scale = Decimal(_SCALES.get(short["scale"], 1_000))
    if scale == ONE and (bare := _BARE_SCALE.search(plain)):
        scale = Decimal(_SCALES[bare[1]])
    return Unit(unit, scale)


def read_plain_unit(text: str) -> Unit:
    """The same, and units of time and count as well: for labels in brackets, where nothing else is meant."""
    money = read_unit(text)
    return money if money != NOTHING else Unit(_PLAIN_UNITS.get(unicodedata.normalize("NFKC", text).strip().lower(), ""))


def read_period(*texts: str) -> str:
    """The first period named in the texts, as written, or ""."""
    return next((match[0].strip() for text in texts if (match := _PERIOD.search(text))), "")
