"""HTML: the visible text as canonical text (blocks on lines, cells parted by tabs), located by source lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from documents.parsing.contract import Parsed, ParseLimits, ParseRefused
from documents.parsing.decoding import Decoded, check_lines, decode_text
from documents.parsing.html_walk import HtmlWalk

if TYPE_CHECKING:
    from lxml.etree import _Element

MEDIA_TYPE = "text/html"
PARSER = "html"
VERSION = "1"

_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_HEAD_BYTES = 4_096
_MAX_LINES = 65_534  # the library counts lines in 16 bits
# What pages call gb2312 or gbk has GB18030 characters in it, and latin-1 is read as Windows-1252 by every browser.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin1": "cp1252", "ascii": "cp1252", "us-ascii": "cp1252"}
_TOO_DEEP = "The page nests its tags more than {} levels deep. Save it in a simpler form and add it again."


def parse(data: bytes, limits: ParseLimits) -> Parsed:
    """Blocks, table rows, alternative texts; what a reader does not see becomes hidden elements."""
    decoded = decode_html(data)
    check_lines(decoded.text, limits.max_line_chars)
    if decoded.text.count("\n") > _MAX_LINES:
        raise ParseRefused("too_large", f"The page has more than {_MAX_LINES} lines. Split it and add the parts.")
    root = _parse_tree(decoded.text, limits)
    if root is None:
        return Parsed("", decoded.encoding, (), decoded.flags, decoded.review_codes)
    _check_depth(root, limits.html_depth)
    walk = HtmlWalk(root, limits)
    text, elements = walk.run()
    return Parsed(text, decoded.encoding, elements, decoded.flags | walk.flags, decoded.review_codes | walk.review_codes)


def decode_html(data: bytes) -> Decoded:
    """The page says its encoding itself, unless a byte order mark does."""
    declared = _META.search(data[:_HEAD_BYTES])
    name = declared[1].decode("ascii").lower() if declared else ""
    return decode_text(data, _WIDER.get(name, name))


def _parse_tree(text: str, limits: ParseLimits) -> _Element | None:
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_pis=True)
    source = _DECLARATION.sub("", text).encode()
    if not source.strip():
        return None
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError:
        root = None
    if any("Excessive depth" in entry.message for entry in parser.error_log):
        raise ParseRefused("too_deep", _TOO_DEEP.format(limits.html_depth))
    return root


def _check_depth(root: _Element, limit: int) -> None:
    depth = 0
    for event, _element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > limit:
            raise ParseRefused("too_deep", _TOO_DEEP.format(limit))
