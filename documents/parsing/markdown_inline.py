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
    r"<(?P<name>[a-zA-Z][\w-]*)\b(?=[^>]*(?:\shidden(?=[\s=>/])|style\s*=\s*[\"'][^\"'>]*"
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9]))))[^>]*>",
    re.IGNORECASE,
)

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
    holes, code = [], []
    for match in _UNSEEN.finditer(source):
        if match["code"]:
            code.append(match.span())
        else:
            kind, flag = ("comment", "comments") if match["comment"] else ("raw", "script")
            holes.append(Hole(offset + match.start(), offset + match.end(), kind, flag))
    for match in HIDDEN_OPEN.finditer(source):
        end = closing_tag(source, match["name"], match.end())
        if end and not any(start <= match.start() < stop for start, stop in code):
            holes.append(Hole(offset + match.start(), offset + end, "raw", "hidden_text"))
    return tuple(holes)


def closing_tag(source: str, name: str, at: int) -> int:
    """Offset behind the tag that closes the `name` tag opened before `at`, or 0."""
    depth = 1
    for match in _tags(name).finditer(source, at):
        depth += -1 if match[1] else 1
        if depth == 0:
            return match.end()
    return 0


def open_depth(source: str, name: str, at: int) -> int:
    """Opening less closing `name` tags behind `at`."""
    return sum(-1 if match[1] else 1 for match in _tags(name).finditer(source, at))


@lru_cache(maxsize=64)
def _tags(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}\b[^>]*>", re.IGNORECASE)
