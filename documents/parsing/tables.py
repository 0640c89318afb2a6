"""Cells and labels of table rows, the same for every format that has tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from documents.parsing.contract import COLUMN_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class CellSpan:
    """One cell of a row: half-open span in the canonical text, without the white space around it."""

    start: int
    end: int


def markdown_cells(text: str, start: int, end: int) -> list[CellSpan]:
    """Cells of the Markdown table row at `text[start:end]`; an escaped pipe does not part them."""
    cells = []
    first = _row_start(text, start, end)
    at = cell_start = first
    while at < end:
        if text[at] == "\\":
            at += 1
        elif text[at] == "|":
            cells.append(_trim(text, cell_start, at))
            cell_start = at + 1
        at += 1
    if text[cell_start:end].strip():
        cells.append(_trim(text, cell_start, end))
    return cells


def _row_start(text: str, start: int, end: int) -> int:
    """Behind the leading pipe, or at the first label when the row has none (quote and list marks are no cell)."""
    at = start
    while at < end and text[at] in " \t>":
        at += 1
    return at + 1 if at < end and text[at] == "|" else at


def tabbed_cells(text: str, start: int, end: int) -> list[CellSpan]:
    """Cells of a row whose canonical text parts them by tabs (HTML and later formats)."""
    cells = []
    at = start
    while True:
        stop = text.find(COLUMN_SEPARATOR, at, end)
        if stop < 0:
            cells.append(_trim(text, at, end))
            return cells
        cells.append(_trim(text, at, stop))
        at = stop + 1


def _trim(text: str, start: int, end: int) -> CellSpan:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return CellSpan(start, end)


def number_labels(labels: Sequence[str]) -> list[tuple[str, int]]:
    """(label, n): n is 0 for a label that stands alone, else 1, 2, … in order; a missing label counts by its place."""
    totals = Counter(labels)
    seen: Counter[str] = Counter()
    numbered: list[tuple[str, int]] = []
    for place, label in enumerate(labels, 1):
        seen[label] += 1
        if not label:
            numbered.append((label, place))
        else:
            numbered.append((label, seen[label] if totals[label] > 1 else 0))
    return numbered
