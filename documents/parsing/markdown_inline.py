"""Markdown inside a block: how it reads as plain text, and which parts of it a reader does not see."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from documents.parsing.drafts import Hole
from documents.parsing.invisible import strip_invisible, to_search_text

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from markdown_it.token import Token

_MARKUP = re.compile(r"[*_`\[\]<\\&~]|!\[")
_LINE_PREFIX = re.compile(r"^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)]|:)[ \t]+|>)*", re.MULTILINE)
_BREAK_TAG = re.compile(r"<(?:br|/?p|/?div|/?li|/?t[dhr]|hr)\b", re.IGNORECASE)
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<[/!?a-zA-Z][^>]*>", re.DOTALL)
_UNSEEN = re.compile(
    r"(?P<code>(?P<ticks>`+)(?:.*?[^`])?(?P=ticks)(?!`))|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<dropped><(?P<name>script|style|template|noscript)\b.*?(?:</(?P=name)\s*>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
HIDDEN_OPEN = re.compile(
    r"<(?P<name>[a-zA-Z][\w-]*)\b(?=[^<>]{0,2000}?(?:\shidden(?=[\s=>/])|style\s*=\s*[\"'][^\"'<>]{0,1000}?"
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9]))))[^<>]*>",
    re.IGNORECASE,
)

_NAME = re.compile(r"<([a-zA-Z][\w-]*)")

_INLINE = MarkdownIt("commonmark").enable("strikethrough")


def plain_inline(content: str, env: MutableMapping[str, Any]) -> str:
    """`content` of one block as search text: marks, link targets and tags are gone, code and alternative text stay."""
    return to_search_text(read_inline(content, env))


def read_inline(content: str, env: MutableMapping[str, Any]) -> str:
    """The same with the glyphs of the source, on one line: for labels and values that are shown."""
    if _MARKUP.search(content):
        tokens = _INLINE.parseInline(content, env)
        content = "".join(_read(token) for token in tokens[0].children or ())
    return " ".join(strip_invisible(content).split())


def read_source(source: str, env: MutableMapping[str, Any]) -> str:
    """read_inline for source lines that still have their quote and list marks."""
    return read_inline(_LINE_PREFIX.sub("", source), env)


def _read(token: Token) -> str:
    if token.type in {"text", "code_inline", "text_special"}:
        return token.content
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    if token.type == "image":
        return "".join(_read(child) for child in token.children or ())
    if token.type == "html_inline" and _BREAK_TAG.match(token.content):
        return " "
    return ""


def plain_source(source: str, env: MutableMapping[str, Any]) -> str:
    """The same for source lines that still have their quote and list marks."""
    return plain_inline(_LINE_PREFIX.sub("", source), env)


def plain_html(source: str) -> str:
    """Visible text of an HTML block inside Markdown."""
    return to_search_text(_TAG.sub(" ", source))


def find_holes(source: str, offset: int) -> tuple[Hole, ...]:
    """Comments, scripts and closed hidden tags in `source`, which stands at `offset` of the canonical text. Code is seen."""
    if "<" not in source:
        return ()
    holes: list[Hole] = []
    code: list[tuple[int, int]] = []
    for match in _UNSEEN.finditer(source):
        if match["code"]:
            code.append(match.span())
        else:
            kind, flag = ("comment", "comments") if match["comment"] else ("raw", "script")
            holes.append(Hole(offset + match.start(), offset + match.end(), kind, flag))
    for start, end in hidden_tags(source):
        if end and not any(first <= start < stop for first, stop in code):
            holes.append(Hole(offset + start, offset + end, "raw", "hidden_text"))
    return tuple(holes)


def hidden_tags(source: str) -> list[tuple[int, int]]:
    """(start, end) of each hidden tag with all in it, the outermost only; end is 0 when `source` does not close it."""
    ends: dict[str, dict[int, int]] = {}
    found: list[tuple[int, int]] = []
    covered = 0
    for match in HIDDEN_OPEN.finditer(source):
        if match.start() < covered:
            continue
        name = match["name"].lower()
        if name not in ends:
            ends[name] = _closed_tags(source, name)
        covered = ends[name].get(match.start(), 0)
        found.append((match.start(), covered))
    return found


def _closed_tags(source: str, name: str) -> dict[int, int]:
    """Start of each opening tag that is closed -> end of its closing tag."""
    waiting: list[int] = []
    closed = {}
    for match in _tags(name).finditer(source):
        if not match[1]:
            waiting.append(match.start())
        elif waiting:
            closed[waiting.pop()] = match.end()
    return closed


def open_depth(source: str, name: str, at: int) -> int:
    """Opening less closing `name` tags from `at` on."""
    return sum(-1 if match[1] else 1 for match in _tags(name).finditer(source, at))


def tag_name(source: str, at: int) -> str:
    """Name of the tag that opens at `at`."""
    match = _NAME.match(source, at)
    return match[1] if match else ""


@lru_cache(maxsize=64)
def _tags(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}\b[^<>]*>", re.IGNORECASE)
