"""The rim of every pipeline step: claim, work, and one classifier that decides between Permanent and Transient."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import structlog
from django.db import DataError, IntegrityError

from documents.api.jobs import Claim, claim_step, defer_step, fail_job
from rag4c.kernel.errors import Conflict, DomainError, Permanent, PipelineError, Transient, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["classify", "run_step"]
log = structlog.get_logger()


def classify(error: Exception) -> PipelineError:
    """Permanent when the same input will fail again, else Transient: a bug or an outage is tried again until the attempts are used up."""
    if isinstance(error, PipelineError):
        return error
    if isinstance(error, Unavailable):
        return Transient(error.code, error.message)
    if isinstance(error, DomainError):
        return Permanent(error.code, error.message)
    if isinstance(error, DataError | IntegrityError):
        return Permanent("not_storable", "The database does not accept what was read from this file.")
    return Transient("step_failed", f"The step ended with {type(error).__name__}.")


def run_step(*, tenant_id: str, job_id: str, step: str, work: Callable[[Claim], None]) -> str:
    """Claim the step and do it. Returns `done`, `taken`, `failed`, `later` or `fence_lost`; never raises for a document's own fault.

    Source: GOV-F2, F7, F9; R12 (one bad file stops nobody else).
    """
    claim = claim_step(tenant_id=uuid.UUID(tenant_id), job_id=uuid.UUID(job_id), step=step)
    if claim is None:
        return "taken"
    try:
        work(claim)
    except Conflict as error:
        if error.code != "fence_lost":
            return _end(claim, error)
        log.warning("job.fence_lost", job=job_id, step=step)
        return "fence_lost"
    except Exception as error:  # noqa: BLE001  # the task's rim: recorded on the job, then answered
        return _end(claim, error)
    return "done"


def _end(claim: Claim, error: Exception) -> str:
    kind = classify(error)
    log.warning("job.step_failed", job=str(claim.job_id), step=claim.step, code=kind.code, error=type(error).__name__)
    try:
        if isinstance(kind, Permanent):
            fail_job(claim, reason="failed", code=kind.code, message=kind.message)
            return "failed"
        defer_step(claim)
    except Conflict:
        return "fence_lost"
    return "later"
