"""The audit that every answer passes: do sources of the same key say something else (SYS-B3, SYS-B8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verification.rules.conflicts_choice import find_choice_rivals
from verification.rules.conflicts_narrative import ALWAYS_READ, ConflictLimits, find_rivals
from verification.rules.contract import ConflictReport, Side
from verification.rules.facts_answer import normalise_key
from verification.rules.lexicon_quantities import find_quantities
from verification.rules.numbers import in_base_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Draft, Embed, FactRow, Passage
    from verification.rules.extract_cover import Candidate
    from verification.rules.question import QuestionReading

COMPLETE_SCOPE = "complete_permitted_subject_field_source_set"
CITED_SCOPE = "cited_evidence_only"
MAX_SIDES = 8


def audit_conflicts(
    reading: QuestionReading,
    draft: Draft,
    passages_all: Sequence[Passage],
    facts_same_key: Sequence[FactRow],
    embed: Embed,
    limits: ConflictLimits = ConflictLimits(),  # noqa: B008 - a frozen value
) -> ConflictReport:
    """Both sides when sources disagree. No document outranks another by a version note or a date in its name (SYS-B8).

    Args: passages_all: the permitted top 200 of the question, the evidence pack first and with its numbers.
    facts_same_key: the complete permitted source set of the answered keys, empty on the narrative path.
    """
    by_facts = audit_facts(facts_same_key) if draft.mode == "fact" or facts_same_key else None
    if by_facts is not None and (by_facts.found or draft.mode == "fact"):
        return by_facts
    return audit_narrative(reading, draft, passages_all, embed, limits)


def audit_facts(facts: Sequence[FactRow]) -> ConflictReport:
    """Equality of normalised values within each (subject, field, period)."""
    groups: dict[tuple[str, str, str], list[FactRow]] = {}
    for fact in facts:
        groups.setdefault((fact.subject_key, fact.field_key, normalise_key(fact.period)), []).append(fact)
    sources = len({(fact.revision_id, fact.span_start) for fact in facts})
    for (subject, field, period), rows in groups.items():
        firsts = _first_of_each_value(rows)
        if len(firsts) > 1:
            key = "/".join(part for part in (subject, field, period) if part)
            return ConflictReport(key, tuple(_fact_side(fact) for fact in firsts[:MAX_SIDES]), COMPLETE_SCOPE, sources)
    return ConflictReport("/".join(next(iter(groups), ("", "", ""))[:2]), (), COMPLETE_SCOPE, sources)


def _first_of_each_value(facts: Sequence[FactRow]) -> list[FactRow]:
    firsts: dict[tuple[str, ...], FactRow] = {}
    for fact in facts:
        firsts.setdefault(normal_value(fact), fact)
    return list(firsts.values())


def normal_value(fact: FactRow) -> tuple[str, ...]:
    """A form that is equal for 30 days, 30 天 and thirty days, for 1 hour and 60 minutes, and for the same words."""
    written = f"{fact.value_text} {fact.unit}" if fact.unit and normalise_key(fact.unit) not in normalise_key(fact.value_text) else fact.value_text
    quantities = find_quantities(written)
    if not quantities:
        return ("text", normalise_key(fact.value_text))
    rest = written
    for quantity in reversed(quantities):
        rest = rest[: quantity.start] + rest[quantity.end :]
    values = []
    for quantity in quantities:
        value, unit = in_base_unit(quantity)
        values.append(f"{value.normalize():f} {unit}")
    return (*values, normalise_key(rest))


def _fact_side(fact: FactRow) -> Side:
    return Side(
        value=f"{fact.value_text} {fact.unit}".strip(),
        document_id=fact.document_id,
        document=fact.document,
        revision_id=fact.revision_id,
        chunk_id=fact.chunk_id,
        locator=fact.locator,
        span_start=fact.span_start,
        span_end=fact.span_end,
        quote=fact.value_text,
    )


def audit_narrative(reading: QuestionReading, draft: Draft, passages: Sequence[Passage], embed: Embed, limits: ConflictLimits) -> ConflictReport:
    """The claim of the draft against every sentence of the passages that answers the same question."""
    chosen, rivals = find_rivals(reading, draft, passages, embed, limits)
    key = f"{reading.subject or ' '.join(reading.names)}/{reading.attribute or reading.answer_type}".strip("/")
    scope = f"bounded_same_subject_search({len(passages)})" if chosen is not None else CITED_SCOPE
    sides = (chosen, *rivals) if chosen is not None and rivals else find_choice_rivals(reading, passages[:ALWAYS_READ])
    return ConflictReport(key, tuple(_sentence_side(candidate) for candidate in sides[:MAX_SIDES]), scope, len(passages))


def _sentence_side(candidate: Candidate) -> Side:
    passage, unit = candidate.passage, candidate.unit
    return Side(
        value=candidate.text,
        document_id=passage.document_id,
        document=passage.document,
        revision_id=passage.revision_id,
        chunk_id=passage.chunk_id,
        locator=passage.locator,
        span_start=passage.span_start + unit.start,
        span_end=passage.span_start + unit.end,
        quote=passage.text[unit.start : unit.end],
    )
