"""From a question to an evidence pack: visible set, hybrid search, validation against the truth, gates and planner (answering.md "Gates")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from documents import api as documents
from rag4c.kernel import clock
from rag4c.kernel.grant import Sensitivity
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from retrieval import queries
from retrieval.api.policies import policy_digest, retrieval_policy_in_force
from retrieval.api.searching import ScoredChunk, search_visible
from retrieval.api.visible import VisibleSet, visible_set
from retrieval.context.blocks import Candidate, Permission
from retrieval.context.compose import EvidencePack, Insufficient, compose
from retrieval.context.gates import ValidationOutcome
from retrieval.context.policy import ask, grant_digest
from retrieval.context.settings import Budget, PackSettings, Threshold
from retrieval.lexical.analyzer import ANALYZER_VERSION
from retrieval.models import Manifest, Takedown
from retrieval.spaces import find_space
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from rag4c.kernel.grant import Actor, Grant
    from retrieval.context.policy import ContextQuery
    from retrieval.models import RetrievalPolicy

__all__ = ["Gathered", "Projection", "WideHit", "gather", "look_around", "read_projections", "readable_documents", "search"]


@dataclass(frozen=True, slots=True)
class WideHit:
    """A chunk with its text and scores, in rank order."""

    evidence: documents.EvidenceText
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one question found. `outcome` is the pack, or why there is none. wide: the permitted top `conflict_scan_k`, best first."""

    visible: VisibleSet
    outcome: EvidencePack | Insufficient
    wide: tuple[WideHit, ...]
    hit_count: int
    policy_rev: str
    stale_chunk_ids: tuple[str, ...] = ()
    best_scores: dict[str, float] = field(default_factory=dict)


def gather(*, grant: Grant, question: str, visible: VisibleSet, fact_chunk_ids: Sequence[uuid.UUID] = ()) -> Gathered:
    """Search, read, validate and compose, all under one grant.

    Args: fact_chunk_ids: chunks that hold facts found by key; they lead the pack as kind `fact`, and no similarity threshold concerns them.
    Source: SYS-A7 to A10, SYS-C4 to C7.
    """
    with scope(grant):
        policy = retrieval_policy_in_force(grant.tenant_id)
    rev = policy_digest(policy)
    hits = search_visible(grant=grant, visible=visible, question=question, policy=policy, k=max(policy.conflict_scan_k, policy.evidence_k))
    wide = look_around(grant=grant, visible=visible, hits=hits)
    facts = set(fact_chunk_ids)
    leading = _lead_with(fact_chunk_ids, wide, grant, visible)
    window = [*leading, *(hit for hit in wide if hit.evidence.chunk_id not in facts)][: max(policy.evidence_k * 2, len(leading))]
    candidates, validations = _make_candidates(grant, window, facts)
    settings = _pack_settings(policy, rev, visible)
    outcome = compose(_query(question, grant), grant, candidates, validations, settings)
    return Gathered(
        visible=visible,
        outcome=outcome,
        wide=wide,
        hit_count=len(hits) + len(leading),
        policy_rev=rev,
        stale_chunk_ids=tuple(key for key, check in validations.items() if check.reason),
        best_scores=_best_scores(hits),
    )


def _query(question: str, grant: Grant) -> ContextQuery:
    return ask(question, grant, asked_at=clock.now())


def _best_scores(hits: Sequence[ScoredChunk]) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit in hits:
        for name, score in hit.scores.items():
            best[name] = max(score, best.get(name, score))
    return best


def _pack_settings(policy: RetrievalPolicy, rev: str, visible: VisibleSet) -> PackSettings:
    return PackSettings(
        policy_rev=rev,
        thresholds=(Threshold("dense_cosine", policy.min_dense_cosine), Threshold("bm25", policy.min_bm25)),
        stale="drop" if policy.stale_candidates == "drop" else "refuse_all",
        top_k=policy.evidence_k,
        max_per_document=policy.max_per_document,
        budget=Budget(limit=policy.budget_code_points),
    )


def look_around(*, grant: Grant, visible: VisibleSet, hits: Sequence[ScoredChunk]) -> tuple[WideHit, ...]:
    """The texts behind search hits, in rank order."""
    places = visible.place_ids
    texts = documents.read_evidence(grant=grant, place_ids=[places[hit.chunk_id] for hit in hits])
    scores = {hit.chunk_id: hit.scores for hit in hits}
    return tuple(WideHit(text, scores[text.chunk_id]) for text in texts)


def _lead_with(chunk_ids: Sequence[uuid.UUID], wide: Sequence[WideHit], grant: Grant, visible: VisibleSet) -> list[WideHit]:
    found = {hit.evidence.chunk_id: hit for hit in wide}
    missing = [ScoredChunk(key, {}) for key in chunk_ids if key not in found and key in visible.chunks]
    found |= {hit.evidence.chunk_id: hit for hit in look_around(grant=grant, visible=visible, hits=missing)}
    return [found[key] for key in dict.fromkeys(chunk_ids) if key in found]


