"""Facts of tables: row label and column head for each cell, and label and value of two-column tables under a heading."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from documents.fact_lines import is_subject
from documents.fact_types import Statement, key_set, normalize_key
from documents.fact_values import NOTHING, Unit, read_plain_unit, read_unit
from documents.locators import Locator, Name, parse_locator, print_locator
from documents.parsing.contract import COLUMN_SEPARATOR
from documents.parsing.tables import CellSpan, markdown_cells, number_labels, tabbed_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from documents.fact_lines import LineReader
    from documents.fact_types import FactMapping
    from documents.parsing.contract import ElementDraft, Extract

_BRACKETS = re.compile(r"[(（\[]([^()（）\[\]]{1,30})[)）\]]")
_UNIT_LINE_CHARS = 80
_NAMES_UNIT = re.compile(r"单位|币种|货币|\bunits?\b|\bamounts?\b|\bin\b|^[A-Za-z$€£¥]{1,6} ?(?:thousand|million|billion|m|bn|k)?s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Table:
    """What the rows of one table share."""

    extract: Extract
    columns: list[str]
    around: Unit
    generic: frozenset[str]
    reader: LineReader


def read_table(
    extract: Extract, before: Sequence[ElementDraft], rows: Sequence[ElementDraft], reader: LineReader, mapping: FactMapping
) -> Iterator[Statement]:
    """Statements of one table. `before`: the visible elements just above it, nearest last."""
    columns = rows[0].col_path.split(COLUMN_SEPARATOR) if rows[0].col_path else []
    table = _Table(extract, columns, _unit_above(before, rows[0].heading_path), key_set(mapping.generic_labels), reader)
    for row in rows:
        if "table_header" not in row.flags and row.row_path:
            yield from _read_row(table, row)


def _read_row(table: _Table, row: ElementDraft) -> Iterator[Statement]:
    cells = _cells_of(table.extract, row)
    locator = parse_locator(row.locator)
    names = number_labels(table.columns) if table.columns else []
    for place, cell in enumerate(cells[1:], 1):
        value = _cell_text(table.extract, row, cell)
        if not value:
            continue
        label = table.columns[place] if place < len(table.columns) else ""
        name = Name(*names[place]) if place < len(names) else None
        is_repeated = locator.row is not None and locator.row.ordinal > 0
        cell_statement = Statement(
            row.row_path,
            label,
            value,
            cell.start,
            cell.end,
            row,
            _locate(locator, name),
            "table_cell",
            _unit_of(label, row.row_path, table.around),
            row.row_path,
            label,
            "duplicate_label" if is_repeated or (name and label and name.ordinal) else "",
            table.reader.group,
        )
        if len(cells) == 2 and is_subject(row.row_path):
            yield replace(cell_statement, subject=table.reader.subject_of(row), field=row.row_path, origin="table_pair")
        if label and not (len(table.columns) == 2 and normalize_key(label) in table.generic):
            yield cell_statement


def _cells_of(extract: Extract, row: ElementDraft) -> list[CellSpan]:
    cut = markdown_cells if extract.media_type == "text/markdown" else tabbed_cells
    return cut(extract.text, row.span_start, row.span_end)


def _cell_text(extract: Extract, row: ElementDraft, cell: CellSpan) -> str:
    """A cell as it reads: markup is gone, as in the row's search text."""
    source = extract.text[cell.start : cell.end]
    if extract.media_type == "text/markdown" and re.search(r"[*_`\[<\\&~]", source):
        from documents.parsing.markdown_inline import read_inline

        return read_inline(source.replace("\\|", "|"), {})
    return " ".join(source.split())


def _locate(row: Locator, column: Name | None) -> str:
    return print_locator(
        Locator(row.first_line, row.last_line, page=row.page, slide=row.slide, bbox=row.bbox, table=row.table, row=row.row, col=column)
    )


def _unit_of(column: str, row_label: str, around: Unit) -> Unit:
    """A unit in the column head beats one in the row label, then caption and the line above."""
    for label in (column, row_label):
        for bracketed in _BRACKETS.findall(label):
            unit = read_plain_unit(bracketed)
            if unit != NOTHING:
                return unit
    return around


def _unit_above(before: Sequence[ElementDraft], path: tuple[str, ...]) -> Unit:
    """Caption first, then a short line above that is about units."""
    near = [element for element in reversed(before) if element.heading_path == path and len(element.search_text) <= _UNIT_LINE_CHARS]
    for element in sorted(near, key=lambda element: element.kind != "caption"):
        if element.kind in {"caption", "paragraph"} and (element.kind == "caption" or _NAMES_UNIT.search(element.search_text)):
            unit = read_unit(element.search_text)
            if unit != NOTHING:
                return unit
    return NOTHING
