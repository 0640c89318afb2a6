"""The ingest job: claims with lease and fence, results that name their fence, errors that keep the reason (GOV-F1 to F9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import connection, transaction
from django.db.models import Q

from documents.api.policies import ingest_policy_in_force
from documents.hints import hint_job
from documents.models import IngestJob
from documents.states import INGEST_JOB, RUNNING
from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Conflict
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.dbtime import ClockTimestamp, after, plus_one
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

__all__ = ["Claim", "claim_step", "count_jobs", "defer_step", "fail_job", "find_due_jobs", "keep_lease", "move_on", "retry_job"]
_ENTRY: Final = {"parsing": "waiting", "splitting": "splitting", "indexing": "indexing"}
RETRY_S: Final = 10


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write one step's result. stop_at: monotonic seconds at which the holder stops by itself (two thirds of the lease)."""

    tenant_id: uuid.UUID
    job_id: uuid.UUID
    revision_id: uuid.UUID
    step: str
    fence: int
    settings_digest: str
    stop_at: float
    lease_s: int

    @property
    def is_late(self) -> bool:
        """Whether two thirds of the lease are over (GOV-F3)."""
        return clock.monotonic() >= self.stop_at


def claim_step(*, tenant_id: uuid.UUID, job_id: uuid.UUID, step: str) -> Claim | None:
    """Take a step whose job is ready for it, or whose holder's lease is over. None: somebody else has it, or it is done.

    The fence grows at every claim (GOV-F2); the attempt is counted before work, one too many quarantines (GOV-F9).
    """
    with scope(system_actor(tenant_id).grant):
        policy = ingest_policy_in_force(tenant_id)
        free = Q(lease_until__isnull=True) | Q(lease_until__lt=ClockTimestamp())
        ready = IngestJob.objects.filter(free, pk=job_id, state__in={_ENTRY[step], step})
        fp(f"ingest.{step}.claim.before")
        if not ready.update(
            state=step,
            fence=plus_one("fence"),
            attempts=plus_one("attempts"),
            lease_until=after(timedelta(seconds=policy.lease_s)),
            progressed_at=ClockTimestamp(),
        ):
            return None
        job = IngestJob.objects.get(pk=job_id)
        claim = Claim(
            tenant_id, job_id, job.revision_id, step, job.fence, job.settings_digest, clock.monotonic() + policy.lease_s * 2 / 3, policy.lease_s
        )
        if job.attempts > policy.max_attempts:
            fail_job(
                claim, reason="quarantined", code="too_many_attempts", message=f"The step {step} did not finish in {policy.max_attempts} attempts."
            )
            return None
    fp(f"ingest.{step}.claim.after")
    return claim


def _write(claim: Claim, **changes: Any) -> None:
    """The only way a step writes to its job: 0 rows means that another holder took over, and nothing of ours counts."""
    if not IngestJob.objects.filter(pk=claim.job_id, fence=claim.fence, state=claim.step).update(progressed_at=ClockTimestamp(), **changes):
        raise Conflict("fence_lost", "Another worker took this step over.", {"job": str(claim.job_id), "fence": claim.fence})


def keep_lease(claim: Claim, *, chunks_embedded: int) -> Claim:
    """Progress proves life (GOV-F4): renew the lease together with the count. Returns the claim with its new stop. Raises: Conflict("fence_lost")."""
    stop_at = clock.monotonic() + claim.lease_s * 2 / 3
    with scope(system_actor(claim.tenant_id).grant):
        _write(claim, chunks_embedded=chunks_embedded, lease_until=after(timedelta(seconds=claim.lease_s)))
    return replace(claim, stop_at=stop_at)


def move_on(claim: Claim, target: str, **changes: Any) -> None:
    """Write the step's result and go one step forward; inside the transaction of the result. Raises: Conflict("fence_lost" | "state_move_refused")."""
    INGEST_JOB.check(claim.step, target)
    _write(claim, state=target, attempts=0, lease_until=None, **changes)


def fail_job(claim: Claim, *, reason: str, code: str, message: str) -> None:
    """End the job in error(reason); its revision is never served. Raises: Conflict("fence_lost")."""
    actor = system_actor(claim.tenant_id)
    with scope(actor.grant), transaction.atomic():
        _write(claim, state="error", error_reason=reason, error_code=code[:60], error_message=message[:300], lease_until=None)
        ledger.record(actor, "revision.failed", subject=("revision", claim.revision_id), data={"reason": reason, "code": code[:60]})


def defer_step(claim: Claim) -> None:
    """A transient fault: the lease ends soon, the sweep tries again; the attempt stays counted. Raises: Conflict("fence_lost")."""
    with scope(system_actor(claim.tenant_id).grant):
        _write(claim, lease_until=after(timedelta(seconds=RETRY_S)))


def retry_job(*, actor: Actor, job_id: uuid.UUID) -> None:
    """A person's explicit new attempt at a job in error. Raises: Denied("not_allowed"), Absent("job"), Conflict("state_move_refused")."""
    check_permission(actor, "job.retry")
    with scope(actor.grant), transaction.atomic():
        job = IngestJob.objects.select_for_update().filter(pk=job_id).first()
        if job is None:
            raise Absent("job", "There is no such job.")
        INGEST_JOB.check(job.state, "waiting")
        IngestJob.objects.filter(pk=job_id).update(
            state="waiting", error_reason="", error_code="", error_message="", attempts=0, lease_until=None, progressed_at=ClockTimestamp()
        )
        ledger.record(actor, "job.retried", subject=("job", job_id))
        transaction.on_commit(lambda: hint_job(str(actor.tenant_id), str(job_id)))


def count_jobs(*, actor: Actor, knowledge_base_id: uuid.UUID | None = None) -> dict[str, int]:
    """Jobs by what a person wants to know: queued, running, stuck, completed, error. Stuck is derived: running, but its lease is over (R13)."""
    with scope(actor.grant):
        jobs = (
            IngestJob.objects.visible_to(actor.grant)
            if knowledge_base_id is None
            else IngestJob.objects.filter(revision__document__knowledge_base_id=knowledge_base_id)
        )
        in_work = jobs.filter(state__in=[state for state in RUNNING if state != "waiting"])
        return {
            "queued": jobs.filter(state="waiting").count(),
            "running": in_work.filter(Q(lease_until__isnull=True) | Q(lease_until__gte=ClockTimestamp())).count(),
            "stuck": in_work.filter(lease_until__lt=ClockTimestamp()).count(),
            "completed": jobs.filter(state="completed").count(),
            "error": jobs.filter(state="error").count(),
        }


def find_due_jobs(limit: int = 500) -> list[tuple[str, str]]:
    """(tenant, job) pairs that wait or whose lease is over, over all tenants. Only under the system login."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id::text, job_id::text FROM rag4c_due_jobs(%s)", [limit])
        return [(row[0], row[1]) for row in cursor.fetchall()]
