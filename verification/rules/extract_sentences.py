"""Sentence spans of plain text and Markdown in English and Chinese, and the clean text of a span."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from verification.rules.lexicon import ABBREVIATIONS

HEADING, ITEM, ROW, RECORD, CODE, PROSE = "heading", "item", "row", "record", "code", "prose"
MAX_SENTENCE_CHARS = 1_200  # a line without any full stop is cut at clause marks beyond this
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•·–]|\d{1,3}[.)、]|[（(]\d{1,2}[）)]|[a-zA-Z][.)](?=\s))\s+(?=\S)")
_ROW = re.compile(r"\s*\|.*\|\s*$|[^|\n]+(?:\s\|\s[^|\n]*)+$|[^\t\n]+(?:\t[^\t\n]*)+$")
# "Subject · Field: value" or a short "Field: value" says something by itself; it is no part of the lines around it.
_RECORD = re.compile(
    r"[^·:：。.!?！？]+ · [^:：。!?！？]{1,60}[:：]\s*\S.*$"
    r"|(?=.{1,60}$)[^\s,，。.!?！？:：][^,，。.!?！？:：]{0,29}(?::\s+|：\s*)(?:(?!\.\s)[^。!?！？“\"])+[。.]?$"
)
_RULE = re.compile(r"\s*\|?[\s:|=_*-]{3,}\|?\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_END = re.compile(r"[.!?]+[\"'”’)\]*_]*(?=\s|$|[\u3400-\u9fff])|[。！？]+[”’」』）)\"*_]*|(?<=[\u3400-\u9fff])；")
_WORD_BEFORE = re.compile(r"[\w.]+$")
_NEXT_STARTS = re.compile(r"[\s\"'“‘(\[*_]*(?:[A-Z0-9\u3400-\u9fff]|$)")
_CLAUSE = re.compile(r"[,，;；]\s*")
_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)|\[([^\]]+)\]\[[^\]]*\]")
_MARK = re.compile(r"(?<![\w*])(\*\*|__|\*|_|`{1,3}|~~)(?=\S)|(?<=\S)(\*\*|__|\*|_|`{1,3}|~~)(?![\w*])|</?[a-zA-Z][^<>]{0,200}>|\{[%{].*?[%}]\}")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|$)")
_LEAD_MARK = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•·]\s+)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence span of a text with its kind and the index of the unit that leads into it (list lead-in, table head), or -1."""

    start: int
    end: int
    kind: str
    lead: int = -1


def split_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (code points, half-open) of the sentences; list items, headings and table rows are units of their own."""
    return tuple((unit.start, unit.end) for unit in split_units(text))


@lru_cache(maxsize=1_024)
def split_units(text: str) -> tuple[Unit, ...]:
    """The same spans with kinds and lead-ins."""
    units: list[Unit] = []
    for start, end, kind in _blocks(text):
        spans = [_trim(text, start, end)] if kind in {HEADING, ROW, RECORD, CODE} else _sentences(text, start, end)
        first = len(units)
        for number, (left, right) in enumerate(spans):
            if left < right:
                lead = _lead_of(text, units, kind, left) if number == 0 else first
                units.append(Unit(left, right, kind, lead if kind in {ITEM, ROW, RECORD} else -1))
    return tuple(units)


def _lead_of(text: str, units: list[Unit], kind: str, start: int) -> int:
    """The head row for a row, the sentence that ends with a colon (or the paragraph just above) for a list item, the first line for a record's."""
    if not units or kind not in {ITEM, ROW, RECORD}:
        return -1
    last = units[-1]
    if kind == RECORD:
        return _opening_line(text, units, start)
    if kind == ROW:
        return len(units) - 1 if last.kind != ROW else last.lead if last.lead >= 0 and units[last.lead].kind == ROW else len(units) - 1
    if last.kind == ITEM:
        return last.lead if last.lead < 0 or units[last.lead].kind != ITEM else units[last.lead].lead
    return len(units) - 1 if last.kind == HEADING or text[last.end - 1] in ":：*" else -1


def _opening_line(text: str, units: list[Unit], start: int) -> int:
    """First of the "Field: value" lines that follow each other without a gap; a line with its own subject needs none."""
    last = units[-1]
    is_own = " · " in text[start:].split("\n", 1)[0]
    if is_own or last.kind != RECORD or text.count("\n", last.end, start) > 1 or " · " in text[last.start : last.end]:
        return -1
    return last.lead if last.lead >= 0 else len(units) - 1


def _blocks(text: str) -> list[tuple[int, int, str]]:
    """Lines gathered to blocks: soft-wrapped lines belong together, the rest stands alone."""
    blocks: list[tuple[int, int, str]] = []
    front = _FRONT_MATTER.match(text)
    place, fenced, glue = front.end() if front else 0, False, False
    for line in text[place:].splitlines(keepends=True):
        start, end = place, place + len(line)
        place = end
        if _FENCE.match(line):
            fenced, glue = not fenced, False
            continue
        kind = CODE if fenced else _kind_of(line)
        if kind == "":
            glue = False
        elif glue and kind == PROSE and blocks:
            blocks[-1] = (blocks[-1][0], end, blocks[-1][2])
        else:
            blocks.append((start, end, kind))
            glue = kind in {PROSE, ITEM}
    return blocks


def _kind_of(line: str) -> str:
    if not line.strip() or _RULE.fullmatch(line.rstrip("\n")):
        return ""
    for kind, pattern in ((HEADING, _HEADING), (ITEM, _ITEM), (ROW, _ROW), (RECORD, _RECORD)):
        if pattern.match(line.rstrip("\r\n")):
            return kind
    return PROSE


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    left = start
    for found in _END.finditer(text, start, end):
        if found.start() >= left and _is_end(text, found, end, left):
            spans.append(_trim(text, left, found.end()))
            left = found.end()
    spans.append(_trim(text, left, end))
    return [piece for span in spans if span[0] < span[1] for piece in _cut_long(text, *span)]


def _is_end(text: str, found: re.Match[str], end: int, left: int) -> bool:
    mark = found[0][0]
    if mark != ".":
        return True
    word = _WORD_BEFORE.search(text, max(left, found.start() - 20), found.start())
    before = word[0].casefold() if word else ""
    if before in ABBREVIATIONS or (len(before) == 1 and before.isalpha() and text[found.start() - 1].isupper()):
        return text[found.end() : end].strip() == ""
    if before.isdigit() and not text[left : found.start() - len(before)].strip():
        return False  # "1. First" is a list mark
    return _NEXT_STARTS.match(text, found.end(), end) is not None


def _cut_long(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    while end - start > MAX_SENTENCE_CHARS:
        marks = [found.end() for found in _CLAUSE.finditer(text, start, start + MAX_SENTENCE_CHARS)]
        cut = marks[-1] if marks else start + MAX_SENTENCE_CHARS
        pieces.append(_trim(text, start, cut))
        start = cut
    return [*pieces, _trim(text, start, end)]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def clean_markdown(text: str) -> str:
    """The words of a span as people read them: no link targets, emphasis marks, tags or list marks; white space is single."""
    clean = _LINK.sub(lambda found: found[1] or found[2] or "", text)
    clean = _MARK.sub("", _LEAD_MARK.sub("", clean, count=1))
    separator = "|" if clean.lstrip().startswith("|") else "\t"
    if separator in clean:
        clean = " · ".join(cell.strip() for cell in clean.strip().strip(separator).split(separator) if cell.strip())
    return " ".join(clean.split())
