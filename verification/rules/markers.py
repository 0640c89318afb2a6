"""Citation markers `[n]` (n from 1): read, cleaned and streamed. Code keeps its brackets; a marker out of range never comes out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Longest marker that is read; a longer bracket is text. Bounds what a stream holds back.
MAX_MARKER_CHARS = 40
_OPEN, _CLOSE = "[［【", "]］】"
# Up to three digits: 国发[2024]5号 is text
_MARKER = re.compile(rf"[\{_OPEN}] ?\d{{1,3}}(?: ?[,，、;；\-–—~～] ?\d{{1,3}})* ?[\{_CLOSE}]")
_MARKER_START = re.compile(rf"[\{_OPEN}][\d ,，、;；\-–—~～]*")
_PARTS = re.compile(r"(\d{1,3})(?: ?[\-–—~～] ?(\d{1,3}))?")
_FENCE_START = re.compile(r" {0,3}(?:`{0,2}|~{0,2})$")
_FENCE = re.compile(r" {0,3}(?P<run>`{3,}(?=[^`\n]*(?:\n|$))|~{3,})[^\n]*")
_HELD = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer. kind: text, code or marker; `numbers` are those of a marker that are in range, in order, once each."""

    kind: str
    text: str
    numbers: tuple[int, ...] = ()


def read_numbers(marker: str, evidence_count: int) -> tuple[int, ...]:
    """The numbers of one marker that stand for evidence; 0 and anything above the count are left out."""
    numbers: dict[int, None] = {}
    for found in _PARTS.finditer(marker):
        first, last = int(found[1]), int(found[2] or found[1])
        numbers |= dict.fromkeys(range(max(first, 1), min(last, evidence_count) + 1))
    return tuple(numbers)


