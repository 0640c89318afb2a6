"""The retrieval policy in force, and the revisions that caches of the visible set are keyed by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.forms.models import model_to_dict

from rag4c.kernel.canonical import digest_of
from retrieval.models import DenyRevision, RetrievalPolicy

if TYPE_CHECKING:
    import uuid

__all__ = ["RetrievalPolicy", "bump_deny_rev", "policy_digest", "read_deny_rev", "retrieval_policy_in_force"]


def retrieval_policy_in_force(tenant_id: uuid.UUID) -> RetrievalPolicy:
    """The tenant's policy; an unsaved version 0 with the defaults when it has set none. Inside a scope."""
    return RetrievalPolicy.objects.order_by("-version").first() or RetrievalPolicy(tenant_id=tenant_id, version=0)


def policy_digest(policy: RetrievalPolicy) -> str:
    """Digest of every number that decides."""
    return digest_of(model_to_dict(policy, exclude=["id", "tenant"]))


def read_deny_rev(tenant_id: uuid.UUID) -> int:
    """Raised by every takedown; inside a scope."""
    row = DenyRevision.objects.filter(tenant_id=tenant_id).first()
    return row.rev if row else 0


def bump_deny_rev(tenant_id: uuid.UUID) -> None:
    """Effective for the next query of every process."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_denyrevision (tenant_id, rev) VALUES (%s, 1) ON CONFLICT (tenant_id) DO UPDATE SET rev = retrieval_denyrevision.rev + 1",
            [tenant_id],
        )
