"""HTML tables as a grid: spans resolved, header levels joined, labels repeated where a cell spans rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# A span of thousands is a mistake or an attack; browsers cap column spans at 1,000 as well.
_MAX_SPAN = 1_000
_MAX_COLUMNS = 2_000
LEVELS = " > "
_NUMERIC = re.compile(r"[\s\d.,%()+\-–—/$€£¥￥]*\d[\s\d.,%()+\-–—/$€£¥￥]*")


@dataclass(frozen=True, slots=True)
class Cell:
    """One td or th as written."""

    text: str
    is_header: bool
    row_span: int = 1
    col_span: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One tr: `texts` by grid column, empty where another cell spans in; `labels` with such cells repeated."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    is_header: bool


def read_span(value: str | None) -> int:
    return max(1, min(int(value), _MAX_SPAN)) if value and value.strip().isdecimal() else 1


def lay_out(rows: Sequence[tuple[Sequence[Cell], bool]]) -> tuple[Row, ...]:
    """Rows of (cells, stands in thead) as a grid, header rows marked."""
    carried: dict[int, tuple[int, str, bool]] = {}
    grid: list[tuple[list[str], list[str], list[bool], bool]] = []
    for cells, in_head in rows:
        texts, labels, heads = _lay_row(cells, carried)
        grid.append((texts, labels, heads, in_head))
    headers = _count_headers(grid)
    return tuple(Row(tuple(texts), tuple(labels), i < headers) for i, (texts, labels, _heads, _in_head) in enumerate(grid))


def _lay_row(cells: Sequence[Cell], carried: dict[int, tuple[int, str, bool]]) -> tuple[list[str], list[str], list[bool]]:
    texts: list[str] = []
    labels: list[str] = []
    heads: list[bool] = []
    waiting = list(cells)
    while (waiting or any(column >= len(texts) for column in carried)) and len(texts) < _MAX_COLUMNS:
        column = len(texts)
        if column in carried:
            left, text, is_header = carried.pop(column)
            if left > 1:
                carried[column] = (left - 1, text, is_header)
            texts.append("")
            labels.append(text)
            heads.append(is_header)
            continue
        cell = waiting.pop(0) if waiting else Cell("", is_header=False)
        for place in range(cell.col_span):
            texts.append(cell.text if place == 0 else "")
            labels.append(cell.text)
            heads.append(cell.is_header)
            if cell.row_span > 1:
                carried[column + place] = (cell.row_span - 1, cell.text, cell.is_header)
    for cell in waiting:  # past the widest grid that is kept, text is not lost but loses its column
        texts[-1] = f"{texts[-1]} {cell.text}".strip()
    return texts, labels, heads


def _count_headers(grid: Sequence[tuple[list[str], list[str], list[bool], bool]]) -> int:
    """Leading rows that head the columns: in thead, or all th. Without either, a wordy first row of three columns or more."""
    count = 0
    for _texts, _labels, heads, in_head in grid:
        if not in_head and not (heads and all(heads)):
            break
        count += 1
    if count == len(grid):
        return min(count, max(0, len(grid) - 1))
    if count == 0 and not any(any(heads) for _t, _l, heads, _h in grid) and len(grid[0][1]) > 2:
        first = grid[0][1]
        return int(all(label and not _NUMERIC.fullmatch(label) for label in first))
    return count


def column_paths(rows: Sequence[Row]) -> list[str]:
    """One path a column: the distinct labels of the header rows, from top to bottom."""
    headers = [row.labels for row in rows if row.is_header]
    width = max((len(row.labels) for row in rows), default=0)
    paths = []
    for column in range(width):
        levels: list[str] = []
        for labels in headers:
            label = labels[column] if column < len(labels) else ""
            if label and label not in levels[-1:]:
                levels.append(label)
        paths.append(LEVELS.join(levels))
    return paths if headers else []
