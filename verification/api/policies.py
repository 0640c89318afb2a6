"""The answer policy in force, and the one digest of every number that decides an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.forms.models import model_to_dict

from documents import api as documents
from rag4c.kernel.canonical import digest_of
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from verification.models import AnswerPolicy
from verification.rules.contract import AnswerThresholds

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Grant
    from retrieval.api import RetrievalPolicy

__all__ = ["answer_policy_in_force", "read_policies"]


def answer_policy_in_force(tenant_id: uuid.UUID) -> AnswerPolicy:
    """The tenant's policy; an unsaved version 0 with the defaults when it has set none. Inside a scope."""
    return AnswerPolicy.objects.order_by("-version").first() or AnswerPolicy(tenant_id=tenant_id, version=0)


def read_policies(grant: Grant) -> tuple[AnswerThresholds, str]:
    """The thresholds in force, and `policy_rev`: the digest of every number of the ingest, retrieval and answer policies."""
    with scope(grant):
        answer, lookup = answer_policy_in_force(grant.tenant_id), retrieval.retrieval_policy_in_force(grant.tenant_id)
        ingest = documents.ingest_policy_digest(grant.tenant_id)
    digests = {"answer": model_to_dict(answer, exclude=["id", "tenant"]), "retrieval": retrieval.policy_digest(lookup), "ingest": ingest}
    return _thresholds(answer, lookup), digest_of(digests)


def _thresholds(policy: AnswerPolicy, retrieval_policy: RetrievalPolicy) -> AnswerThresholds:
    return AnswerThresholds(
        min_dense_cosine=retrieval_policy.min_dense_cosine,
        min_bm25=retrieval_policy.min_bm25,
        min_confidence=policy.min_confidence,
        min_entailment=policy.min_entailment,
        min_answers=policy.min_answers,
        min_confidence_over_record=policy.min_confidence_over_record,
        max_claims=policy.max_claims,
        stale_candidates=retrieval_policy.stale_candidates,
        allow_unverified=policy.allow_unverified,
    )
