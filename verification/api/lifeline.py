"""The Knowledge Lifeline: answer <- claim <- citation <- evidence <- chunk <- revision <- parse <- document <- source; no step may be missing (SYS-E1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from documents import api as documents
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from verification.api.contract import LifelineStep, LifelineView
from verification.api.reading import find_own_answer
from verification.models import Citation, ContextManifest, FindingRow

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

__all__ = ["read_lifeline"]


def read_lifeline(*, actor: Actor, answer_id: uuid.UUID) -> LifelineView:
    """A path for each citation that the reader may still see, each step with what it was checked against. Raises: Absent("answer")."""
    with scope(actor.grant):
        record = find_own_answer(actor, answer_id)
        citations = list(Citation.objects.filter(answer=record).select_related("claim").order_by("n", "span_start"))
        readable = retrieval.readable_documents(grant=actor.grant, document_ids=sorted({row.document_id for row in citations}))
        shown = [row for row in citations if row.document_id in readable]
        lineage = documents.read_lineage(grant=actor.grant, place_ids=[row.revision_chunk_id for row in shown])
        checks = documents.check_places(grant=actor.grant, place_ids=[row.revision_chunk_id for row in shown])
        findings = FindingRow.objects.filter(answer=record).order_by("claim_ordinal", "layer", "n")
        manifest = ContextManifest.objects.filter(answer=record).first()
        paths = tuple(_path_of(row, lineage[row.revision_chunk_id], checks[row.revision_chunk_id]) for row in shown)
        rows = tuple((str(row.claim_ordinal or ""), row.layer, row.outcome, row.detail) for row in findings)
    answered_with = [("policy", record.policy_rev), ("visible set", record.visible_sha256), ("channel", record.channel_name)]
    if manifest is not None:
        answered_with.append(("context manifest", manifest.sha256))
    if "manifest.read" in actor.grant.permissions:
        answered_with += [("published manifest", digest) for digest in record.manifest_sha256s]
    return LifelineView(record.pk, record.status, record.reason, paths, rows, tuple(answered_with))


def _path_of(row: Citation, line: documents.Lineage, check: documents.PlaceCheck) -> tuple[LifelineStep, ...]:
    now = "unchanged against Postgres and the stored original" if not check.reason else f"changed: {check.reason}"
    steps = []
    if row.claim is not None:
        steps.append(LifelineStep("claim", row.claim.text, (("state", row.claim.state),), "existence, text hash, entailment, answers the question"))
    steps += [
        LifelineStep("citation", f"[{row.n}] {row.quote}", (("locator", row.locator), ("sha256", row.text_sha256)), now),
        LifelineStep("chunk", line.locator, (("chunk version", str(line.chunk_id)), ("sha256", line.chunk_sha256))),
        LifelineStep(
            "revision", f"revision {line.revision_number}", (("sha256", line.document_sha256), ("added by", line.added_by), ("added", line.added_at))
        ),
        LifelineStep("parse", f"{line.parser} {line.parser_version}", (("text sha256", line.text_sha256), ("media type", line.media_type))),
        LifelineStep("document", line.path, (("id", str(line.document_id)),)),
        LifelineStep("source", line.source_key, (("knowledge base", line.knowledge_base), ("freshness", line.freshness))),
    ]
    return tuple(steps)
