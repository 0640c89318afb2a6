"""Writes elements over a line-based canonical text: numbers them, locates them, and cuts hidden parts out of visible blocks."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - evaluated by dataclass tools
from dataclasses import dataclass

from documents.parsing.contract import ElementDraft, ParseLimits, ParseRefused
from documents.parsing.invisible import has_invisible, hidden_runs, invisible_flags, needs_review, to_search_text
from documents.parsing.lines import LineIndex


@dataclass(frozen=True, slots=True)
class Traits:
    """What an element has besides its span."""

    level: int | None = None
    locator: str = ""
    table_no: int | None = None
    row_path: str = ""
    col_path: str = ""
    hidden: bool = False
    flags: tuple[str, ...] = ()
    parent_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a visible block that a reader does not see."""

    start: int
    end: int
    kind: str
    flag: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How a block reads. plain: source to search text. search_text: of the whole block, used when it has no holes."""

    plain: Callable[[str], str] = to_search_text
    search_text: str | None = None
    holes: tuple[Hole, ...] = ()


PLAIN = Traits()
AS_IT_IS = Reading()


def _run_flag(first: str) -> str:
    return "tag_chars" if "\U000e0000" <= first <= "\U000e007f" else "invisible_run"


class DraftWriter:
    """Collects the elements of one file, in order of their spans."""

    def __init__(self, text: str, limits: ParseLimits) -> None:
        self.text = text
        self.lines = LineIndex(text)
        self.elements: list[ElementDraft] = []
        self.flags: set[str] = set()
        self.review_codes: set[str] = set()
        self.heading_path: tuple[str, ...] = ()
        self._limits = limits
        self._end = 0
        self._has_invisible = has_invisible(text)
        if self._has_invisible:
            self.flags |= invisible_flags(text)
            if needs_review(frozenset(self.flags)):
                self.review_codes.add("suspicious_unicode")

    def add(self, kind: str, start: int, end: int, search_text: str, traits: Traits = PLAIN) -> int:
        """Adds one element; its span is cut where an earlier element ends. Returns its seq."""
        if len(self.elements) >= self._limits.max_elements:
            raise ParseRefused("too_large", f"The file has more than {self._limits.max_elements} blocks. Split it and add the parts.")
        start, end = self._trim(max(start, self._end), end)
        seq = len(self.elements)
        if start >= end:
            return seq - 1
        self._end = end
        locator = traits.locator or self.lines.locate(start, end)
        self.elements.append(
            ElementDraft(
                seq, kind, self.text[start:end], search_text, traits.level, self.heading_path, locator, start, end,
                traits.table_no, traits.row_path, traits.col_path, traits.hidden, traits.flags, traits.parent_seq,
            )
        )  # fmt: skip
        return seq

    def add_block(self, kind: str, start: int, end: int, traits: Traits = PLAIN, reading: Reading | None = None) -> int:
        """Adds a visible block; its holes and its runs of unseen code points become hidden elements of their own."""
        reading = reading or AS_IT_IS
        cuts = [*reading.holes]
        if self._has_invisible:
            cuts += [Hole(start + a, start + b, "raw", _run_flag(self.text[start + a])) for a, b in hidden_runs(self.text[start:end])]
        if not cuts:
            known = reading.search_text
            return self.add(kind, start, end, reading.plain(self.text[start:end]) if known is None else to_search_text(known), traits)
        at, seq = start, -1
        for hole in sorted(cuts, key=lambda cut: cut.start):
            if hole.start < at:
                continue
            seq = self._add_part(kind, (at, hole.start), traits, reading)
            self.add_hidden(hole.kind, hole.start, hole.end, hole.flag)
            at = hole.end
        return max(seq, self._add_part(kind, (at, end), traits, reading))

    def _add_part(self, kind: str, span: tuple[int, int], traits: Traits, reading: Reading) -> int:
        part = self.text[span[0] : span[1]]
        return self.add(kind, *span, reading.plain(part), traits) if part.strip() else -1

    def add_hidden(self, kind: str, start: int, end: int, flag: str) -> int:
        """Keeps text that a reader does not see; `hidden_text` asks for a review."""
        self.flags.add(flag)
        if flag == "hidden_text":
            self.review_codes.add("hidden_content")
        return self.add(kind, start, end, to_search_text(self.text[start:end]), Traits(hidden=True, flags=(flag,)))

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        """Leading line breaks and trailing white space are separator; indentation belongs to the block."""
        text = self.text
        while end > start and text[end - 1].isspace():
            end -= 1
        while start < end and text[start] in "\r\n":
            start += 1
        return start, end