@dataclass(slots=True)
class Scanner:
    """Cuts a text that comes in chunks into pieces; what the pieces are does not depend on where the chunks end."""

    evidence_count: int
    _buffer: str = ""
    _fence: str = ""
    _line_start: bool = True
    _before: str = ""  # the last character that is no space
    _array_depth: int = 0  # open brackets of a literal such as `rows = [[1, 2], [3]]`, up to the end of the line
    _pieces: list[Piece] = field(default_factory=list)

    def feed(self, chunk: str) -> list[Piece]:
        """Pieces that are certain after this chunk."""
        self._buffer += chunk
        return self._drain(final=False)

    def finish(self) -> list[Piece]:
        """The rest, once no more text comes."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> list[Piece]:
        self._pieces = []
        place = 0
        while place < len(self._buffer):
            step = self._step(place, final=final)
            if step == _HELD:
                break
            place = step
        self._buffer = self._buffer[place:]
        return self._pieces

    def _step(self, place: int, *, final: bool) -> int:
        """Take one piece at `place` and return where it ends, or _HELD when more text could change it."""
        if self._fence:
            return self._take_fence_line(place, final=final)
        if self._line_start:
            step = self._open_fence(place, final=final)
            if step is not None:
                return step
        char = self._buffer[place]
        if char == "`":
            return self._take_code(place, final=final)
        if char == " " or char in _OPEN:
            return self._take_marker(place, final=final)
        return self._take_text(place)

    def _emit(self, kind: str, start: int, end: int, numbers: tuple[int, ...] = ()) -> int:
        text = self._buffer[start:end]
        self._pieces.append(Piece(kind, text, numbers))
        self._line_start = text.endswith("\n")
        self._before = (text.rstrip(" ") or self._before)[-1:]
        if self._array_depth:
            self._array_depth = 0 if self._line_start else max(0, self._array_depth + text.count("[") - text.count("]"))
        return end

    def _take_text(self, place: int) -> int:
        end = place + 1
        while end < len(self._buffer) and self._buffer[end - 1] != "\n" and self._buffer[end] not in f" `{_OPEN}":
            end += 1
        return self._emit("text", place, end)

    def _open_fence(self, place: int, *, final: bool) -> int | None:
        rest_end = self._buffer.find("\n", place)
        rest = self._buffer[place : rest_end if rest_end >= 0 else None]
        if rest_end < 0 and not final and (_FENCE_START.match(rest) or _FENCE.match(rest)):
            return _HELD
        found = _FENCE.match(rest)
        if found is None:
            return None
        self._fence = found["run"]
        return self._emit("code", place, rest_end + 1 if rest_end >= 0 else len(self._buffer))

    def _take_fence_line(self, place: int, *, final: bool) -> int:
        line_end = self._buffer.find("\n", place) + 1
        if not line_end and not final:
            return _HELD
        line_end = line_end or len(self._buffer)
        line = self._buffer[place:line_end].strip()
        if len(line) >= len(self._fence) and set(line) == {self._fence[0]}:
            self._fence = ""
        return self._emit("code", place, line_end)

    def _take_code(self, place: int, *, final: bool) -> int:
        """A code span ends on its line by a run of as many backticks; without that the backticks are text."""
        run_end = place
        while run_end < len(self._buffer) and self._buffer[run_end] == "`":
            run_end += 1
        run = self._buffer[place:run_end]
        line_end = self._buffer.find("\n", run_end)
        line = self._buffer[run_end : line_end if line_end >= 0 else None]
        found = re.search(rf"(?<!`){run}(?!`)", line)
        at_edge = line_end < 0 and not final
        if found and not (at_edge and found.end() == len(line)):
            return self._emit("code", place, run_end + found.end())
        return _HELD if at_edge else self._emit("text", place, run_end)

    def _take_marker(self, place: int, *, final: bool) -> int:
        """A marker with the one space before it, which goes where the marker goes."""
        start = place + (self._buffer[place] == " ")
        window = self._buffer[start : start + MAX_MARKER_CHARS]
        if not window or (window[0] not in _OPEN):
            return _HELD if not window and not final else self._emit("text", place, start)
        found = _MARKER.match(window)
        if self._before == "=" and window[0] == "[" and not self._array_depth:
            self._emit("text", place, start + 1)
            self._array_depth = 1
            return start + 1
        if found and not self._array_depth:
            return self._emit("marker", place, start + found.end(), read_numbers(found[0], self.evidence_count))
        partial = _MARKER_START.match(window)
        if not found and not final and partial and partial.end() == len(window) < MAX_MARKER_CHARS:
            return _HELD
        return self._emit("text", place, start + 1)


def scan_markers(text: str, evidence_count: int) -> list[Piece]:
    """All pieces of a whole text."""
    scanner = Scanner(evidence_count)
    return scanner.feed(text) + scanner.finish()


def render_piece(piece: Piece) -> str:
    """What is shown of a piece: a marker in plain form `[1][3]`, without the numbers that stand for nothing."""
    if piece.kind != "marker":
        return piece.text
    lead = " " if piece.text.startswith(" ") and piece.numbers else ""
    return lead + "".join(f"[{number}]" for number in piece.numbers)


def clean_markers(text: str, evidence_count: int) -> str:
    """The text with every marker in plain form and none out of range."""
    return "".join(render_piece(piece) for piece in scan_markers(text, evidence_count))


def strip_markers(text: str) -> str:
    """The text without any marker; code stays as it is."""
    return "".join(piece.text for piece in scan_markers(text, 0) if piece.kind != "marker")


def cited_numbers(text: str, evidence_count: int) -> tuple[int, ...]:
    """Evidence numbers that the text cites, in order of first use."""
    return tuple(dict.fromkeys(number for piece in scan_markers(text, evidence_count) for number in piece.numbers))


def neutralize_markers(text: str) -> str:
    """Evidence text that is quoted in an answer or a prompt: its own `[3]` becomes 〔3〕, of equal length, so that it cites nothing."""
    return _MARKER.sub(lambda found: f"〔{found[0][1:-1]}〕", text)


@dataclass(slots=True)
class MarkerFilter:
    """`clean_markers` for a stream: the joined output is that of the whole text, however it was cut."""

    evidence_count: int
    _scanner: Scanner = field(init=False)

    def __post_init__(self) -> None:
        self._scanner = Scanner(self.evidence_count)

    def feed(self, chunk: str) -> str:
        return "".join(render_piece(piece) for piece in self._scanner.feed(chunk))

    def finish(self) -> str:
        return "".join(render_piece(piece) for piece in self._scanner.finish())
