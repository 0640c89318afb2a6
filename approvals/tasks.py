"""Approvals by Celery: ids in, words out. The request row is the truth; the sweep finds what a lost message left."""

from __future__ import annotations

from typing import Final

from celery import shared_task

from approvals import api
from approvals.models import ApprovalRequest
from rag4c.scope.tasks import ScopedTask

HINT_S: Final = 60  # a sweep's message: later sweeps send it again


class RequestTask(ScopedTask):
    abstract = True
    model = ApprovalRequest


@shared_task(base=RequestTask)
def advance_request(tenant_id: str, request_id: str) -> str:
    return api.advance_request(tenant_id=tenant_id, request_id=request_id)


@shared_task
def sweep_approvals() -> int:
    due = api.find_due_approvals()
    for tenant_id, request_id in due:
        advance_request.apply_async((tenant_id, request_id), expires=HINT_S)
    return len(due)
