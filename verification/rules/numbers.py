"""Numbers, percents, money, durations, dates, times and units of a text, in English and Chinese, as comparable values with spans."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache

from verification.rules.number_readers import READERS
from verification.rules.quantity import HALF_DAY_MINUTES, Quantity, covers_quantity, date_parts, in_base_unit, same_quantity

_FOLDED_SIGNS = frozenset("％＄￥：／．－　")
_RANGE = re.compile(r"\s?(?:-|–|—|~|～|to|and|or|至|到|或)\s?", re.I)
_MERIDIEM = re.compile(r"[ap]\.? ?m\b", re.I)
_NO_SHARED_UNIT = frozenset({"date", "time", "weekday", "per", "ordinal", "slashed_date"})


def fold_width(text: str) -> str:
    """Full-width digits, letters and signs as their plain forms, one code point for one, so that spans stay right."""
    return "".join(_fold_char(char) for char in text)


def _fold_char(char: str) -> str:
    if char < "\u2000" or not (char.isalnum() or char in _FOLDED_SIGNS):
        return char
    folded = unicodedata.normalize("NFKC", char)
    return folded if len(folded) == 1 else char


@lru_cache(maxsize=4096)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """All quantities of `text` in order; spans are code points of `text` and never overlap.

    "10 to 20 days" and "5-10%" give the first number the unit of the second.
    """
    folded = fold_width(text)
    taken = bytearray(len(folded))
    quantities: list[Quantity] = []
    for pattern, read in READERS:
        for found in pattern.finditer(folded):
            quantity = None if any(taken[found.start() : found.end()]) else read(found)
            if quantity is not None and quantity.end > quantity.start:
                taken[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
                quantities.append(replace(quantity, text=text[quantity.start : quantity.end]))
    quantities.sort(key=lambda quantity: quantity.start)
    return tuple(_share_units(folded, quantities))


def _share_units(text: str, quantities: list[Quantity]) -> list[Quantity]:
    shared = list(quantities)
    for place in range(len(shared) - 2, -1, -1):
        first, second = shared[place], shared[place + 1]
        if first.kind == "number" and second.unit and _RANGE.fullmatch(text[first.end : second.start]):
            if second.kind not in _NO_SHARED_UNIT:
                shared[place] = replace(first, unit=second.unit, kind=second.kind)
            elif _MERIDIEM.search(second.text) and 1 <= first.value <= 12:
                shared[place] = _share_meridiem(first, second)
    return shared


def _share_meridiem(first: Quantity, second: Quantity) -> Quantity:
    """7 to 10 am is 7 am; 11 to 2 pm is 11 am."""
    minutes = first.value % 12 * 60 + (HALF_DAY_MINUTES if second.value >= HALF_DAY_MINUTES else 0)
    return replace(first, value=minutes if minutes <= second.value else minutes - HALF_DAY_MINUTES, unit="clock", kind="time")


__all__ = ["Quantity", "covers_quantity", "date_parts", "fold_width", "in_base_unit", "read_quantities", "same_quantity"]
