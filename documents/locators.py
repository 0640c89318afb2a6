"""Where a piece of evidence stands in its file: one grammar for all formats, parsed and printed without loss."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from documents.parsing.lines import LineIndex
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = re.compile(r'[^,="># \t\r\n\u2028\u2029\x00-\x1f]+')
_PART = re.compile(r'(?P<key>[a-z]+)=(?P<value>"(?:[^"\\]|\\.)*"(?:#\d+)?|[^,]*)(?:,|$)')
_LINES = re.compile(r"L([1-9]\d*)(?:-L([1-9]\d*))?(?:,|$)")
_A1 = re.compile(r"[A-Za-z]+[1-9]\d*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_INT = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Name:
    """A label with its ordinal: 0 when the label stands alone; an empty label is known by its ordinal only."""

    label: str
    ordinal: int = 0

    def __str__(self) -> str:
        suffix = f"#{self.ordinal}" if self.ordinal else ""
        if not self.label:
            return suffix or '""'
        plain = _PLAIN.fullmatch(self.label)
        return (self.label if plain else json.dumps(self.label, ensure_ascii=False)) + suffix


@dataclass(frozen=True, slots=True)
class Locator:
    """One place in a file. Only the fields of its format are set; lines are 1-based and both ends count."""

    first_line: int | None = None
    last_line: int | None = None
    part: tuple[int, ...] = ()
    page: int | None = None
    sheet: Name | None = None
    cell: str = ""
    range: str = ""
    slide: int | None = None
    shape: int | None = None
    notes: int | None = None
    note: int | None = None
    comment: int | None = None
    header: Name | None = None
    footer: int | None = None
    bbox: tuple[Decimal, ...] = ()
    table: int | None = None
    row: Name | None = None
    col: Name | None = None
    paragraphs: tuple[int, ...] = ()
    pointer: str | None = None
    is_ocr: bool = False


_INT_FIELDS = ("page", "slide", "shape", "notes", "note", "comment", "footer", "table")
_NAME_FIELDS = ("sheet", "header", "row", "col")
_ORDER = (
    "part",
    "lines",
    "header",
    "page",
    "sheet",
    "cell",
    "range",
    "slide",
    "shape",
    "notes",
    "note",
    "comment",
    "footer",
    "bbox",
    "table",
    "row",
    "col",
    "p",
    "ptr",
    "ocr",
)
# The field that a locator starts with names its kind and what may follow it.
_FOLLOWERS = {
    "lines": {"table", "row", "col"},
    "part": {"lines"},
    "page": {"bbox", "table", "row", "col", "ocr"},
    "sheet": {"cell", "range"},
    "slide": {"table", "row", "col", "shape", "notes"},
    "bbox": {"ocr"},
    "table": {"row", "col", "p"},
    "p": set(),
    "ptr": set(),
    "header": set(),
    "footer": set(),
    "note": set(),
    "comment": set(),
}


def print_locator(locator: Locator) -> str:
    """The one spelling of a locator."""
    parts = ((key, _print_field(locator, key)) for key in _ORDER)
    return ",".join(text for _key, text in parts if text)


def _print_field(locator: Locator, key: str) -> str:
    if key in _PRINTERS:
        return _PRINTERS[key](locator)
    value = getattr(locator, key)
    return "" if value is None or value == "" else f"{key}={value}"


def _print_lines(locator: Locator) -> str:
    return "" if locator.first_line is None else line_range(locator.first_line, locator.last_line or locator.first_line)


_PRINTERS: dict[str, Callable[[Locator], str]] = {
    "lines": _print_lines,
    "p": lambda locator: "p=" + "-".join(map(str, locator.paragraphs)) if locator.paragraphs else "",
    "part": lambda locator: "part=" + ".".join(map(str, locator.part)) if locator.part else "",
    "bbox": lambda locator: "bbox=" + ":".join(format(number, "f") for number in locator.bbox) if locator.bbox else "",
    "ptr": lambda locator: "" if locator.pointer is None else f"ptr={locator.pointer}",
    "ocr": lambda locator: "ocr=1" if locator.is_ocr else "",
}


def line_range(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-L{last}"


def parse_locator(text: str) -> Locator:
    """Reads a locator. Raises Invalid("locator") for anything that the grammar does not allow."""
    fields: dict[str, object] = {}
    keys: list[str] = []
    at = 0
    while at < len(text):
        at = _read_part(text, at, keys, fields)
    if not _is_allowed(keys) or text.endswith(","):
        raise _invalid(text)
    return Locator(**fields)  # type: ignore[arg-type]  # every value was made by the reader of its key


def _read_part(text: str, at: int, keys: list[str], fields: dict[str, object]) -> int:
    if lines := _LINES.match(text, at):
        first, last = int(lines[1]), int(lines[2] or lines[1])
        if last < first:
            raise _invalid(text)
        keys.append("lines")
        fields.update(first_line=first, last_line=last)
        return lines.end()
    if text.startswith("ptr=", at):
        keys.append("ptr")
        fields["pointer"] = text[at + 4 :]
        return len(text)
    part = _PART.match(text, at)
    if part is None:
        raise _invalid(text)
    keys.append(part["key"])
    fields.update(_read_value(text, part["key"], part["value"]))
    return part.end()


def _read_value(text: str, key: str, value: str) -> dict[str, object]:
    if key in _INT_FIELDS and _INT.fullmatch(value):
        return {key: int(value)}
    if key in _NAME_FIELDS:
        return {key: _read_name(text, value)}
    if key == "cell" and _A1.fullmatch(value):
        return {"cell": value}
    if key == "range" and all(_A1.fullmatch(end) for end in value.split(":")) and value.count(":") == 1:
        return {"range": value}
    return _read_compound(text, key, value)


def _read_compound(text: str, key: str, value: str) -> dict[str, object]:
    numbers = value.split({"bbox": ":", "p": "-", "part": "."}.get(key, ","))
    if key == "bbox" and len(numbers) == 4 and all(map(_NUMBER.fullmatch, numbers)):
        return {"bbox": tuple(map(Decimal, numbers))}
    if key == "p" and len(numbers) <= 2 and all(map(_INT.fullmatch, numbers)):
        return {"paragraphs": tuple(map(int, numbers))}
    if key == "part" and all(map(_INT.fullmatch, numbers)):
        return {"part": tuple(map(int, numbers))}
    if key == "ocr" and value == "1":
        return {"is_ocr": True}
    raise _invalid(text)


def _read_name(text: str, value: str) -> Name:
    label, mark, ordinal = value, "", ""
    if value.startswith('"'):
        quoted, mark, ordinal = value.rpartition('"')[0] + '"', *value.rpartition('"')[2].partition("#")[1:]
        try:
            label = json.loads(quoted)
        except ValueError as error:
            raise _invalid(text) from error
    elif "#" in value:
        label, mark, ordinal = value.partition("#")
    is_plain = value.startswith('"') or not label or _PLAIN.fullmatch(label)
    if not is_plain or (mark and not ordinal.isdecimal()) or not value:
        raise _invalid(text)
    return Name(label, int(ordinal) if mark else 0)


def _is_allowed(keys: list[str]) -> bool:
    if not keys or len(set(keys)) != len(keys) or keys[0] not in _FOLLOWERS:
        return False
    return set(keys[1:]) <= _FOLLOWERS[keys[0]] and [key for key in _ORDER if key in keys] == keys


def _invalid(text: str) -> Invalid:
    return Invalid("locator", f"{text[:80]!r} is not a locator.")


def read_lines(text: str, locator: Locator) -> tuple[int, int]:
    """Half-open code point span of the located lines in a canonical text, without the ending of the last line.

    Raises: Invalid("locator") when the text has no such lines.
    """
    index = LineIndex(text)
    if locator.first_line is None or locator.last_line is None or locator.last_line > len(index):
        raise Invalid("locator", "The located lines are not in this text.")
    return index.start(locator.first_line), index.end(locator.last_line)
