"""One document on its way through the ingest machine, step by step, with workers that can stop, fall asleep and wake."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from documents import api as documents
from documents.api.ingest import parse_revision, split_revision
from documents.api.jobs import claim_step
from documents.api.steps import run_step
from documents.models import ChunkVersion, Fact, IngestJob, IngestPolicy, ParseAttempt, RevisionChunk
from rag4c.scope.dbtime import after
from rag4c.scope.manager import scope
from retrieval import queries
from retrieval.api.indexing import _embed_revision
from retrieval.models import EmbeddingSpace
from tests.builders import event_codes, make_library

if TYPE_CHECKING:
    import uuid

LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n\n## Parental leave\n\nParents get 16 weeks of paid parental leave.\n"
STEPS = ("parsing", "splitting", "indexing")
WORK = {"parsing": parse_revision, "splitting": split_revision, "indexing": _embed_revision}


def queue(kit, text=LEAVE, **policy) -> uuid.UUID:
    """A document that was synced and waits; the id of its job."""
    if policy:
        set_policy(kit, **policy)
    library = make_library(kit, {"leave.md": text})
    documents.sync_source(actor=kit.alice, source_id=library.source_id)
    with scope(kit.system.grant):
        return IngestJob.objects.get().pk


def set_policy(kit, **values) -> None:
    with scope(kit.system.grant):
        IngestPolicy.objects.create(tenant_id=kit.id, version=IngestPolicy.objects.count() + 1, **values)


def claim(kit, job, step):
    """The claim, or None when somebody else has the step or it is not its turn."""
    return claim_step(tenant_id=kit.id, job_id=job, step=step)


def do_step(kit, job, step, work=None) -> str:
    return run_step(tenant_id=str(kit.id), job_id=str(job), step=step, work=work or WORK[step])


def bring_to(kit, job, step) -> None:
    """Do the steps before this one."""
    for earlier in STEPS[: STEPS.index(step)]:
        assert do_step(kit, job, earlier) == "done"


def end_lease(kit, job) -> None:
    """As if the holder had been silent for longer than its lease."""
    with scope(kit.system.grant):
        IngestJob.objects.filter(pk=job).update(lease_until=after(timedelta(seconds=-1)))


def job_row(kit, job):
    with scope(kit.system.grant):
        return IngestJob.objects.get(pk=job)


def stored(kit) -> dict[str, int]:
    """How many rows each step has stored, and the events that tell of it."""
    codes = event_codes(kit)
    with scope(kit.system.grant):
        chunks = list(ChunkVersion.objects.values_list("pk", flat=True))
        vectors = sum(len(chunks) - len(queries.find_missing_vectors(table, kit.id, chunks)) for table in vector_tables())
        return {
            "parses": ParseAttempt.objects.count(),
            "facts": Fact.objects.count(),
            "chunks": RevisionChunk.objects.count(),
            "vectors": vectors,
            "split": codes.count("revision.split"),
            "completed": codes.count("revision.completed"),
        }


def vector_tables() -> list[str]:
    return list(EmbeddingSpace.objects.values_list("table_name", flat=True))
