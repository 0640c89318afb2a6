"""The pieces that chunks are put together from: elements, sentences of a long one, blocks of table rows, parts of code."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from documents.parsing.invisible import to_search_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from documents.chunking import ChunkSettings
    from documents.parsing.contract import ElementDraft, Extract

_SENTENCE_END = re.compile(r"[。！？；][\"'”’）)\]】》」』]*\s*|[.!?;][\"'”’)\]]*\s+|\n")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u200c")


@dataclass(frozen=True, slots=True)
class Unit:
    """A span that is not cut any further. `is_closed`: it shares its chunk with no other unit."""

    start: int
    end: int
    search_text: str
    elements: tuple[ElementDraft, ...]
    is_closed: bool = False


def make_units(extract: Extract, run: Sequence[ElementDraft], sizes: tuple[int, int], settings: ChunkSettings) -> list[Unit]:
    """Units of one run, in order. `sizes`: target and maximum of a chunk."""
    units: list[Unit] = []
    for table_no, part in groupby(run, key=lambda e: e.table_no if e.kind == "table_row" else None):
        elements = list(part)
        if table_no is not None:
            units += _table_units(elements, sizes[1], settings.table_rows)
        else:
            for element in elements:
                units += _element_units(extract, element, sizes[1], settings.whole_line_chars)
    return units


def _table_units(rows: Sequence[ElementDraft], maximum: int, most_rows: int) -> Iterator[Unit]:
    """A table that fits is one unit; else blocks of whole rows, each a chunk of its own."""
    size = rows[-1].span_end - rows[0].span_start
    body = sum(1 for row in rows if "table_header" not in row.flags)
    if size <= maximum and body <= most_rows:
        yield _rows_unit(rows, is_closed=False)
        return
    block: list[ElementDraft] = []
    for row in rows:
        count = sum(1 for held in block if "table_header" not in held.flags)
        if block and (count >= most_rows or row.span_end - block[0].span_start > maximum):
            yield _rows_unit(block, is_closed=True)
            block = []
        block.append(row)
    yield _rows_unit(block, is_closed=True)


def _rows_unit(rows: Sequence[ElementDraft], *, is_closed: bool) -> Unit:
    return Unit(rows[0].span_start, rows[-1].span_end, "\n".join(row.search_text for row in rows), tuple(rows), is_closed)


def _element_units(extract: Extract, element: ElementDraft, maximum: int, whole_line_chars: int) -> Iterator[Unit]:
    start, end = element.span_start, element.span_end
    if end - start <= maximum:
        yield Unit(start, end, element.search_text, (element,))
        return
    ends = _BLANK_LINE if element.kind == "code" and _BLANK_LINE.search(element.text) else _SENTENCE_END
    for piece_start, piece_end in _pieces(element.text, ends, whole_line_chars):
        search_text = _plain(extract.media_type, element.kind, element.text[piece_start:piece_end])
        yield Unit(start + piece_start, start + piece_end, search_text, (element,))


def _pieces(text: str, ends: re.Pattern[str], cap: int) -> Iterator[tuple[int, int]]:
    """Spans between the ends, white space around them left to the gap."""
    at = 0
    for stop in [*(match.end() for match in ends.finditer(text)), len(text)]:
        piece_start, piece_end = _trim(text, at, stop)
        at = stop
        while piece_end - piece_start > cap:
            cut = grapheme_cut(text, piece_start, piece_start + cap)
            yield piece_start, cut
            piece_start = cut
        if piece_end > piece_start:
            yield piece_start, piece_end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start] in "\r\n":
        start += 1
    return start, end


def grapheme_cut(text: str, start: int, at: int) -> int:
    """The last place in (start, at] where no grapheme is cut in two."""
    cut = at
    while cut > start + 1 and cut < len(text) and _sticks(text[cut - 1], text[cut]):
        cut -= 1
    return cut if cut > start + 1 else at


def _sticks(before: str, after: str) -> bool:
    if before == "\r" and after == "\n":
        return True
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    is_modifier = "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f"
    are_flags = all("\U0001f1e6" <= char <= "\U0001f1ff" for char in (before, after))
    is_jamo = "\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\ud7af"
    return is_modifier or are_flags or is_jamo


def _plain(media_type: str, kind: str, part: str) -> str:
    if media_type == "text/markdown" and kind != "code":
        from documents.parsing.markdown_inline import plain_source

        return plain_source(part, {})
    return to_search_text(part)
