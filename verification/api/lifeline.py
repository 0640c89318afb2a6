"""The Knowledge Lifeline: answer <- claim <- citation <- evidence <- projection <- chunk <- revision <- parse <- document <- source; no step may be missing (SYS-E1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from documents import api as documents
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from verification.api.contract import LifelineStep, LifelineView
from verification.api.reading import find_own_answer
from verification.models import Citation, ContextManifest, EvidenceRow, FindingRow

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor
    from verification.models import AnswerRecord

__all__ = ["read_lifeline"]
ORDER: Final = ("claim_ordinal", "layer", "n")


def read_lifeline(*, actor: Actor, answer_id: uuid.UUID) -> LifelineView:
    """A path for each citation that the reader may still see, each step with what it was checked against. Raises: Absent("answer")."""
    with scope(actor.grant):
        record = find_own_answer(actor, answer_id)
        citations = list(Citation.objects.filter(answer=record).select_related("claim").order_by("n", "span_start"))
        evidence = {row.revision_chunk_id: row for row in EvidenceRow.objects.filter(answer=record)}
        findings = [
            (str(row.claim_ordinal or ""), row.layer, row.outcome, row.detail) for row in FindingRow.objects.filter(answer=record).order_by(*ORDER)
        ]
        manifest = ContextManifest.objects.filter(answer=record).first()
    grant = actor.grant
    readable = retrieval.readable_documents(grant=grant, document_ids=sorted({row.document_id for row in citations}))
    shown = [row for row in citations if row.document_id in readable]
    places = [row.revision_chunk_id for row in shown]
    lineage = documents.read_lineage(grant=grant, place_ids=places)
    checks = documents.check_places(grant=grant, place_ids=places)
    projections = retrieval.read_projections(
        grant=grant, manifest_sha256s=record.manifest_sha256s, chunk_ids=[line.chunk_id for line in lineage.values()]
    )
    paths = []
    for row in shown:
        line = lineage[row.revision_chunk_id]
        found = _found_by(evidence.get(row.revision_chunk_id), projections.get(line.chunk_id))
        paths.append((*_said(row, checks[row.revision_chunk_id]), *found, *_came_from(line)))
    with scope(grant):
        ledger.record(actor, "lifeline.read", subject=("answer", record.pk), data={"documents": sorted(str(key) for key in readable)})
    return LifelineView(record.pk, record.status, record.reason, tuple(paths), tuple(findings), _answered_with(actor, record, manifest))


def _answered_with(actor: Actor, record: AnswerRecord, manifest: ContextManifest | None) -> tuple[tuple[str, str], ...]:
    rows = [("policy", record.policy_rev), ("visible set", record.visible_sha256), ("channel", record.channel_name)]
    if manifest is not None:
        rows.append(("context manifest", manifest.sha256))
    if "manifest.read" in actor.grant.permissions:
        rows += [("published manifest", digest) for digest in record.manifest_sha256s]
    return tuple(rows)


def _said(row: Citation, check: documents.PlaceCheck) -> list[LifelineStep]:
    now = "unchanged against Postgres and the stored original" if not check.reason else f"changed: {check.reason}"
    cited = LifelineStep("citation", f"[{row.n}] {row.quote}", (("locator", row.locator), ("sha256", row.text_sha256)), now)
    if row.claim is None:
        return [cited]
    return [LifelineStep("claim", row.claim.text, (("state", row.claim.state),), "existence, text hash, entailment, answers the question"), cited]


def _found_by(evidence: EvidenceRow | None, projection: retrieval.Projection | None) -> list[LifelineStep]:
    """How the chunk was found: its place and scores in the pack, and its row in the index."""
    steps = []
    if evidence is not None:
        scores = (("dense cosine", evidence.score_dense_cosine), ("BM25", evidence.score_bm25), ("RRF", evidence.score_rrf))
        facts = tuple((name, f"{score:.4f}") for name, score in scores if score is not None)
        steps.append(LifelineStep("evidence", f"[{evidence.n}]", (*facts, ("sha256", evidence.text_sha256))))
    if projection is not None:
        facts = (("embedding space", projection.space), ("analyzer", projection.analyzer))
        steps.append(LifelineStep("projection", projection.model, facts, "vector read back" if projection.has_vector else "vector missing"))
    return steps


def _came_from(line: documents.Lineage) -> list[LifelineStep]:
    return [
        LifelineStep("chunk", line.locator, (("chunk version", str(line.chunk_id)), ("sha256", line.chunk_sha256))),
        LifelineStep(
            "revision", f"revision {line.revision_number}", (("sha256", line.document_sha256), ("added by", line.added_by), ("added", line.added_at))
        ),
        LifelineStep("parse", f"{line.parser} {line.parser_version}", (("text sha256", line.text_sha256), ("media type", line.media_type))),
        LifelineStep("document", line.path, (("id", str(line.document_id)),)),
        LifelineStep("source", line.source_key, (("knowledge base", line.knowledge_base), ("freshness", line.freshness))),
    ]
