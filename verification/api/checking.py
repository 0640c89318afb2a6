"""The checks of a draft against the truth: existence, text hash, entailment, and whether it answers the question (SYS-E2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from documents import api as documents
from rag4c.kernel.canonical import sha256_hex
from verification.rules.contract import Finding
from verification.rules.entailment import check_entailment
from verification.rules.facts_answer import normalise_key
from verification.rules.relevance import check_answers_question
from verification.rules.text_hash import check_span

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping, Sequence

    from rag4c.kernel.grant import Grant
    from verification.rules.contract import AnswerThresholds, Claim, Draft, Embed, FactRow, Passage
    from verification.rules.question import QuestionReading

__all__ = ["check_draft", "check_relevance"]


def check_draft(
    grant: Grant,
    draft: Draft,
    passages: Sequence[Passage],
    place_ids: Mapping[str, uuid.UUID],
    facts: Mapping[str, FactRow],
    thresholds: AnswerThresholds,
) -> tuple[Finding, ...]:
    """Findings of L1, L2 and L3 for every claim and marker. The cited text is read from Postgres and its original re-hashed here, after generation.

    Args: place_ids: chunk id -> revision chunk. facts: claim id -> the fact it states, for drafts of mode `fact`.
    """
    by_number = {passage.n: passage for passage in passages}
    cited = sorted({n for claim in draft.claims for n in claim.markers if n in by_number})
    places = [place_ids[by_number[n].chunk_id] for n in cited]
    checks = documents.check_places(grant=grant, place_ids=places)
    texts = {text.place_id: text for text in documents.read_evidence(grant=grant, place_ids=places)}
    current = {n: _current_text(checks[place], texts.get(place)) for n, place in zip(cited, places, strict=True)}
    findings: list[Finding] = []
    for claim in draft.claims:
        findings += _check_existence(claim, by_number)
        findings += _check_text(claim, by_number, current)
        findings.append(_check_fact(claim, facts[claim.id], by_number) if claim.id in facts else _check_support(claim, by_number, thresholds))
    return tuple(findings)


def _current_text(check: documents.PlaceCheck, text: documents.EvidenceText | None) -> str | None:
    """The chunk's text as the truth has it now; None when the place, its original or its span is not what was read."""
    if check.reason or text is None or check.text_sha256 != sha256_hex(text.text):
        return None
    return text.text


def _check_existence(claim: Claim, by_number: Mapping[int, Passage]) -> list[Finding]:
    if not claim.markers:
        return [Finding(claim.id, None, "L1", "unsupported", "no_citation")]
    return [
        Finding(claim.id, n, "L1", "ok" if n in by_number else "unsupported", "" if n in by_number else "marker_out_of_range") for n in claim.markers
    ]


def _check_text(claim: Claim, by_number: Mapping[int, Passage], current: Mapping[int, str | None]) -> list[Finding]:
    findings = []
    for span in claim.spans:
        passage = by_number.get(span.n)
        if passage is None:
            continue
        seen = check_span(current.get(span.n), (span.start, span.end), passage.text_sha256, passage.text[span.start : span.end])
        findings.append(Finding(claim.id, span.n, "L2", seen.outcome, seen.reason))
    return findings


def _check_support(claim: Claim, by_number: Mapping[int, Passage], thresholds: AnswerThresholds) -> Finding:
    cited = [by_number[n] for n in claim.markers if n in by_number]
    heading = " / ".join(dict.fromkeys(part for passage in cited for part in passage.heading_path))
    finding = check_entailment(claim.text, [passage.text for passage in cited], heading, thresholds.min_entailment or 0.0, claim_id=claim.id)
    return replace(finding, n=claim.markers[0] if claim.markers else None)


def _check_fact(claim: Claim, fact: FactRow, by_number: Mapping[int, Passage]) -> Finding:
    """A fact claim is carried when its value stands, letter for letter, at the cited place of the right document."""
    span = claim.spans[0]
    passage = by_number.get(span.n)
    place = passage.text[span.start : span.end] if passage else ""
    holds = passage is not None and passage.document_id == fact.document_id and normalise_key(fact.value_text) in normalise_key(place)
    return Finding(claim.id, span.n, "L3", "ok" if holds else "unsupported", "fact_lineage", 1.0 if holds else 0.0)


def check_relevance(
    reading: QuestionReading, draft: Draft, passages: Sequence[Passage], embed: Embed, thresholds: AnswerThresholds
) -> tuple[Finding, ...]:
    """Layer Q. A fact was found by the very subject and field that were asked; other drafts are checked against the question."""
    if draft.mode == "fact":
        return (Finding(draft.claims[0].id, None, "Q", "ok", "fact_key", 1.0),)
    return check_answers_question(reading, draft.claims, passages, embed, thresholds)
