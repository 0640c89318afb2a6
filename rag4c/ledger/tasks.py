"""Deliveries by broker message, the sweep that finds those whose message was lost, and the sealer."""

from __future__ import annotations

from typing import Final

from celery import shared_task

from rag4c.ledger import api
from rag4c.ledger.models import Delivery, Event, Seal
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


class SealTask(ScopedTask):
    abstract = True
    model = Seal


class EventTask(ScopedTask):
    abstract = True
    model = Event


@shared_task(base=SealTask, name="rag4c.ledger.tasks.write_checkpoint")
def write_checkpoint(tenant_id: str, event_id: str) -> int:
    return api.write_checkpoint(tenant_id=tenant_id)


@shared_task(base=EventTask, name="rag4c.ledger.tasks.report_delay")
def report_delay(tenant_id: str, event_id: str) -> bool:
    return api.report_delay(tenant_id=tenant_id, event_id=event_id)


@shared_task(name="rag4c.ledger.tasks.seal_events")
def seal_events() -> int:
    sealed = api.seal_all()
    for tenant_id, event_id in api.find_unchecked_chains():
        write_checkpoint.apply_async((tenant_id, event_id), expires=HINT_S)
    for waiting in api.find_waiting():
        if waiting.age_s > api.DELAYED_S:
            report_delay.apply_async((waiting.tenant_id, waiting.event_id), expires=HINT_S)
    return sealed
