"""Deliveries by broker message, and the sweep that finds those whose message was lost."""

from __future__ import annotations

from typing import Final

from celery import shared_task

from rag4c.ledger import api
from rag4c.ledger.models import Delivery
from rag4c.scope.tasks import ScopedTask

HINT_S: Final = 60  # a sweep's message: later sweeps send it again, so a long queue does not fill with repetitions


class DeliveryTask(ScopedTask):
    abstract = True
    model = Delivery


@shared_task(base=DeliveryTask, name="rag4c.ledger.tasks.deliver_event")
def deliver_event(tenant_id: str, delivery_id: str) -> str:
    return api.deliver(tenant_id=tenant_id, delivery_id=delivery_id)


@shared_task(name="rag4c.ledger.tasks.sweep_deliveries")
def sweep_deliveries() -> int:
    due = api.find_due_deliveries()
    for tenant_id, delivery_id in due:
        deliver_event.apply_async((tenant_id, delivery_id), expires=HINT_S)
    return len(due)
