"""Plain text: lines, joined where an editor wrapped them. No heading is guessed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from documents.parsing.contract import Parsed, ParseLimits
from documents.parsing.decoding import check_lines, decode_text
from documents.parsing.drafts import DraftWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

MEDIA_TYPE = "text/plain"
PARSER = "text"
VERSION = "1"

_LINE = re.compile(r"[^\n]*\S[^\n]*")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…\"'”’）)\]|]\s*$")
# A line that is shorter than this was ended by its writer, not wrapped by an editor.
_WRAPPED_CHARS = 45


def parse(data: bytes, limits: ParseLimits) -> Parsed:
    """A line is an element; lines that an editor wrapped in the middle of a sentence stay together."""
    decoded = decode_text(data)
    check_lines(decoded.text, limits.max_line_chars)
    writer = DraftWriter(decoded.text, limits)
    for start, end in _blocks(decoded.text):
        writer.add_block("paragraph", start, end)
    return Parsed(decoded.text, decoded.encoding, tuple(writer.elements), decoded.flags | writer.flags, decoded.review_codes | writer.review_codes)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start, end = -1, -1
    for match in _LINE.finditer(text):
        if start >= 0 and match.start() == end + 1 and _goes_on(text, end):
            end = match.end()
            continue
        if start >= 0:
            yield start, end
        start, end = match.span()
    if start >= 0:
        yield start, end


def _goes_on(text: str, end: int) -> bool:
    """Whether the line that ends at `end` was wrapped inside a sentence."""
    line = text[text.rfind("\n", 0, end) + 1 : end]
    return len(line.rstrip()) >= _WRAPPED_CHARS and not _SENTENCE_END.search(line)
