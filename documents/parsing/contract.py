"""What every parser gives back: one canonical text, and elements that point into it by code points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Permanent

ParseRefused = Permanent  # a refusal is final for these bytes: the same file gives the same code again

KINDS = frozenset(
    {"heading", "paragraph", "list_item", "code", "table", "table_row", "caption", "footnote", "header", "footer", "notes", "comment", "alt", "raw"}
)
COLUMN_SEPARATOR = "\t"  # between the column paths in `col_path` of a table row


@dataclass(frozen=True, slots=True)
class ElementDraft:
    """One block of a document. `text` is exactly `extract.text[span_start:span_end]`.

    Args: seq: 0-based. search_text: how it reads as plain text. row_path: label of a table row. col_path: the column
    paths of a table row, joined by COLUMN_SEPARATOR (levels by " > "). hidden: kept for the record, never evidence.
    """

    seq: int
    kind: str
    text: str
    search_text: str
    level: int | None
    heading_path: tuple[str, ...]
    locator: str
    span_start: int
    span_end: int
    table_no: int | None = None
    row_path: str = ""
    col_path: str = ""
    hidden: bool = False
    flags: tuple[str, ...] = ()
    parent_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Extract:
    """One parsed file. Spans of the elements are in order and disjoint; what lies between them is separator.

    Args: text: decoded source for text formats, extracted text for the others. sha256: of `text` as UTF-8.
    flags: facts about the file. review_codes: why a person should look before it is published.
    """

    text: str
    sha256: str
    media_type: str
    parser: str
    parser_version: str
    encoding: str
    flags: tuple[str, ...]
    elements: tuple[ElementDraft, ...]
    review_codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Caps that a policy row may change; the defaults are those of docs "Limits"."""

    max_bytes: int = 50_000_000
    max_line_chars: int = 1_000_000
    html_depth: int = 200  # the HTML library silently drops text from depth 256
    markdown_depth: int = 60
    max_elements: int = 500_000


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a format module knows; the registry completes it to an Extract."""

    text: str
    encoding: str
    elements: tuple[ElementDraft, ...]
    flags: frozenset[str] = field(default_factory=frozenset)
    review_codes: frozenset[str] = field(default_factory=frozenset)


class FormatModule(Protocol):
    """A module under `documents.parsing` that reads one format."""

    MEDIA_TYPE: str
    PARSER: str
    VERSION: str

    def parse(self, data: bytes, limits: ParseLimits) -> Parsed:
        """Raises ParseRefused when the bytes cannot be read."""


def complete(parsed: Parsed, module: FormatModule) -> Extract:
    """The Extract of what a module parsed."""
    return Extract(
        text=parsed.text,
        sha256=sha256_hex(parsed.text),
        media_type=module.MEDIA_TYPE,
        parser=module.PARSER,
        parser_version=module.VERSION,
        encoding=parsed.encoding,
        flags=tuple(sorted(parsed.flags)),
        elements=parsed.elements,
        review_codes=tuple(sorted(parsed.review_codes)),
    )
