"""One quantity read from a text, and when two of them say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.number_units import UNITS

if TYPE_CHECKING:
    from decimal import Decimal

HALF_DAY_MINUTES = 720


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with its unit as written and its place, text[start:end].

    kind: number, ordinal, percent, money, duration, date, time, weekday, per, count or a measure (length, mass, data, ...).
    Dates: unit names the parts that are packed into value: ymd 20240501, ym 202405, y 2024, md 501, m 5, d 15, yq 20241, q 1, fy 2024,
    decade 196, century 19; a year before Christ is negative. Times: minutes after midnight, unit "clock", or "clock12" where the half
    of the day is not said. "per": value 1 of the unit ("a day", 每年).
    """

    value: Decimal
    unit: str
    kind: str
    start: int
    end: int
    text: str


def in_base_unit(quantity: Quantity) -> tuple[Decimal, str]:
    """Value and name of the base unit, so that 1 hour and 60 minutes compare equal; years come out in months, never in days."""
    unit = UNITS.get(quantity.unit)
    return (quantity.value * unit.factor, unit.base) if unit else (quantity.value, quantity.unit)


def date_parts(quantity: Quantity) -> dict[str, int]:
    """Year, month, day, quarter, decade or century of a date, as far as said."""
    value, unit = int(quantity.value), quantity.unit
    if unit in {"fy", "decade", "century"}:
        return {unit: value}
    sign, value = (-1, -value) if value < 0 else (1, value)
    parts: dict[str, int] = {}
    for name, width in (("d", 100), ("m", 100), ("q", 10)):
        if name in unit:
            value, parts[name] = divmod(value, width)
    if "y" in unit:
        parts["y"] = sign * value
    return parts


def same_quantity(a: Quantity, b: Quantity) -> bool:
    """Whether both say the same amount or moment, after exact conversion of units. A bare 2024 equals the year 2024."""
    if a.kind == "time" and b.kind == "time":
        return _same_time(a, b)
    if a.kind == "date" and b.kind == "date":
        return date_parts(a) == date_parts(b)
    if {a.kind, b.kind} == {"date", "number"}:
        return a.value == b.value and {a.unit, b.unit} in ({"y", ""}, {"fy", ""})
    if {a.kind, b.kind} == {"count", "number"}:
        return a.value == b.value and not {a.unit, b.unit} & {"time", "fold"}
    if a.kind == b.kind == "count":
        return a.value == b.value and (a.unit == b.unit or (a.unit != "time" and "piece" in {a.unit, b.unit}))
    return a.kind == b.kind and in_base_unit(a) == in_base_unit(b)


def covers_quantity(held: Quantity, asked: Quantity) -> bool:
    """Whether evidence that holds `held` supports a claim of `asked`: the same, or more exact (a day covers its month, year and decade)."""
    if held.kind == asked.kind == "time" and held.unit == "clock12" and asked.unit == "clock":
        return held.value == asked.value
    if same_quantity(held, asked):
        return True
    if asked.kind not in {"date", "number"} or not (held.kind == "date" or _may_be_year(held)):
        return False
    have = date_parts(held) if held.kind == "date" else {"y": int(held.value)}
    if asked.kind == "number":
        return asked.unit == "" and have.get("y") == asked.value
    year = have.get("y")
    if year is not None:
        have |= {"decade": year // 10, "century": (year + 99) // 100}
    if "decade" in have:
        have.setdefault("century", have["decade"] // 10 + 1)
    if "m" in have:
        have.setdefault("q", (have["m"] + 2) // 3)
    return all(have.get(name) == value for name, value in date_parts(asked).items())


def _may_be_year(quantity: Quantity) -> bool:
    return quantity.kind == "number" and 1000 <= quantity.value < 2200 and quantity.value == int(quantity.value)


def _same_time(a: Quantity, b: Quantity) -> bool:
    if "clock12" in {a.unit, b.unit}:
        return a.value % HALF_DAY_MINUTES == b.value % HALF_DAY_MINUTES
    return a.value == b.value
