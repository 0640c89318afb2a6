"""The answer record: everything that an answer rests on, in one transaction, never changed afterwards (R03)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from documents import api as documents
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from verification.models import AnswerClaim, AnswerRecord, Citation, ContextManifest, EvidenceRow, FindingRow
from verification.rules.claims import render_states
from verification.rules.markers import neutralize_markers

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor, Grant
    from retrieval import api as retrieval
    from verification.rules.contract import Claim, ConflictReport, Draft, Finding, Passage, Verdict

__all__ = ["Outcome", "store_answer"]
ANSWERED = frozenset({"answered", "partial", "answered_unverified"})
SHOWN_PASSAGES = 3  # beside an abstention


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question with all that was seen and decided."""

    grant: Grant
    question: str
    channel: str
    gathered: retrieval.Gathered
    passages: tuple[Passage, ...]
    wide: tuple[Passage, ...]
    draft: Draft | None
    findings: tuple[Finding, ...]
    conflict: ConflictReport | None
    verdict: Verdict
    policy_rev: str
    timings_ms: dict[str, int]

    @property
    def kept_claims(self) -> tuple[Claim, ...]:
        """Claims that the verdict lets stand; none of an abstention's."""
        if self.draft is None or self.verdict.status not in ANSWERED:
            return ()
        return tuple(claim for claim in self.draft.claims if claim.id not in self.verdict.removed_claims)


def store_answer(*, actor: Actor, outcome: Outcome) -> uuid.UUID:
    """Write record, evidence, claims, citations, findings and context manifest, with the ledger event. Returns the answer's id."""
    with scope(outcome.grant), transaction.atomic():
        record = AnswerRecord.objects.create(**_record_fields(outcome))
        common: dict[str, Any] = {"tenant_id": outcome.grant.tenant_id, "answer": record}
        manifest = outcome.gathered.outcome.manifest
        ContextManifest.objects.create(**common, sha256=manifest.sha256, body=manifest.data)
        EvidenceRow.objects.bulk_create([_evidence_row(common, outcome, passage) for passage in outcome.passages])
        claims = _store_claims(common, outcome)
        Citation.objects.bulk_create(_located(outcome.grant, [*_support_rows(common, outcome, claims), *_side_rows(common, outcome)]))
        FindingRow.objects.bulk_create(_finding_rows(common, outcome))
        ledger.record(
            actor,
            "answer.given" if outcome.verdict.status in ANSWERED else "answer.withheld",
            subject=("answer", record.pk),
            data={"status": outcome.verdict.status, "reason": outcome.verdict.reason, "visible_sha256": outcome.gathered.visible.sha256},
        )
        fp("answer.commit.before")
    fp("answer.commit.after")
    return record.pk


def _record_fields(outcome: Outcome) -> dict[str, Any]:
    draft, verdict, visible = outcome.draft, outcome.verdict, outcome.gathered.visible
    kept = outcome.kept_claims
    text = " ".join(f"{neutralize_markers(claim.text)} {''.join(f'[{n}]' for n in claim.markers)}".strip() for claim in kept)
    return {
        "tenant_id": outcome.grant.tenant_id,
        "asked_by_id": outcome.grant.user_id,
        "workspace_id": outcome.grant.workspace_id,
        "channel_name": outcome.channel,
        "question": outcome.question,
        "status": verdict.status,
        "reason": verdict.reason,
        "reason_detail": verdict.detail,
        "answer": text,
        "mode": draft.mode if draft else "",
        "confidence": draft.confidence if draft else None,
        "confidence_name": draft.confidence_name if draft else "",
        "support_scope": outcome.conflict.support_scope if outcome.conflict else "cited_evidence_only",
        "same_key_sources_checked": outcome.conflict.same_key_sources_checked if outcome.conflict else 0,
        "policy_rev": outcome.policy_rev,
        "visible_sha256": visible.sha256,
        "manifest_sha256s": [base.sha256 for base in visible.served],
        "degraded": list(draft.degraded) if draft else [],
        "timings_ms": outcome.timings_ms,
        "principals": sorted(outcome.grant.principals),
    }


