"""Stored answers read again: the same bytes plus the current state, cut by the reader's present grant (R03, answering.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from documents import api as documents
from rag4c.kernel.errors import Absent
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from retrieval import api as retrieval
from verification.api.contract import AnswerView, CitationView, CitedDocument, ClaimView, ConflictSide, SourceView
from verification.models import AnswerClaim, AnswerRecord, Citation, ContextManifest, EvidenceRow
from verification.rules.text_hash import check_span

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

__all__ = ["find_own_answer", "list_answers", "list_answers_citing", "read_answer", "read_cited_document"]
CONTEXT_LINES = 30
SHOWN_PASSAGES = 3
WITHHELD = "…"


def find_own_answer(actor: Actor, answer_id: uuid.UUID) -> AnswerRecord:
    """Inside a scope. Raises: Absent("answer") when it is not there, or somebody else's."""
    record = AnswerRecord.objects.filter(pk=answer_id).first()
    if record is None or (record.asked_by_id != actor.user_id and "answer.read_all" not in actor.grant.permissions):
        raise Absent("answer", "There is nothing here for you.")
    return record


def read_answer(*, actor: Actor, answer_id: uuid.UUID) -> AnswerView:
    """The answer as stored, with each citation's state now; what the reader may not see any more is withheld. The reading is recorded.

    Raises: Absent("answer").
    """
    with scope(actor.grant):
        record = find_own_answer(actor, answer_id)
        view = _view_of(actor, record)
        shown = {item.document_id for item in (*view.citations, *view.passages) if not item.is_withheld}
        ledger.record(actor, "answer.read", subject=("answer", record.pk), data={"documents": sorted(shown)})
    return view


def list_answers_citing(*, actor: Actor, document_id: uuid.UUID) -> list[uuid.UUID]:
    """Answers with a citation or passage of a document, for finding out who has read it. Raises: Denied("not_allowed")."""
    check_permission(actor, "ledger.read")
    with scope(actor.grant):
        cited = Citation.objects.filter(document_id=document_id).values_list("answer_id", flat=True)
        found = EvidenceRow.objects.filter(document_id=document_id).values_list("answer_id", flat=True)
        return sorted({*cited, *found})


def list_answers(*, actor: Actor, after: uuid.UUID | None = None, limit: int = 50) -> list[AnswerView]:
    """The actor's own questions and how they ended, newest first, a page at a time. Answer texts and citations are read one by one, when opened.

    Args: after: the last answer of the page before.
    """
    with scope(actor.grant):
        rows = AnswerRecord.objects.filter(asked_by_id=actor.user_id).order_by("-pk")
        if after is not None:
            rows = rows.filter(pk__lt=after)
        return [_summary_of(record) for record in rows[:limit]]


def _view_of(actor: Actor, record: AnswerRecord) -> AnswerView:
    citations = list(Citation.objects.filter(answer=record).select_related("document", "revision_chunk").order_by("n", "span_start"))
    is_answer = record.status not in {"abstained", "failed"}
    evidence = [] if is_answer else list(EvidenceRow.objects.filter(answer=record).select_related("document").order_by("n")[:SHOWN_PASSAGES])
    readable = retrieval.readable_documents(
        grant=actor.grant, document_ids=sorted({row.document_id for row in citations} | {row.document_id for row in evidence})
    )
    states = _states_now(actor, citations)
    views = [_citation_view(row, readable, states[row.pk]) for row in citations]
    withheld = {row.n for row in citations if row.document_id not in readable and row.role == "support"}
    claims = [_claim_view(row, withheld) for row in AnswerClaim.objects.filter(answer=record, removed=False).order_by("ordinal")]
    sides = [(row, view) for row, view in zip(citations, views, strict=True) if row.role == "side" and not view.is_withheld]
    return replace(
        _summary_of(record),
        answer=record.answer if not withheld else " ".join(claim.text for claim in claims),
        claims=tuple(claims) if is_answer else (),
        citations=tuple(views),
        sources=_sources_of([view for row, view in zip(citations, views, strict=True) if row.role == "support"]),
        conflict=tuple(ConflictSide(row.n, row.quote, view.document, view.locator, view.quote) for row, view in sides),
        passages=_nearest(actor, evidence, readable),
        context_manifest_id=ContextManifest.objects.filter(answer=record).values_list("pk", flat=True).first(),
    )


def _summary_of(record: AnswerRecord) -> AnswerView:
    """The record's own columns; nothing that a source says."""
    return AnswerView(
        answer_id=record.pk,
        question=record.question,
        asked_at=record.created_at,
        status=record.status,
        reason=record.reason,
        reason_detail={str(key): str(value) for key, value in record.reason_detail.items()},
        answer="",
        claims=(),
        citations=(),
        sources=(),
        conflict=(),
        passages=(),
        support_scope=record.support_scope,
        same_key_sources_checked=record.same_key_sources_checked,
        confidence=record.confidence,
        confidence_name=record.confidence_name,
        policy_rev=record.policy_rev,
        visible_sha256=record.visible_sha256,
        context_manifest_id=None,
        degraded=tuple(record.degraded),
        timings_ms=dict(record.timings_ms),
        lifeline_url=f"/answers/{record.pk}/lifeline/",
        channel=record.channel_name,
    )


