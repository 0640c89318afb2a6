"""The unit a question names, and quantities that are only a condition: "after six months of service" tells no number of weeks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.lexicon_quantities import find_quantities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verification.rules.numbers import Quantity

_UNIT_ASKED = re.compile(
    r"\bhow many (?:[a-z]+ )?(?P<en>seconds|minutes|hours|days|weeks|months|years|percent|dollars|euros|pounds|metres|meters|kilometers|kilometres|miles|feet)\b|\bin (?P<en_b>dollars|euros|pounds|yuan|percent|kilometres|kilometers|miles|metres|meters|feet|inches)\b|(?:多少|几)(?P<zh>个月|天|小时|分钟|年|周|美元|欧元|元|公里|米|千克|公斤|吨|平方公里|公顷)(?!代|级|出生)",
    re.I,
)
_MEASURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("area", re.compile(r"\bhow large an area\b|\bwhat (?:is|was|are|'s) (?:the )?(?:[a-z]+ ){0,3}area\b|面积", re.I)),
    ("length", re.compile(r"\bhow (?:tall|high|wide|deep|far)\b|\bwhat (?:is|was|are|'s) (?:the )?(?:[a-z]+ ){0,3}(?:height|width|depth|distance)\b|多[高远宽深]|(?:高|宽|深)度(?:是|为|有)", re.I)),
    ("mass", re.compile(r"\bhow heavy\b|\bwhat (?:is|was|are|'s) (?:the )?(?:[a-z]+ ){0,3}weight\b|多重|重量", re.I)),
    ("temperature", re.compile(r"\b(?:what|which) temperature\b|\bwhat (?:is|was|are|'s) (?:the )?(?:[a-z]+ ){0,3}temperature\b|多少度|温度", re.I)),
)  # fmt: skip
_CONDITION_BEFORE = re.compile(
    r"\b(?:after|once|when|if|unless|until|upon|from)\b(?: [a-z]+){0,2} $|(?:入职|工作|任职|服务|工龄|年龄|累计|连续)?(?:满|达到?|超过)$", re.I
)
_CONDITION_AFTER = re.compile(r"^ ?(?:of (?:service|employment|age)\b|old\b)|^(?:后|之后|以后|以上)(?:，|,|的|可|有|每|方|才|起)")


def read_asked_unit(text: str) -> Quantity | None:
    """A quantity of the unit that the question names, or None."""
    found = _UNIT_ASKED.search(text)
    if not found:
        return None
    return next(iter(find_quantities(f"2 {found['en'] or found['en_b'] or found['zh']}")), None)


def read_asked_measure(text: str) -> str:
    """The kind of quantity that a measure named in the question has (面积: area); empty when none is named."""
    return next((kind for kind, pattern in _MEASURES if pattern.search(text)), "")


def drop_conditions(question: str, quantities: Iterable[Quantity], text: str) -> tuple[Quantity, ...]:
    """The quantities without those of another unit than the asked one that only say when or for whom something holds."""
    asked = read_asked_unit(question)
    held = tuple(quantities)
    if asked is None:
        return held
    return tuple(quantity for quantity in held if quantity.unit == asked.unit or not _is_condition(quantity, text))


def _is_condition(quantity: Quantity, text: str) -> bool:
    before, after = text[: quantity.start], text[quantity.end :]
    return _CONDITION_BEFORE.search(before) is not None or _CONDITION_AFTER.match(after) is not None
