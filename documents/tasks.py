"""Ingest by Celery: ids in, ids out. The job row is the truth; a message is a hint that the sweep repeats."""

from __future__ import annotations

from typing import Final

from celery import shared_task

from documents.api.ingest import parse_revision, split_revision
from documents.api.jobs import find_due_jobs
from documents.api.steps import run_step
from documents.hints import INGEST_TASK
from documents.models import IngestJob
from rag4c.scope.tasks import ScopedTask

HINT_S: Final = 60  # a sweep's message: later sweeps send it again, so a long queue does not fill with repetitions that fresh work waits behind


class JobTask(ScopedTask):
    abstract = True
    model = IngestJob


@shared_task(base=JobTask, name=INGEST_TASK)
def ingest_job(tenant_id: str, job_id: str) -> str:
    """Whatever step the job is at; each step claims for itself, so a repeated message does nothing."""
    run_step(tenant_id=tenant_id, job_id=job_id, step="parsing", work=parse_revision)
    return run_step(tenant_id=tenant_id, job_id=job_id, step="splitting", work=split_revision)


@shared_task
def sweep_jobs() -> int:
    due = find_due_jobs()
    for tenant_id, job_id in due:
        ingest_job.apply_async((tenant_id, job_id), expires=HINT_S)
    return len(due)