def _sources_of(views: list[CitationView]) -> tuple[SourceView, ...]:
    """Each document once, in the order of its first citation."""
    firsts: dict[str, SourceView] = {}
    for view in views:
        if not view.is_withheld:
            firsts.setdefault(view.document_id, SourceView(view.document_id, view.document, view.locator))
    return tuple(firsts.values())


def _states_now(actor: Actor, citations: list[Citation]) -> dict[uuid.UUID, str]:
    """Layer 2 again, at this read: the stored state when the place is unchanged, else `stale`."""
    places = [row.revision_chunk_id for row in citations]
    checks = documents.check_places(grant=actor.grant, place_ids=places)
    texts = {text.place_id: text for text in documents.read_evidence(grant=actor.grant, place_ids=places)}
    states = {}
    for row in citations:
        text = texts.get(row.revision_chunk_id)
        current = None if checks[row.revision_chunk_id].reason or text is None else text.text
        start = row.span_start - (text.span_start if text else 0)
        seen = check_span(current, (start, start + row.span_end - row.span_start), row.chunk_sha256, row.quote)
        states[row.pk] = row.state if seen.outcome == "ok" else "stale"
    return states


def _citation_view(row: Citation, readable: frozenset[uuid.UUID], state_now: str) -> CitationView:
    if row.document_id not in readable:
        return CitationView(row.n, "", "", "", "", "", (0, 0), "", "", "", "", "", "", is_withheld=True)
    return CitationView(
        n=row.n,
        evidence_id=str(row.revision_chunk_id),
        document_id=str(row.document_id),
        document=row.document.path,
        revision_id=str(row.revision_chunk.revision_id),
        locator=row.locator,
        span=(row.span_start, row.span_end),
        sha256=row.text_sha256,
        modality="text",
        support_type=row.support_type,
        state=row.state,
        current_state=state_now,
        quote=row.quote,
    )


def _claim_view(row: AnswerClaim, withheld: set[int]) -> ClaimView:
    is_gone = bool(row.markers) and set(row.markers) <= withheld
    return ClaimView(WITHHELD if is_gone else row.text, tuple(row.markers), row.state)


def _nearest(actor: Actor, evidence: list[EvidenceRow], readable: frozenset[uuid.UUID]) -> tuple[CitationView, ...]:
    texts = {text.place_id: text for text in documents.read_evidence(grant=actor.grant, place_ids=[row.revision_chunk_id for row in evidence])}
    shown = []
    for row in evidence:
        text = texts.get(row.revision_chunk_id)
        if text is None or row.document_id not in readable:
            continue
        shown.append(
            CitationView(
                n=row.n,
                evidence_id=str(text.place_id),
                document_id=str(text.document_id),
                document=text.path,
                revision_id=str(text.revision_id),
                locator=text.locator,
                span=(text.span_start, text.span_end),
                sha256=row.text_sha256,
                modality="text",
                support_type="",
                state="exists_only",
                current_state="exists_only",
                quote=text.text,
            )
        )
    return tuple(shown)


def read_cited_document(*, actor: Actor, answer_id: uuid.UUID, n: int) -> CitedDocument:
    """The cited lines of `[n]` in the context of their document, for a reader who may see it now.

    Raises: Absent("answer" | "citation").
    """
    with scope(actor.grant):
        record = find_own_answer(actor, answer_id)
        rows = list(Citation.objects.filter(answer=record).select_related("revision_chunk", "document").order_by("n", "span_start"))
        row = next((row for row in rows if row.n == n), None)
        if row is None or row.document_id not in retrieval.readable_documents(grant=actor.grant, document_ids=[row.document_id]):
            raise Absent("citation", "There is nothing here for you.")
        state = _states_now(actor, [row])[row.pk]
        text = documents.read_document_text(grant=actor.grant, revision_id=row.revision_chunk.revision_id)
        ledger.record(actor, "citation.read", subject=("document", row.document_id), data={"answer": str(record.pk), "n": n})
    numbers = sorted({other.n for other in rows})
    at = numbers.index(n)
    before = text.text[: row.span_start].split("\n")
    after = text.text[row.span_end :].split("\n")
    return CitedDocument(
        n=n,
        document=row.document.path,
        locator=row.locator,
        revision_number=text.number,
        state=state,
        has_source_lines=text.media_type in documents.SOURCE_IS_TEXT,
        before="\n".join(before[-CONTEXT_LINES:]),
        cited=text.text[row.span_start : row.span_end],
        after="\n".join(after[:CONTEXT_LINES]),
        previous_n=numbers[at - 1] if at else None,
        next_n=numbers[at + 1] if at + 1 < len(numbers) else None,
    )
