"""Chunks: contiguous spans below one heading, cut where content says so, with what a reader needs repeated as context."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from zlib import crc32

from documents.chunk_units import Unit, make_units
from documents.parsing.lines import LineIndex
from documents.unsafe import unsafe_reason
from rag4c.kernel.canonical import digest_of, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from documents.parsing.contract import ElementDraft, Extract

PATH_SEPARATOR = " > "
_LINE_TEXT = frozenset({"text/plain", "text/markdown"})  # canonical text is the source, so its lines are the source's lines
_LINES = re.compile(r"L(\d+)(?:-L(\d+))?")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CJK_SHARE = 0.3
_OUTSIDE = frozenset({"raw", "header", "footer"})  # kept, but never evidence
_UNIT_LINE = re.compile(r"单位|币种|金额|\bunits?\b|\bamounts?\b|\bin (?:thousand|million|billion)s?\b|\b(?:USD|CNY|EUR|GBP|RMB)\b", re.IGNORECASE)
_UNIT_LINE_CHARS = 80


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Sizes in code points. Another digest means other chunks: revisions split under another one are split again.

    Args: whole_line_chars: a sentence longer than the maximum stays whole up to this; beyond it is cut between graphemes.
    """

    target_chars: int = 1_000
    max_chars: int = 1_600
    target_chars_cjk: int = 500
    max_chars_cjk: int = 800
    table_rows: int = 20
    whole_line_chars: int = 20_000
    version: str = "1"

    def digest(self) -> str:
        return digest_of(asdict(self))


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """One chunk. `text` is exactly `extract.text[span_start:span_end]`; `context` stands outside the span.

    Args: index_text: what is embedded and indexed (heading path, context, body as plain text).
    """

    ordinal: int
    span_start: int
    span_end: int
    text: str
    locator: str
    heading_path: tuple[str, ...]
    context: str
    index_text: str
    search_text: str
    content_sha256: str
    index_text_sha256: str
    element_seqs: tuple[int, ...]
    unsafe_reason: str = ""
    hidden: bool = False


DEFAULT_SETTINGS = ChunkSettings()


def split(extract: Extract, settings: ChunkSettings = DEFAULT_SETTINGS) -> tuple[ChunkDraft, ...]:
    """The chunks of an extract, in order and disjoint. No chunk holds a heading or hidden text, or crosses either."""
    lines = LineIndex(extract.text) if extract.media_type in _LINE_TEXT else None
    drafts: list[ChunkDraft] = []
    for run in _runs(extract.elements):
        target, maximum = _sizes(run, settings)
        for group in _pack(make_units(extract, run, (target, maximum), settings), target, extract.text):
            drafts.append(_draft(extract, len(drafts), group, _context_of(run, group), lines))
    return tuple(drafts)


def _runs(elements: Sequence[ElementDraft]) -> Iterator[list[ElementDraft]]:
    """Neighbours that may share a chunk. A document of headings alone is made of its headings."""
    body = {"heading"} if any(_is_evidence(e) and e.kind != "heading" for e in elements) else set()
    for is_body, run in groupby(elements, key=lambda e: _is_evidence(e) and e.kind not in body):
        if not is_body:
            continue
        for _path, part in groupby(run, key=lambda e: e.heading_path):
            yield list(part)


def _is_evidence(element: ElementDraft) -> bool:
    return not element.hidden and element.kind not in _OUTSIDE and bool(element.search_text)


def _sizes(run: Sequence[ElementDraft], settings: ChunkSettings) -> tuple[int, int]:
    text = "".join(element.text for element in run)
    letters = sum(1 for char in text if char.isalnum()) if not text.isascii() else 0
    if letters and len(_CJK.findall(text)) >= _CJK_SHARE * letters:
        return settings.target_chars_cjk, settings.max_chars_cjk
    return settings.target_chars, settings.max_chars


def _pack(units: Sequence[Unit], target: int, text: str) -> Iterator[list[Unit]]:
    """Groups of units up to the target. A unit that is closed stands alone."""
    for is_closed, part in groupby(units, key=lambda unit: unit.is_closed):
        if is_closed:
            yield from ([unit] for unit in part)
        else:
            yield from _pack_open(list(part), target, text)


def _pack_open(units: Sequence[Unit], target: int, text: str) -> Iterator[list[Unit]]:
    """Cuts in the second half of the target before the unit with the least checksum: an edit moves only the cuts near it."""
    at = 0
    while at < len(units):
        stop = at + 1
        while stop < len(units) and units[stop].end - units[at].start <= target:
            stop += 1
        if stop < len(units):
            places = [i for i in range(at + 1, stop + 1) if units[i - 1].end - units[at].start >= target // 2] or [stop]
            kept = [i for i in places if text[units[i - 1].end - 1] not in ":："] if len(places) > 1 else places
            stop = min(kept or places, key=lambda i: (crc32(text[units[i].start : units[i].end].encode()), i))
        yield list(units[at:stop])
        at = stop


def _context_of(run: Sequence[ElementDraft], group: Sequence[Unit]) -> str:
    """Unit line, caption and header rows of the tables in the group, as far as they stand outside it."""
    inside = {element.seq for unit in group for element in unit.elements}
    tables = {element.table_no for unit in group for element in unit.elements if element.kind == "table_row"}
    if not tables:
        return ""
    context = []
    for place, element in enumerate(run):
        if element.table_no in tables and "table_header" in element.flags:
            before = run[max(0, place - 2) : place] if "table_header" not in run[place - 1].flags or place == 0 else []
            context += [e for e in before if e.kind == "caption" or _is_unit_line(e)]
            context.append(element)
    return "\n".join(element.search_text for element in context if element.seq not in inside)


def _is_unit_line(element: ElementDraft) -> bool:
    return element.kind == "paragraph" and len(element.text) <= _UNIT_LINE_CHARS and _UNIT_LINE.search(element.text) is not None


def _draft(extract: Extract, ordinal: int, group: Sequence[Unit], context: str, lines: LineIndex | None) -> ChunkDraft:
    start, end = group[0].start, group[-1].end
    elements = list({element.seq: element for unit in group for element in unit.elements}.values())
    text = extract.text[start:end]
    search_text = "\n".join(unit.search_text for unit in group)
    heading_path = elements[0].heading_path
    index_text = "\n".join(part for part in (PATH_SEPARATOR.join(heading_path), context, search_text) if part)
    return ChunkDraft(
        ordinal=ordinal,
        span_start=start,
        span_end=end,
        text=text,
        locator=lines.locate(start, end) if lines else _join_locators(elements),
        heading_path=heading_path,
        context=context,
        index_text=index_text,
        search_text=search_text,
        content_sha256=sha256_hex(text),
        index_text_sha256=sha256_hex(index_text),
        element_seqs=tuple(element.seq for element in elements),
        unsafe_reason=unsafe_reason(index_text) or (unsafe_reason(text) if "<" in text else ""),
    )


def _join_locators(elements: Sequence[ElementDraft]) -> str:
    """Lines from the first element to the last; formats without lines are located by the first element."""
    spans = [_LINES.match(element.locator) for element in elements]
    numbers = [int(line) for span in spans if span for line in span.groups() if line]
    if len(elements) == 1 or not numbers:
        return elements[0].locator
    first, last = min(numbers), max(numbers)
    return f"L{first}" if first == last else f"L{first}-L{last}"
