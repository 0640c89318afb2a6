"""Markdown: blocks from markdown-it with their exact source lines; the canonical text is the source itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from documents.locators import Locator, Name, print_locator
from documents.parsing.contract import COLUMN_SEPARATOR, Parsed, ParseLimits
from documents.parsing.decoding import check_lines, decode_text
from documents.parsing.drafts import DraftWriter, Reading, Traits
from documents.parsing.invisible import to_search_text
from documents.parsing.markdown_inline import find_holes, hidden_tags, open_depth, plain_html, plain_inline, plain_source, read_inline, tag_name
from documents.parsing.tables import number_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

MEDIA_TYPE = "text/markdown"
PARSER = "markdown"
VERSION = "1"

_LONE_CR = re.compile(r"\r(?!\n)")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:")
_TABLE_RULE = re.compile(r"[\s>|:-]*")
_WORD = re.compile(r"\w")
_CONTAINERS = frozenset({"list_item", "blockquote", "dt", "dd", "thead"})


@dataclass(slots=True)
class _Row:
    line: int
    is_header: bool
    cells: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    """State of one pass over the tokens."""

    writer: DraftWriter
    env: dict[str, Any]
    unrendered: set[int]  # 0-based lines of link definitions
    opener: Token
    open: list[str] = field(default_factory=list)  # containers around the token
    items: list[int | None] = field(default_factory=list)  # seq of the first element of each open list item
    headings: list[tuple[int, str]] = field(default_factory=list)
    table_no: int = 0
    rows: list[_Row] = field(default_factory=list)
    hidden_tag: str = ""  # an HTML block opened a hidden tag and has not closed it yet
    hidden_depth: int = 0
    line: int = 0  # 0-based: lines before this one are covered


def parse(data: bytes, limits: ParseLimits) -> Parsed:
    """One element a block, table row or list item paragraph; source lines that render to nothing are kept hidden."""
    decoded = decode_text(data)
    check_lines(decoded.text, limits.max_line_chars)
    writer = DraftWriter(decoded.text, limits)
    env: dict[str, Any] = {}
    # A lone CR ends no line here, but would in the library: a space in its place keeps lines and offsets.
    tokens = _block_parser(limits.markdown_depth).parse(_LONE_CR.sub(" ", decoded.text), env)
    walk = _Walk(writer, env, _definition_lines(env), Token("", "", 0))
    for token in tokens:
        _step(walk, token)
    _keep_unrendered(walk, len(writer.lines))
    flags, codes = decoded.flags | writer.flags, decoded.review_codes | writer.review_codes
    return Parsed(decoded.text, decoded.encoding, tuple(writer.elements), flags, codes)


@cache
def _block_parser(depth: int) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": depth}).enable("table").use(front_matter_plugin).use(deflist_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])  # inline text is read where it is needed
    return parser


def _definition_lines(env: dict[str, Any]) -> set[int]:
    known = [*env.get("references", {}).values(), *env.get("duplicate_refs", ())]
    return {line for reference in known for line in range(*reference["map"])}


def _step(walk: _Walk, token: Token) -> None:
    name = token.type.removesuffix("_open").removesuffix("_close")
    if token.type == "table_close":
        _add_table(walk)
    elif token.type == "tr_open" and token.map:
        walk.rows.append(_Row(token.map[0], "thead" in walk.open))
    elif token.type == "inline":
        _add_inline(walk, token)
    elif token.type in {"fence", "code_block", "html_block", "front_matter"}:
        _add_leaf(walk, token, token)
    elif name in _CONTAINERS:
        _enter_or_leave(walk, name, token)
    if token.nesting > 0:
        walk.opener = token


def _enter_or_leave(walk: _Walk, name: str, token: Token) -> None:
    if token.nesting > 0:
        walk.open.append(name)
    else:
        walk.open.pop()
    if name == "list_item":
        if token.nesting > 0:
            walk.items.append(None)
        else:
            walk.items.pop()


def _add_inline(walk: _Walk, token: Token) -> None:
    if walk.opener.type in {"th_open", "td_open"}:
        walk.rows[-1].cells.append(token.content)
    else:
        _add_leaf(walk, walk.opener, token)


def _add_leaf(walk: _Walk, block: Token, token: Token) -> None:
    start, end = _claim_lines(walk, block.map or [walk.line, walk.line])
    if token.type == "front_matter":
        walk.writer.add("raw", start, end, "", Traits(hidden=True, flags=("front_matter",)))
    elif walk.hidden_tag:
        _add_hidden_leaf(walk, start, end)
    elif block.type == "heading_open" and not walk.open:
        _add_heading(walk, int(block.tag[1]), token.content, (start, end))
    else:
        _add_body(walk, block, token, (start, end))


def _claim_lines(walk: _Walk, span: Sequence[int]) -> tuple[int, int]:
    """Span of whole lines; what was skipped before them is kept first. (The library gives a definition term an empty range.)"""
    first, last = span[0], max(span[1], span[0] + 1)
    _keep_unrendered(walk, first)
    walk.line = max(walk.line, last)
    return walk.writer.lines.start(first + 1), walk.writer.lines.end(last)


def _add_heading(walk: _Walk, level: int, content: str, span: tuple[int, int]) -> None:
    text = plain_inline(content, walk.env)
    walk.headings = [*[item for item in walk.headings if item[0] < level], (level, text)]
    walk.writer.heading_path = tuple(name for _level, name in walk.headings)
    plain = partial(plain_source, env=walk.env)
    walk.writer.add_block("heading", *span, Traits(level=level), Reading(plain, text, find_holes(walk.writer.text[slice(*span)], span[0])))


def _add_body(walk: _Walk, block: Token, token: Token, span: tuple[int, int]) -> None:
    source = walk.writer.text[slice(*span)]
    kind, flags = _kind_of(walk, block, token)
    if kind == "code":
        reading = Reading(search_text=token.content)
    elif token.type == "html_block":
        reading = Reading(plain_html, None, find_holes(source, span[0]))
        if _opens_hidden(walk, source):
            _add_hidden_leaf(walk, *span, is_open=True)
            return
    else:
        reading = Reading(partial(plain_source, env=walk.env), plain_inline(token.content, walk.env), find_holes(source, span[0]))
    seq = walk.writer.add_block(kind, *span, Traits(flags=flags, parent_seq=_parent_of(walk)), reading)
    if walk.items and walk.items[-1] is None:
        walk.items[-1] = seq


def _kind_of(walk: _Walk, block: Token, token: Token) -> tuple[str, tuple[str, ...]]:
    flags = ["blockquote"] if "blockquote" in walk.open else []
    if block.type == "heading_open":
        flags.append("nested_heading")
    if token.type in {"fence", "code_block"}:
        return "code", tuple(flags)
    if token.type == "inline" and _FOOTNOTE.match(token.content):
        return "footnote", tuple(flags)
    if walk.open[-1:] in (["dt"], ["dd"]):
        return "list_item", (*flags, "definition_term" if walk.open[-1] == "dt" else "definition")
    is_first = bool(walk.items) and walk.items[-1] is None and walk.open[-1:] == ["list_item"]
    return "list_item" if is_first else "paragraph", tuple(flags)


def _parent_of(walk: _Walk) -> int | None:
    return next((seq for seq in reversed(walk.items) if seq is not None), None)


def _opens_hidden(walk: _Walk, source: str) -> bool:
    """Whether an HTML block leaves a hidden tag open: all up to its end tag is hidden then."""
    start = next((start for start, end in hidden_tags(source) if not end), None)
    if start is None:
        return False
    walk.hidden_tag = tag_name(source, start)
    walk.hidden_depth = open_depth(source, walk.hidden_tag, start)
    return True


def _add_hidden_leaf(walk: _Walk, start: int, end: int, *, is_open: bool = False) -> None:
    walk.writer.add_hidden("raw", start, end, "hidden_text")
    if not is_open:
        walk.hidden_depth += open_depth(walk.writer.text[start:end], walk.hidden_tag, 0)
    if walk.hidden_depth <= 0:
        walk.hidden_tag = ""


def _add_table(walk: _Walk) -> None:
    rows, walk.rows = walk.rows, []
    walk.table_no += 1
    texts = [[read_inline(cell, walk.env) for cell in row.cells] for row in rows]
    columns = next((texts[i] for i, row in enumerate(rows) if row.is_header), [])
    labels = iter(number_labels([text[0] if text else "" for row, text in zip(rows, texts, strict=True) if not row.is_header]))
    for row, text in zip(rows, texts, strict=True):
        start, end = _claim_lines(walk, (row.line, row.line + 1))
        if walk.hidden_tag:
            _add_hidden_leaf(walk, start, end)
            continue
        name = None if row.is_header else Name(*next(labels))
        locator = Locator(row.line + 1, row.line + 1, table=walk.table_no, row=name)
        traits = Traits(
            locator=print_locator(locator),
            table_no=walk.table_no,
            row_path=name.label if name else "",
            col_path=COLUMN_SEPARATOR.join(columns),
            flags=("table_header",) if row.is_header else (),
            parent_seq=_parent_of(walk),
        )
        source = walk.writer.text[start:end]
        reading = Reading(partial(plain_source, env=walk.env), " | ".join(text), find_holes(source, start))
        walk.writer.add_block("table_row", start, end, traits, reading)


def _keep_unrendered(walk: _Walk, until: int) -> None:
    """Lines before `until` that no block covers: link definitions, footnotes of one word, and what is nested too deep."""
    while walk.line < until:
        line = walk.line
        walk.line += 1
        start, end = walk.writer.lines.start(line + 1), walk.writer.lines.end(line + 1)
        source = walk.writer.text[start:end]
        if not _WORD.search(source) and line not in walk.unrendered:
            continue
        if _FOOTNOTE.match(source.strip()):
            walk.writer.add_block("footnote", start, end, reading=Reading(partial(plain_source, env={})))
        elif line in walk.unrendered:
            walk.writer.add_hidden("raw", start, end, "unrendered")
        elif not _TABLE_RULE.fullmatch(source):
            walk.writer.add("raw", start, end, to_search_text(source), Traits(flags=("too_deep",)))
            walk.writer.review_codes.add("too_deep")
