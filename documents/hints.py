"""Telling the workers on commit. The job row is the truth; a broker that is away costs time, not work."""

from __future__ import annotations

from typing import Final

import structlog
from celery import current_app
from kombu.exceptions import OperationalError as BrokerError

log = structlog.get_logger()
INGEST_TASK: Final = "documents.tasks.ingest_job"  # by name: the api does not import the tasks that import it


def hint_job(tenant_id: str, job_id: str) -> None:
    try:
        current_app.send_task(INGEST_TASK, args=[tenant_id, job_id])
    except BrokerError:
        log.warning("job.hint_lost", job=job_id)
