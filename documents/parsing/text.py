"""Plain text: lines, joined where an editor wrapped them. No heading is guessed."""

from __future__ import annotations

from documents.parsing.contract import Parsed, ParseLimits
from documents.parsing.decoding import check_lines, decode_text
from documents.parsing.drafts import DraftWriter
from documents.parsing.lines import logical_lines

MEDIA_TYPE = "text/plain"
PARSER = "text"
VERSION = "1"


def parse(data: bytes, limits: ParseLimits) -> Parsed:
    """A line is an element; lines that an editor wrapped in the middle of a sentence stay together."""
    decoded = decode_text(data)
    check_lines(decoded.text, limits.max_line_chars)
    writer = DraftWriter(decoded.text, limits)
    for start, end in logical_lines(decoded.text):
        writer.add_block("paragraph", start, end)
    return Parsed(decoded.text, decoded.encoding, tuple(writer.elements), decoded.flags | writer.flags, decoded.review_codes | writer.review_codes)
