"""The answer policy in force, and the one digest of every number that decides an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.forms.models import model_to_dict

from rag4c.kernel.canonical import digest_of
from verification.models import AnswerPolicy
from verification.rules.contract import AnswerThresholds

if TYPE_CHECKING:
    import uuid

    from retrieval.models import RetrievalPolicy

__all__ = ["answer_policy_in_force", "policy_rev_of", "thresholds_of"]


def answer_policy_in_force(tenant_id: uuid.UUID) -> AnswerPolicy:
    """The tenant's policy; an unsaved version 0 with the defaults when it has set none. Inside a scope."""
    return AnswerPolicy.objects.order_by("-version").first() or AnswerPolicy(tenant_id=tenant_id, version=0)


def thresholds_of(policy: AnswerPolicy, retrieval_policy: RetrievalPolicy) -> AnswerThresholds:
    """Both policies as the decision reads them."""
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


def policy_rev_of(policy: AnswerPolicy, retrieval_rev: str) -> str:
    """Digest of the answer policy together with the retrieval policy's."""
    return digest_of({"answer": model_to_dict(policy, exclude=["id", "tenant"]), "retrieval": retrieval_rev})
