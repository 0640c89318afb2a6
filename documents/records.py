"""Subject/field records: values that a document states about a thing, each with the place where it stands (SYS-B2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from documents.fact_lines import LineReader
from documents.fact_tables import read_table
from documents.fact_types import DEFAULT_MAPPING, FactDraft, FactMapping, Statement, field_key, key_set, normalize_key
from documents.fact_values import ONE, is_blank, read_number, read_period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from documents.parsing.contract import ElementDraft, Extract

__all__ = ["DEFAULT_MAPPING", "FactDraft", "FactMapping", "field_key", "normalize_key", "read_facts"]

_BY_HEADING = frozenset({"heading_field", "table_pair", "definition"})


def read_facts(extract: Extract, mapping: FactMapping = DEFAULT_MAPPING) -> tuple[FactDraft, ...]:
    """All facts that the visible text states, in order of their place. Hidden text states nothing."""
    visible = [element for element in extract.elements if not element.hidden and element.kind not in {"raw", "header", "footer", "code"}]
    statements = sorted(_statements(extract, visible, mapping), key=lambda statement: (statement.start, statement.origin))
    drafts = [_draft(statement, mapping) for statement in statements if statement.subject and not is_blank(statement.value_text)]
    return tuple(_mark_repeats(statements, drafts))


def _statements(extract: Extract, elements: Sequence[ElementDraft], mapping: FactMapping) -> Iterator[Statement]:
    reader = LineReader(extract, mapping)
    at = 0
    while at < len(elements):
        element = elements[at]
        if element.kind != "table_row":
            yield from reader.read(element)
            at += 1
            continue
        stop = at
        while stop < len(elements) and elements[stop].kind == "table_row" and elements[stop].table_no == element.table_no:
            stop += 1
        yield from read_table(extract, elements[max(0, at - 2) : at], elements[at:stop], reader, mapping)
        at = stop


def _draft(statement: Statement, mapping: FactMapping) -> FactDraft:
    number = read_number(statement.value_text, statement.around) if statement.around else read_number(statement.value_text)
    key = field_key(statement.field, mapping)
    is_kept_only = key in key_set(mapping.non_answerable_fields)
    return FactDraft(
        subject=statement.subject,
        field=statement.field,
        subject_key=normalize_key(statement.subject),
        field_key=key,
        value_text=statement.value_text,
        value=number.value if number else None,
        unit=number.unit if number else "",
        scale=number.scale if number else ONE,
        period=read_period(statement.col_path, statement.row_path, statement.field),
        row_path=statement.row_path,
        col_path=statement.col_path,
        locator=statement.locator,
        span_start=statement.start,
        span_end=statement.end,
        element_seq=statement.element.seq,
        origin=statement.origin,
        review_reason="non_answerable_field" if is_kept_only else statement.review_reason or (number.review_reason if number else ""),
    )


def _mark_repeats(statements: Sequence[Statement], drafts: Sequence[FactDraft]) -> Iterator[FactDraft]:
    """A field that one section states several times is a list, not a record: it must not contradict itself."""
    kept = [statement for statement in statements if statement.subject and not is_blank(statement.value_text)]
    seen = Counter((s.group, d.subject_key, d.field_key) for s, d in zip(kept, drafts, strict=True) if s.origin in _BY_HEADING)
    for statement, draft in zip(kept, drafts, strict=True):
        is_repeat = statement.origin in _BY_HEADING and seen[statement.group, draft.subject_key, draft.field_key] > 1
        yield replace(draft, review_reason=draft.review_reason or "repeated_field") if is_repeat else draft