def _place(outcome: Outcome, chunk_id: str) -> uuid.UUID:
    return outcome.gathered.visible.chunks[uuid.UUID(chunk_id)].place_id


def _evidence_row(common: dict[str, Any], outcome: Outcome, passage: Passage) -> EvidenceRow:
    return EvidenceRow(
        **common,
        n=passage.n,
        revision_chunk_id=_place(outcome, passage.chunk_id),
        document_id=uuid.UUID(passage.document_id),
        text_sha256=passage.text_sha256,
        score_dense_cosine=passage.scores.dense_cosine,
        score_bm25=passage.scores.bm25,
        score_rrf=passage.scores.rrf,
    )


def _store_claims(common: dict[str, Any], outcome: Outcome) -> dict[str, AnswerClaim]:
    if outcome.draft is None:
        return {}
    states = render_states(outcome.draft.claims, outcome.findings)
    kept = {claim.id for claim in outcome.kept_claims}
    rows = {
        claim.id: AnswerClaim(
            **common, ordinal=ordinal, text=claim.text, markers=list(claim.markers), state=states[claim.id], removed=claim.id not in kept
        )
        for ordinal, claim in enumerate(outcome.draft.claims, start=1)
    }
    AnswerClaim.objects.bulk_create(rows.values())
    return rows


def _support_rows(common: dict[str, Any], outcome: Outcome, claims: dict[str, AnswerClaim]) -> list[Citation]:
    by_number = {passage.n: passage for passage in outcome.passages}
    rows = []
    for claim in outcome.kept_claims:
        for span in claim.spans:
            passage = by_number[span.n]
            quote = passage.text[span.start : span.end]
            rows.append(
                Citation(
                    **common,
                    n=span.n,
                    role="support",
                    claim=claims[claim.id],
                    revision_chunk_id=_place(outcome, passage.chunk_id),
                    document_id=uuid.UUID(passage.document_id),
                    locator=passage.locator,
                    span_start=passage.span_start + span.start,
                    span_end=passage.span_start + span.end,
                    text_sha256=sha256_hex(quote),
                    chunk_sha256=passage.text_sha256,
                    support_type="verbatim" if outcome.draft and outcome.draft.mode != "llm" else "entailed",
                    state=claims[claim.id].state,
                    quote=quote,
                )
            )
    return rows


def _side_rows(common: dict[str, Any], outcome: Outcome) -> list[Citation]:
    """Both sides of a conflict; numbered from 1, since an abstention has no other citations."""
    if outcome.conflict is None or outcome.verdict.reason != "conflicting_evidence":
        return []
    chunk_sha = {passage.chunk_id: passage.text_sha256 for passage in outcome.wide}
    return [
        Citation(
            **common,
            n=n,
            role="side",
            revision_chunk_id=_place(outcome, side.chunk_id),
            document_id=uuid.UUID(side.document_id),
            locator=side.locator,
            span_start=side.span_start,
            span_end=side.span_end,
            text_sha256=sha256_hex(side.quote),
            chunk_sha256=chunk_sha.get(side.chunk_id, sha256_hex(side.quote)),
            support_type="verbatim",
            state="ok",
            quote=side.quote,
        )
        for n, side in enumerate(outcome.conflict.sides, start=1)
    ]


def _located(grant: Grant, rows: list[Citation]) -> list[Citation]:
    """The lines of the cited span itself, not of the whole chunk."""
    spans = [(row.revision_chunk_id, row.span_start, row.span_end) for row in rows]
    for row, locator in zip(rows, documents.locate_spans(grant=grant, spans=spans), strict=True):
        row.locator = locator
    return rows


def _finding_rows(common: dict[str, Any], outcome: Outcome) -> list[FindingRow]:
    ordinals = {claim.id: ordinal for ordinal, claim in enumerate(outcome.draft.claims, start=1)} if outcome.draft else {}
    return [
        FindingRow(
            **common,
            claim_ordinal=ordinals.get(finding.claim_id),
            n=finding.n,
            layer=finding.layer,
            outcome=finding.outcome,
            detail=finding.detail[:120],
            score=finding.score,
        )
        for finding in outcome.findings
    ]