def _make_candidates(grant: Grant, window: Sequence[WideHit], facts: set[uuid.UUID]) -> tuple[list[Candidate], dict[str, ValidationOutcome]]:
    """Candidates with the access sets that their documents have now, and what the truth says of each (GOV-B4, SYS-A8)."""
    checks = documents.check_places(grant=grant, place_ids=[hit.evidence.place_id for hit in window])
    with scope(grant):
        acls = queries.load_document_acls(grant.tenant_id, sorted({hit.evidence.document_id for hit in window}))
    readable = {key: acl for key, acl in acls.items() if tenants.satisfies(grant, _spec_of(acl))}  # purpose included, as in the visible set
    candidates = [_candidate(grant, hit, readable.get(hit.evidence.document_id), is_fact=hit.evidence.chunk_id in facts) for hit in window]
    return candidates, {str(hit.evidence.chunk_id): _outcome(checks[hit.evidence.place_id]) for hit in window}


def _spec_of(acl: queries.DocumentAcl) -> tenants.AclSpec:
    return tenants.AclSpec(acl.principals, Sensitivity(acl.sensitivity), acl.purpose)


def _candidate(grant: Grant, hit: WideHit, acl: queries.DocumentAcl | None, *, is_fact: bool) -> Candidate:
    """No access set, or one that the grant does not satisfy now, means nobody: the permission is empty and denies."""
    text = hit.evidence
    return Candidate(
        chunk_id=str(text.chunk_id),
        revision_id=str(text.revision_id),
        document_id=str(text.document_id),
        path=text.path,
        locator=text.locator,
        span_start=text.span_start,
        span_end=text.span_end,
        text=text.text,
        text_sha256=text.content_sha256,
        document_sha256=text.document_sha256,
        permission=Permission(
            tenant_id=grant.tenant_id,
            principals=acl.principals if acl else frozenset(),
            sensitivity=Sensitivity(acl.sensitivity) if acl else Sensitivity.RESTRICTED,
            acl_sha256=acl.digest if acl else "",
        ),
        grant_sha256=grant_digest(grant),
        kind="fact" if is_fact else "rag",
        heading_path=text.heading_path,
        scores=hit.scores,
        chunk_settings_digest=text.settings_digest,
        unsafe_reason=text.unsafe_reason,
    )


def _outcome(check: documents.PlaceCheck) -> ValidationOutcome:
    return ValidationOutcome(
        current_text_sha256=check.text_sha256 or "",
        document_sha256=check.document_sha256 or "",
        live=check.reason != "document_deleted",
        settings_digest=check.settings_digest,
        reason=check.reason,
    )


def search(*, actor: Actor, question: str, knowledge_base_ids: Sequence[uuid.UUID], channel: str, k: int) -> tuple[WideHit, ...]:
    """The k best passages that the actor may see, without any answer. Raises: Denied("not_allowed")."""
    check_permission(actor, "ask")
    grant = actor.grant
    visible = visible_set(grant=grant, knowledge_base_ids=knowledge_base_ids, channel=channel)
    with scope(grant):
        policy = retrieval_policy_in_force(grant.tenant_id)
    return look_around(grant=grant, visible=visible, hits=search_visible(grant=grant, visible=visible, question=question, policy=policy, k=k))


def readable_documents(*, grant: Grant, document_ids: Sequence[uuid.UUID]) -> frozenset[uuid.UUID]:
    """Those of the documents that this grant may read now: access set satisfied, not deleted, not taken down. For reading stored answers again."""
    with scope(grant):
        allowed = tenants.allowed_acl_numbers(grant)
        acls = queries.load_document_acls(grant.tenant_id, document_ids)
        live = documents.list_live(document_ids)
        down = set(Takedown.objects.filter(document_id__in=document_ids, ended_at__isnull=True).values_list("document_id", flat=True))
    return frozenset(key for key in live - down if key in acls and acls[key].number in allowed)


@dataclass(frozen=True, slots=True)
class Projection:
    """Where a chunk version stands in the index. has_vector: read back from the space's table now."""

    space: str
    model: str
    analyzer: str
    has_vector: bool


def read_projections(*, grant: Grant, manifest_sha256s: Sequence[str], chunk_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Projection]:
    """chunk version -> its projection in the space of the manifests that an answer was read from. The caller has permitted the chunks already."""
    with scope(grant):
        spaces = sorted(set(Manifest.objects.filter(sha256__in=list(manifest_sha256s)).values_list("space", flat=True)))
    found: dict[uuid.UUID, Projection] = {}
    for key in spaces:
        space = find_space(key)
        with scope(grant):
            missing = queries.find_missing_vectors(space.table_name, grant.tenant_id, chunk_ids)
        found |= {
            chunk: Projection(key, space.model, ANALYZER_VERSION, chunk not in missing)
            for chunk in chunk_ids
            if chunk not in found or chunk not in missing
        }
    return found
