"""Records written as lines: `Subject: …` with fields below it, `thing · field: value`, `field: value` under a heading, definition lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from documents.fact_types import Statement, key_set, normalize_key
from documents.locators import line_range
from documents.parsing.invisible import strip_invisible
from documents.parsing.lines import logical_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from documents.fact_types import FactMapping
    from documents.parsing.contract import ElementDraft, Extract

_FIELD = re.compile(r"\s*(?P<field>[^:：]{1,60}?)\s*[:：]\s*(?P<value>\S.*?)\s*")
_DOTS = re.compile(r"\s*[·・•∙]\s*")
_CHINESE_STOPS = re.compile(r"(?<=[。；])\s*(?=\S)")
_FIRST_LINE = re.compile(r"L(\d+)")
_LINE = re.compile(r"[^\n]+")
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_NOT_A_NAME = re.compile(r"https?|www\.|[@/\\?!。！？；;,，、\"“”<>{}=]|\.\s|\.$|\d$", re.IGNORECASE)
_SENTENCE_WORD = re.compile(
    r"\b(?:is|are|was|were|will|must|should|can|has|have|do|does|the following|as follows|such as|that|which|you|we|they|it|this|these|if|when)\b",
    re.IGNORECASE,
)
_MAX_WORDS, _MAX_HAN = 6, 12
_MAX_SUBJECT_WORDS, _MAX_SUBJECT_HAN = 8, 20
_MAX_VALUE_CHARS = 400
_MARKUP = re.compile(r"[*_`\[\]<\\&~|]|^\s*(?:[-+>:]|\d{1,9}[.)])\s")
_LIST_MARK = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,9}[.)]|\([0-9a-z]\))\s+)+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands."""

    element: ElementDraft
    start: int
    end: int
    locator: str


