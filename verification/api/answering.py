"""One question, from grant to a stored verdict. API, page, command line, Python and evaluation all run this function (SYS-G10)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from documents import api as documents
from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Invalid
from rag4c.scope.permissions import check_permission
from retrieval import api as retrieval
from tenants import api as tenants
from verification.api.checking import check_draft, check_relevance
from verification.api.evidence import list_facts, make_embed, pack_passages, wide_passages
from verification.api.policies import read_policies
from verification.api.reading import read_answer
from verification.api.storing import Outcome, store_answer
from verification.rules.conflicts import audit_conflicts, audit_narrative
from verification.rules.conflicts_narrative import ConflictLimits
from verification.rules.contract import ConflictReport, Draft, Finding, Scores, Verdict
from verification.rules.decision import DecisionInputs, decide
from verification.rules.extract import draft_answer
from verification.rules.facts_answer import FactAnswer, UnsupportedAttribute, draft_fact_answer, find_fact_answer
from verification.rules.question import read_question
from verification.rules.unsupported import settle_unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag4c.kernel.grant import Actor, Grant
    from verification.api.contract import AnswerView
    from verification.rules.contract import AnswerThresholds, Embed, FactRow, Passage
    from verification.rules.facts_context import ReadPassage
    from verification.rules.question import QuestionReading

__all__ = ["answer_question"]
MAX_QUESTION: Final = 4_000


@dataclass(slots=True)
class _Work:
    """What the steps of one question have seen so far."""

    grant: Grant
    reading: QuestionReading
    thresholds: AnswerThresholds
    gathered: retrieval.Gathered
    embed: Embed
    facts: tuple[FactRow, ...] = ()
    passages: tuple[Passage, ...] = ()
    wide: tuple[Passage, ...] = ()
    draft: Draft | None = None
    stated: dict[str, FactRow] = field(default_factory=dict)
    same_key: tuple[FactRow, ...] = ()
    unsupported: UnsupportedAttribute | None = None
    conflict: ConflictReport | None = None
    findings: tuple[Finding, ...] = ()
    relevance: Finding | None = None


def answer_question(  # noqa: PLR0913  # the fields of the request, one to one
    *,
    actor: Actor,
    question: str,
    workspace: str | None = None,
    knowledge_bases: Sequence[uuid.UUID] = (),
    channel: str = "live",
    purpose: str = "",
    acl: frozenset[str] | None = None,
) -> AnswerView:
    """Answer from published, permitted, unchanged evidence, or abstain with a reason; either way the record is stored with its lifeline.

    Args: question: 1 to 4,000 code points. knowledge_bases: all of the workspace when empty. acl: narrows the grant, never widens it.
    Raises: Denied("not_allowed"), Invalid("question_invalid"), Absent("workspace" | "knowledge_base").
    Source: architecture.md section 4, SYS-E1 to E5.
    """
    check_permission(actor, "ask")
    started = clock.monotonic()
    asked = _clean_question(question)
    workspace_id = tenants.find_workspace(actor=actor, key=workspace or "main")
    grant = tenants.restrict_grant(actor.grant, acl, workspace_id=workspace_id, purpose=purpose)
    bases = _choose_bases(actor, workspace_id, knowledge_bases)
    visible = retrieval.visible_set(grant=grant, knowledge_base_ids=bases, channel=channel)
    thresholds, policy_rev = read_policies(grant)
    work = _find_evidence(grant, asked, visible, thresholds)
    found = clock.monotonic()
    verdict = _decide(work)
    timings = _timings(started, found, clock.monotonic())
    outcome = _outcome_of(work, verdict, question=asked, channel=channel, policy_rev=policy_rev, timings_ms=timings)
    return read_answer(actor=actor, answer_id=store_answer(actor=actor, outcome=outcome))


def _outcome_of(work: _Work, verdict: Verdict, *, question: str, channel: str, policy_rev: str, timings_ms: dict[str, int]) -> Outcome:
    return Outcome(
        grant=work.grant,
        question=question,
        channel=channel,
        gathered=work.gathered,
        passages=work.passages,
        wide=work.wide,
        draft=work.draft,
        findings=(*work.findings, *((work.relevance,) if work.relevance else ())),
        conflict=work.conflict,
        verdict=verdict,
        policy_rev=policy_rev,
        timings_ms=timings_ms,
    )


def _timings(started: float, found: float, decided: float) -> dict[str, int]:
    return {"retrieval": round((found - started) * 1000), "verification": round((decided - found) * 1000), "total": round((decided - started) * 1000)}


def _clean_question(question: str) -> str:
    """NUL and lone surrogates cannot be stored; they are replaced, as in documents."""
    text = question.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd").strip()
    if not 1 <= len(text) <= MAX_QUESTION:
        raise Invalid("question_invalid", f"A question is 1 to {MAX_QUESTION:,} characters.")
    return text


def _choose_bases(actor: Actor, workspace_id: uuid.UUID, wanted: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    known = [base.id for base in documents.list_knowledge_bases(actor=actor, workspace_id=workspace_id)]
    if unknown := set(wanted) - set(known):
        raise Absent("knowledge_base", "There is no such knowledge base in this workspace.", {"count": len(unknown)})
    return [key for key in known if key in set(wanted)] if wanted else known


def _find_evidence(grant: Grant, question: str, visible: retrieval.VisibleSet, thresholds: AnswerThresholds) -> _Work:
    reading = read_question(question)
    facts = list_facts(grant, visible)
    synonyms = documents.field_synonyms(grant)[1]
    found = find_fact_answer(reading, facts, synonyms, _passage_reader(grant, visible)) if facts else None
    fact_chunks = [uuid.UUID(fact.chunk_id) for fact in found.facts] if isinstance(found, FactAnswer) else []
    gathered = retrieval.gather(grant=grant, question=question, visible=visible, fact_chunk_ids=fact_chunks)
    work = _Work(grant, reading, thresholds, gathered, make_embed(grant.tenant_id), facts)
    if isinstance(gathered.outcome, retrieval.Insufficient):
        return work
    work.passages = pack_passages(gathered.outcome)
    work.wide = wide_passages(work.passages, gathered.wide)
    if isinstance(found, FactAnswer):
        _draft_facts(work, found)
    if work.draft is None:
        work.draft = draft_answer(reading, work.passages, work.embed, thresholds)
    work.unsupported = found if isinstance(found, UnsupportedAttribute) else None
    return work


def _passage_reader(grant: Grant, visible: retrieval.VisibleSet) -> ReadPassage:
    """Passages around the few facts that a question names, each read once."""

    @cache
    def read(chunk_id: str) -> Passage | None:
        texts = documents.read_evidence(grant=grant, place_ids=[visible.place_ids[uuid.UUID(chunk_id)]])
        return next(iter(wide_passages((), [retrieval.WideHit(text, {}) for text in texts])), None)

    return read


def _draft_facts(work: _Work, found: FactAnswer) -> None:
    """The complete permitted source set of the answered keys goes to the audit, beyond top-k and budget (SYS-B3)."""
    stated = _state_once(found.facts, {passage.chunk_id for passage in work.passages})
    work.draft = draft_fact_answer(FactAnswer(stated, found.text), work.passages)
    if work.draft is None or not stated:
        work.draft = None
        return
    work.same_key = found.facts if found.is_by_heading else _same_key_facts(found.facts, work.facts)
    work.stated = {claim.id: fact for claim, fact in zip(work.draft.claims, stated, strict=True)}


def _same_key_facts(chosen: Sequence[FactRow], facts: Sequence[FactRow]) -> tuple[FactRow, ...]:
    keys = {(fact.subject_key, fact.field_key) for fact in chosen}
    periods = {fact.period for fact in chosen}
    return tuple(fact for fact in facts if (fact.subject_key, fact.field_key) in keys and fact.period in periods)


def _state_once(facts: Sequence[FactRow], chunk_ids: set[str]) -> tuple[FactRow, ...]:
    """One fact for each key, out of a passage of the pack; the others agree or the audit says so. A cell read under two keys counts once."""
    chosen: dict[tuple[str, str, str], FactRow] = {}
    cells: set[tuple[str, int]] = set()
    for fact in facts:
        key, cell = (fact.subject_key, fact.field_key, fact.period), (fact.revision_id, fact.span_start)
        if fact.chunk_id in chunk_ids and key not in chosen and cell not in cells:
            chosen[key] = fact
            cells.add(cell)
    return tuple(chosen.values())


def _audit(work: _Work, draft: Draft) -> ConflictReport:
    """Same-key facts first, complete; where they agree, prose that answers the same question may still disagree (SYS-B3)."""
    report = audit_conflicts(work.reading, draft, work.wide, work.same_key, work.embed)
    if report.found or not work.same_key:
        return report
    prose = audit_narrative(work.reading, draft, work.wide, work.embed, ConflictLimits())
    return prose if prose.found else report


def _decide(work: _Work) -> Verdict:
    """Audit, checks and the pure decision. No path to an answer leaves the audit out."""
    gathered = work.gathered
    outcome = gathered.outcome
    reason = outcome.reason if isinstance(outcome, retrieval.Insufficient) else ""
    if work.draft is not None:
        work.conflict = _audit(work, work.draft)
        places = {str(key): chunk.place_id for key, chunk in gathered.visible.chunks.items()}
        work.findings = check_draft(work.grant, work.draft, work.passages, places, work.stated, work.thresholds)
        answers = check_relevance(work.reading, work.draft, work.passages, work.embed, work.thresholds)
        work.relevance = answers[0] if answers else None
    inputs = DecisionInputs(
        visible_count=gathered.visible.permitted_count,
        hits=0 if reason == "no_evidence" else gathered.hit_count,
        retrieval_scored=not work.stated,
        best_scores=Scores(dense_cosine=gathered.best_scores.get("dense_cosine"), bm25=gathered.best_scores.get("bm25")),
        unsupported_attribute=_unsupported_of(work),
        conflict=work.conflict,
        stale_cited=(),
        stale_candidates=gathered.stale_chunk_ids if reason == "source_changed" else (),
        evidence_left=len(work.passages),
        chunk_settings_dropped=1 if reason == "chunk_settings_changed" else 0,
        prompt_budget_error=reason == "prompt_budget",
        claims=work.draft.claims if work.draft else (),
        findings=work.findings,
        relevance=work.relevance,
        confidence=work.draft.confidence if work.draft else None,
    )
    return decide(inputs, work.thresholds)


def _unsupported_of(work: _Work) -> tuple[str, str] | None:
    """The record has no such field, and no drafted sentence that surely answers says it either (SYS-B5)."""
    if work.unsupported is None:
        return None
    answers = work.relevance is not None and work.relevance.outcome == "ok"
    least = max(work.thresholds.min_confidence_over_record, work.thresholds.min_confidence or 0.0)
    return settle_unsupported(work.unsupported, work.reading, work.draft if answers else None, work.passages, least)
