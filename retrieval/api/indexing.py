"""Indexing: embed what has no vector in the space yet, batch by batch, then close the job with counts that were read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from documents import api as documents
from rag4c.kernel import env
from rag4c.kernel.errors import Transient
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.providers.registry import get_embedder
from rag4c.scope.manager import scope
from retrieval import queries
from retrieval.spaces import find_space

if TYPE_CHECKING:
    from documents.api import Claim

__all__ = ["index_job"]


def index_job(tenant_id: str, job_id: str) -> None:
    """Handler of `revision.split`. Idempotent: vectors that are there are not made again.

    Raises: Transient("indexing_unfinished") so that the delivery is repeated; the job keeps its own state and reason.
    Source: SYS-E12, GOV-F2 to F8, R15.
    """
    outcome = documents.run_step(tenant_id=tenant_id, job_id=job_id, step="indexing", work=_embed_revision)
    if outcome == "later":
        raise Transient("indexing_unfinished", "The step will be tried again.")
    if outcome in {"taken", "fence_lost"} and documents.is_job_open(tenant_id=tenant_id, job_id=job_id):
        raise Transient("indexing_unfinished", "Another worker holds the step, or its lease is not over yet.")


def _embed_revision(claim: Claim) -> None:
    """No transaction is held while the model works; a worker past two thirds of its lease stops by itself."""
    embedder = get_embedder(env.read_str("RAG4C_EMBEDDER"))
    grant = system_actor(claim.tenant_id).grant
    chunks = documents.chunks_of_job(claim)
    table = find_space(embedder.space.key).table_name
    with scope(grant):
        missing = queries.find_missing_vectors(table, claim.tenant_id, [chunk.id for chunk in chunks])
    todo = [chunk for chunk in chunks if chunk.id in missing]
    done = 0
    for start in range(0, len(todo), embedder.batch_size):
        if claim.is_late:
            raise Transient("lease_nearly_over", "The worker stopped at two thirds of its lease.")
        batch = todo[start : start + embedder.batch_size]
        fp("index.embed.before")
        vectors = embedder.embed_passages([chunk.index_text for chunk in batch])
        fp("index.embed.after")
        with scope(grant):
            claim = documents.keep_lease(
                claim, chunks_embedded=done + len(batch)
            )  # refused when another worker took over: our vectors are not written
            queries.insert_vectors(table, claim.tenant_id, [chunk.id for chunk in batch], vectors)
            fp("index.batch.commit.before")
        fp("index.batch.commit.after")
        done += len(batch)
    with scope(grant):
        left = queries.find_missing_vectors(table, claim.tenant_id, [chunk.id for chunk in chunks])
    documents.finish_indexing(claim, embedded=done, read_back=len(chunks) - len(left))