class LineReader:
    """Reads elements in order; remembers the open record, the open definition term and the heading."""

    def __init__(self, extract: Extract, mapping: FactMapping) -> None:
        self._extract = extract
        self._has_lines = extract.media_type in {"text/markdown", "text/plain"}
        self._is_markdown = extract.media_type == "text/markdown"
        self._subject_keys = key_set(mapping.subject_fields)
        self._generic_keys = key_set(mapping.generic_labels)
        self._record = ""
        self._term = ""
        self._path: tuple[str, ...] = ()
        self.group = 0  # changes with each heading

    def read(self, element: ElementDraft) -> Iterator[Statement]:
        """The statements of one element that is no table row."""
        if element.kind == "heading" or element.heading_path != self._path:
            self._record, self._term, self._path = "", "", element.heading_path
            self.group += 1
        if element.kind == "heading" or "blockquote" in element.flags:
            return
        if "definition_term" in element.flags:
            self._term = self._plain(element.text)
        elif "definition" in element.flags:
            yield from self._read_definition(element)
        else:
            yield from self._read_lines(element)

    def subject_of(self, element: ElementDraft) -> str:
        """The nearest heading that names a thing."""
        return next((name for name in reversed(element.heading_path) if normalize_key(name) not in self._generic_keys), "")

    def _read_definition(self, element: ElementDraft) -> Iterator[Statement]:
        text = self._plain(element.text)
        if not self._term or len(text) > _MAX_VALUE_CHARS:
            return
        place = Place(element, element.span_start, element.span_end, element.locator)
        if pair := split_field(text):
            yield self._state(self._term, pair, place, "definition")
        elif is_name(self._term):
            yield self._state(self.subject_of(element), (self._term, trim_value(text)), place, "definition")

    def _read_lines(self, element: ElementDraft) -> Iterator[Statement]:
        if ":" not in element.text and "：" not in element.text:
            self._record = ""
            return
        has_field, line_no, counted = False, 0, 0
        for start, end in self._lines_of(element):
            line_no += element.text.count("\n", counted, start)
            counted = start
            line = element.text[start:end]
            if ":" not in line and "：" not in line:
                continue
            place = self._place_of(element, start, end, line_no)
            for statement in self._read_line(self._plain(line), place):
                has_field = True
                if statement is not None:
                    yield statement
        if not has_field:
            self._record = ""

    def _lines_of(self, element: ElementDraft) -> Iterator[tuple[int, int]]:
        """Where line breaks are only layout, a wrapped sentence is one line."""
        return logical_lines(element.text) if self._has_lines else (match.span() for match in _LINE.finditer(element.text))

    def _place_of(self, element: ElementDraft, start: int, end: int, line_no: int) -> Place:
        """Span and locator of a part of an element; lines are known where the canonical text is the source."""
        while start < end and element.text[start].isspace():
            start += 1
        while end > start and element.text[end - 1].isspace():
            end -= 1
        first = _FIRST_LINE.match(element.locator) if self._has_lines else None
        locator = element.locator
        if first:
            line = int(first[1]) + line_no
            locator = line_range(line, line + element.text.count("\n", start, end))
        return Place(element, element.span_start + start, element.span_start + end, locator)

    def _plain(self, line: str) -> str:
        if self._is_markdown and _MARKUP.search(line):
            from documents.parsing.markdown_inline import read_source

            return _LIST_MARK.sub("", read_source(line, {}))
        return _LIST_MARK.sub("", " ".join(strip_invisible(line).split()))

    def _read_line(self, line: str, place: Place) -> Iterator[Statement | None]:
        """Statements of one line; None for a line that opens a record."""
        parts = _DOTS.split(line)
        if len(parts) > 1:
            pairs = [split_field(part) for part in parts[1:]]
            if split_field(parts[0]) is None and is_subject(parts[0]) and all(pairs):
                for pair in pairs:
                    if pair:
                        yield self._state(parts[0].strip(), pair, place, "inline")
            return
        yield from self._read_fields(line, place)

    def _read_fields(self, line: str, place: Place) -> Iterator[Statement | None]:
        pieces = [split_field(piece) for piece in _CHINESE_STOPS.split(line)]
        for pair in pieces if all(pieces) else [split_field(line)]:
            if pair is None:
                continue
            if normalize_key(pair[0]) in self._subject_keys:
                self._record = pair[1]
                yield None
            elif self._record:
                yield self._state(self._record, pair, place, "record_lines")
            else:
                yield self._state(self.subject_of(place.element), pair, place, "heading_field")

    def _state(self, subject: str, pair: tuple[str, str], place: Place, origin: str) -> Statement:
        return Statement(subject, *pair, place.start, place.end, place.element, place.locator, origin, group=self.group)


def split_field(text: str) -> tuple[str, str] | None:
    """(field, value) of `field: value`, or None when the part before the colon is no short name."""
    match = _FIELD.fullmatch(text)
    if match is None or len(match["value"]) > _MAX_VALUE_CHARS or match["value"].startswith("//"):
        return None
    value = trim_value(match["value"])
    is_finished = value and not value.endswith((",", "，", "、"))
    return (match["field"], value) if is_finished and is_name(match["field"]) else None


def trim_value(value: str) -> str:
    """The value without the stop that ends its sentence."""
    value = value.strip()
    if value.endswith((";", "；", "。")):
        return value[:-1].rstrip()
    return value[:-1] if value.endswith(".") and value.count(".") == 1 else value


def is_name(text: str) -> bool:
    """Whether a label is short and no sentence, time, address or link."""
    return _is_short(text, _MAX_WORDS, _MAX_HAN) and not _SENTENCE_WORD.search(text)


def is_subject(text: str) -> bool:
    return _is_short(text, _MAX_SUBJECT_WORDS, _MAX_SUBJECT_HAN)


def _is_short(text: str, words: int, han: int) -> bool:
    plain = text.strip()
    if not any(char.isalpha() for char in plain) or _NOT_A_NAME.search(plain):
        return False
    return len(_HAN.findall(plain)) <= han and len(plain.split()) <= words
