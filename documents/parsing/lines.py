"""Lines of a canonical text: LF and CRLF each end one line, nothing else does."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\n]*\S[^\n]*")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…\"'”’）)\]|]\s*$")
_RECORD = re.compile(r"[^·・•∙:：\n]{1,80}\s[·・•∙]\s[^:：\n]{1,60}[:：]")  # "thing · field: value" is a line of its own, however long
_WRAPPED_CHARS = 45  # a shorter line was ended by its writer, not wrapped by an editor


class LineIndex:
    """Offsets of the lines of one text. Line numbers are 1-based, offsets are code points."""

    __slots__ = ("_length", "_starts", "_text")

    def __init__(self, text: str) -> None:
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts, self._length, self._text = starts, len(text), text

    def __len__(self) -> int:
        return len(self._starts)

    def start(self, line: int) -> int:
        return self._starts[line - 1]

    def end(self, line: int) -> int:
        """Offset behind the last code point of the line, its ending left out."""
        if line >= len(self._starts):
            return self._length
        end = self._starts[line] - 1
        return end - 1 if end > self._starts[line - 1] and self._text[end - 1] == "\r" else end

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def locate(self, start: int, end: int) -> str:
        """`L3` or `L3-L6` for the half-open span."""
        first, last = self.line_of(start), self.line_of(max(start, end - 1))
        return f"L{first}" if first == last else f"L{first}-L{last}"


def logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the lines of `text`; lines that an editor wrapped in the middle of a sentence are one."""
    start, end = -1, -1
    for match in _LINE.finditer(text):
        if start >= 0 and match.start() == end + 1 and not _RECORD.match(match[0]) and _goes_on(text, end):
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
    return len(line.rstrip()) >= _WRAPPED_CHARS and not _SENTENCE_END.search(line) and not _RECORD.match(line)
