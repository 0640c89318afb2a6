"""One pass over an HTML tree: collects the text of each block with the source lines it came from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lxml import etree

from documents.locators import Locator, Name, line_range, print_locator
from documents.parsing.contract import COLUMN_SEPARATOR, ElementDraft, ParseLimits, ParseRefused
from documents.parsing.html_hidden import DROPPED, UNSEEN, Colours, StyleRules, inherit_colours, is_unseen
from documents.parsing.html_table import Cell, Row, column_paths, lay_out, read_span
from documents.parsing.invisible import hidden_runs, invisible_flags, needs_review, to_search_text
from documents.parsing.tables import number_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "legend",
        "li",
        "main",
        "menu",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "search",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KINDS = {"li": "list_item", "dt": "list_item", "dd": "list_item", "pre": "code", "figcaption": "caption", "caption": "caption"}
_FLAGS = {"dt": ("definition_term",), "dd": ("definition",)}
_SPACE = re.compile(r"[ \t\r\n\f]+")


_PAGE = Colours()


@dataclass(slots=True)
class _Block:
    """Text collected for the next element."""

    kind: str = "paragraph"
    flags: tuple[str, ...] = ()
    level: int | None = None
    parts: list[str] = field(default_factory=list)
    first_line: int = 0
    last_line: int = 0
    later: list[tuple[str, str, str, int]] = field(default_factory=list)  # (kind, text, flag, line) of what is not seen in it


@dataclass(frozen=True, slots=True)
class _Place:
    """What reaches an element from around it."""

    colours: Colours = _PAGE
    keeps_space: bool = False
    in_blockquote: bool = False


class HtmlWalk:
    """Walks once; `flags` and `review_codes` say afterwards what was met."""

    def __init__(self, root: _Element, limits: ParseLimits) -> None:
        self.flags: set[str] = set()
        self.review_codes: set[str] = set()
        self._root, self._limits = root, limits
        self._rules = StyleRules(sheet.text or "" for sheet in root.iter("style"))
        self._texts: list[str] = []
        self._length = 0
        self._elements: list[ElementDraft] = []
        self._headings: list[tuple[int, str]] = []
        self._items: list[int | None] = []
        self._block = _Block()
        self._line = 1
        self._table_no = 0

    def run(self) -> tuple[str, tuple[ElementDraft, ...]]:
        """The canonical text and its elements."""
        for comment in reversed(list(self._root.itersiblings(preceding=True))):
            self._note_comment(comment)
        self._visit(self._root, _Place())
        self._flush()
        return "".join(self._texts), tuple(self._elements)

    def _visit(self, element: _Element, place: _Place) -> None:
        if not isinstance(element.tag, str):
            self._note_comment(element)
            return
        tag = element.tag
        self._line = _line_of(element, self._line)
        style = self._style_of(element, tag)
        place = replace(place, colours=inherit_colours(style, place.colours)) if style else place
        if tag in DROPPED:
            return
        if tag in UNSEEN or is_unseen(element, tag, style, place.colours):
            self._keep_unseen(element, UNSEEN.get(tag, "hidden_text"))
        elif tag in _BLOCKS:
            self._visit_block(element, tag, place)
        else:
            self._visit_inline(element, tag, place)

    def _style_of(self, element: _Element, tag: str) -> dict[str, str]:
        style = self._rules.style_of(element, tag)
        if colour := element.get("color"):
            style = {"color": colour.lower(), **style}
        if colour := element.get("bgcolor"):
            style = {"background": colour.lower(), **style}
        return style

    def _visit_block(self, element: _Element, tag: str, place: _Place) -> None:
        if tag == "table" and _is_data_table(element):
            self._flush()
            self._visit_table(element, place)
            return
        self._flush()
        if tag == "li":
            self._items.append(None)
        self._block = _Block(_KINDS.get(tag, "heading" if tag in _HEADINGS else "paragraph"), _FLAGS.get(tag, ()), _HEADINGS.get(tag))
        self._visit_children(
            element, replace(place, keeps_space=place.keeps_space or tag == "pre", in_blockquote=place.in_blockquote or tag == "blockquote")
        )
        self._flush(in_blockquote=place.in_blockquote or tag == "blockquote")
        if tag == "li":
            self._items.pop()

    def _visit_inline(self, element: _Element, tag: str, place: _Place) -> None:
        if tag == "br":
            self._block.parts.append("\n")
        elif tag == "title":
            self._flush()
            self._block = _Block("raw", ("title",))
            self._visit_children(element, place)
            self._flush()
            return
        elif tag == "img" and (element.get("alt") or "").strip():
            self._block.later.append(("alt", element.get("alt", ""), "", self._line))
        self._visit_children(element, place)

    def _visit_children(self, element: _Element, place: _Place) -> None:
        self._add_text(element.text, place)
        for child in element:
            self._visit(child, place)
            self._add_text(child.tail, place)

    def _add_text(self, text: str | None, place: _Place) -> None:
        if not text:
            return
        block = self._block
        if text.strip():
            first = self._line + text[: len(text) - len(text.lstrip())].count("\n")
            block.first_line = block.first_line or first
            block.last_line = max(block.first_line, self._line + text.rstrip().count("\n"))
        block.parts.append(text if place.keeps_space else _SPACE.sub(" ", text))
        self._line += text.count("\n")

    def _note_comment(self, element: _Element) -> None:
        text = (element.text or "").strip()
        if isinstance(element, etree._Comment) and text:
            self._block.later.append(("comment", text, "comments", _line_of(element, self._line)))

    def _keep_unseen(self, element: _Element, flag: str) -> None:
        text = " ".join(" ".join(_texts_of(element)).split())
        if text:
            self._block.later.append(("raw", text, flag, self._line))

    def _visit_table(self, table: _Element, place: _Place) -> None:
        self._table_no += 1
        caption = table.find("caption")
        if caption is not None:
            self._visit(caption, place)
        trs = list(_rows_of(table))
        spans: list[tuple[int, int]] = []
        laid: list[tuple[list[Cell], bool]] = []
        later = self._block.later
        for tr, in_head in trs:
            cells, lines = self._read_row(tr, place)
            later += self._block.later
            laid.append((cells, in_head))
            spans.append(lines)
        rows = lay_out(laid)
        self._emit_rows(rows, spans)
        self._block = _Block(later=later)
        self._flush()

    def _read_row(self, tr: _Element, place: _Place) -> tuple[list[Cell], tuple[int, int]]:
        """The cells of one row, and its lines. What is not seen in it is left in the block."""
        self._block = _Block()
        style = self._style_of(tr, "tr")
        self._line = _line_of(tr, self._line)
        if is_unseen(tr, "tr", style, place.colours):
            self._keep_unseen(tr, "hidden_text")
            return [], (self._line, self._line)
        cells: list[Cell] = []
        first = last = self._line
        for td in tr:
            if td.tag not in ("td", "th"):
                continue
            text = self._read_cell(td, replace(place, colours=inherit_colours(style, place.colours)))
            last = max(last, self._block.last_line)
            cells.append(Cell(text, td.tag == "th", read_span(td.get("rowspan")), read_span(td.get("colspan"))))
        return cells, (first, last)

    def _read_cell(self, td: _Element, place: _Place) -> str:
        kept = self._block.parts
        self._block.parts = []
        self._visit_cell(td, place)
        text = " ".join("".join(self._block.parts).split())
        self._block.parts = kept
        return text

    def _visit_cell(self, element: _Element, place: _Place) -> None:
        """Blocks inside a cell are parted by spaces, not by elements."""
        self._line = _line_of(element, self._line)
        style = self._style_of(element, str(element.tag))
        colours = inherit_colours(style, place.colours)
        if element.tag in DROPPED:
            return
        if element.tag in UNSEEN or is_unseen(element, str(element.tag), style, colours):
            self._keep_unseen(element, UNSEEN.get(str(element.tag), "hidden_text"))
            return
        if element.tag == "img" and (element.get("alt") or "").strip():
            self._block.later.append(("alt", element.get("alt", ""), "", self._line))
        self._block.parts.append(" " if element.tag in _BLOCKS or element.tag == "br" else "")
        inner = replace(place, colours=colours)
        self._add_text(element.text, inner)
        for child in element:
            if isinstance(child.tag, str):
                self._visit_cell(child, inner)
            else:
                self._note_comment(child)
            self._add_text(child.tail, inner)
        self._block.parts.append(" " if element.tag in _BLOCKS else "")

    def _emit_rows(self, rows: tuple[Row, ...], spans: list[tuple[int, int]]) -> None:
        paths = column_paths(rows)
        labels = iter(number_labels([row.labels[0] if row.labels else "" for row in rows if not row.is_header]))
        for row, lines in zip(rows, spans, strict=True):
            if row.is_header and not any(row.texts):
                continue
            name = None if row.is_header else Name(*next(labels))
            if not any(row.texts):
                continue
            locator = print_locator(Locator(*lines, table=self._table_no, row=name))
            flags = ("table_header",) if row.is_header else ()
            search_text = to_search_text(" | ".join(row.labels))
            draft = _Draft("table_row", COLUMN_SEPARATOR.join(row.texts), search_text, locator, flags, table_no=self._table_no)
            self._append(replace(draft, row_path=name.label if name else "", col_path=COLUMN_SEPARATOR.join(paths)))

    def _flush(self, *, in_blockquote: bool = False) -> None:
        block, self._block = self._block, _Block()
        text = _tidy("".join(block.parts), keeps_space=block.kind == "code")
        unseen = hidden_runs(text)
        for start, end in reversed(unseen):
            block.later.insert(0, ("raw", text[start:end], "invisible_run", block.first_line))
            text = text[:start] + text[end:]
        if text.strip():
            self._write_block(block, text, ("blockquote",) if in_blockquote else ())
        for kind, hidden_text, flag, line in block.later:
            self._write_unseen(kind, hidden_text, flag, line)

    def _write_block(self, block: _Block, text: str, flags: tuple[str, ...]) -> None:
        search_text = to_search_text(text)
        if block.level:
            self._headings = [*[item for item in self._headings if item[0] < block.level], (block.level, search_text)]
        locator = line_range(block.first_line, block.last_line)
        parent = next((seq for seq in reversed(self._items) if seq is not None), None)
        seq = self._append(_Draft(block.kind, text, search_text, locator, (*flags, *block.flags), level=block.level, parent_seq=parent))
        if self._items and self._items[-1] is None:
            self._items[-1] = seq

    def _write_unseen(self, kind: str, text: str, flag: str, line: int) -> None:
        hidden = kind != "alt"
        if flag:
            self.flags |= invisible_flags(text) if flag == "invisible_run" else {flag}
        if flag == "hidden_text":
            self.review_codes.add("hidden_content")
        self._append(_Draft(kind, text, to_search_text(text), f"L{line or self._line}", (flag,) if flag else (), hidden=hidden))

    def _append(self, draft: _Draft) -> int:
        if len(self._elements) >= self._limits.max_elements:
            raise ParseRefused("too_large", f"The page has more than {self._limits.max_elements} blocks. Split it and add the parts.")
        self.flags |= invisible_flags(draft.text)
        if needs_review(frozenset(self.flags)):
            self.review_codes.add("suspicious_unicode")
        if self._texts:
            self._texts.append("\n")
            self._length += 1
        start, seq = self._length, len(self._elements)
        self._texts.append(draft.text)
        self._length += len(draft.text)
        path = tuple(name for _level, name in self._headings)
        self._elements.append(
            ElementDraft(
                seq, draft.kind, draft.text, draft.search_text, draft.level, path, draft.locator, start, self._length,
                draft.table_no, draft.row_path, draft.col_path, draft.hidden, draft.flags, draft.parent_seq,
            )
        )  # fmt: skip
        return seq


@dataclass(frozen=True, slots=True)
class _Draft:
    """An element that does not know its place in the canonical text yet."""

    kind: str
    text: str
    search_text: str
    locator: str
    flags: tuple[str, ...] = ()
    level: int | None = None
    table_no: int | None = None
    row_path: str = ""
    col_path: str = ""
    hidden: bool = False
    parent_seq: int | None = None


def _line_of(element: _Element, otherwise: int) -> int:
    line = element.sourceline
    return line if isinstance(line, int) else otherwise


def _tidy(text: str, *, keeps_space: bool) -> str:
    if keeps_space:
        return text.strip("\r\n").rstrip().replace("\r\n", "\n")
    return "\n".join(line for line in (" ".join(part.split()) for part in text.split("\n")) if line)


def _texts_of(element: _Element) -> Iterator[str]:
    for node in element.iter():
        if isinstance(node.tag, str) and node.tag not in DROPPED and node.text:
            yield node.text
        if node is not element and node.tail:
            yield node.tail


def _rows_of(table: _Element) -> Iterator[tuple[_Element, bool]]:
    for child in table:
        if child.tag == "tr":
            yield child, False
        elif child.tag in ("thead", "tbody", "tfoot"):
            for tr in child.iterchildren("tr"):
                yield tr, child.tag == "thead"


def _is_data_table(table: _Element) -> bool:
    """A table that holds tables, headings or one column only lays out a page; its cells are read as blocks."""
    if next(table.iter("h1", "h2", "h3", "h4", "h5", "h6"), None) is not None or len(list(table.iter("table"))) > 1:
        return False
    return any(sum(1 for cell in tr if cell.tag in ("td", "th")) > 1 for tr, _in_head in _rows_of(table))
