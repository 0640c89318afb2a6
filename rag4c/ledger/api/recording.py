"""The door of the ledger: record an event in the business transaction, drive the deliveries that follow."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.db import connection, transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Now, Power
from kombu.exceptions import OperationalError as BrokerError

from rag4c.kernel import clock
from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.errors import Conflict
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.ledger import handlers
from rag4c.ledger.models import Delivery, Event
from rag4c.scope.manager import scope
from rag4c.scope.models import new_id
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence
    from datetime import datetime

    from rag4c.kernel.grant import Actor

__all__ = ["deliver", "events_of", "find_due_deliveries", "list_readings", "record", "record_refusal", "retry_delivery"]
log = structlog.get_logger()
MAX_ATTEMPTS: Final = 8
FIRST_RETRY_S: Final = 5
READINGS: Final = ("answer.read", "audit.read", "citation.read", "document.read", "lifeline.read")  # the access log
GIVEN_UP: Final = "delivery.given_up"


def record(actor: Actor, code: str, *, subject: tuple[str, object], data: dict[str, Any] | None = None) -> uuid.UUID:
    """Write one event into the open transaction, with a Delivery row for each subscribed handler.

    Args: code: `noun.verb_past`. subject: (kind, id). data: ids, codes, digests and numbers; never text or personal data (GOV-U6).
    Raises: TransactionManagementError outside a transaction: an event without its change would be a lie (GOV-U5).
    Source: governance.md "Audit".
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("ledger.record needs the transaction of the change it records")
    kind, key = subject[0], str(subject[1])
    event_id, at = new_id(), clock.now()
    body = {
        "id": str(event_id),
        "tenant": str(actor.tenant_id),
        "at": at.isoformat(),
        "code": code,
        "actor": actor.ref,
        "channel": actor.channel,
        "subject": [kind, key],
        "data": data or {},
    }
    with connection.cursor() as cursor:  # xid and incarnation are filled by the database
        cursor.execute(
            "INSERT INTO ledger_event (id, tenant_id, at, code, actor, channel, subject_kind, subject_id, canonical) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [event_id, actor.tenant_id, at, code, actor.ref, actor.channel, kind, key, canonical_json(body)],
        )
    for name in handlers.handlers_of(code):
        delivery = Delivery.objects.create(tenant_id=actor.tenant_id, event_id=event_id, event_at=at, code=code, handler=name, subject_id=key)
        transaction.on_commit(_hint(str(actor.tenant_id), str(delivery.pk)))
    return event_id


def record_refusal(actor: Actor, action: str, error_code: str) -> None:
    """Write down that an attempt was refused: `<action>.refused` with the error's code and nothing else, in a transaction of its own (GOV-U5)."""
    with scope(actor.grant):
        record(actor, f"{action}.refused", subject=("action", action), data={"code": error_code})


def _hint(tenant_id: str, delivery_id: str) -> Any:
    def enqueue() -> None:
        from rag4c.ledger.tasks import deliver_event  # tasks import this module

        fp("ledger.enqueue.before")
        try:
            deliver_event.delay(tenant_id, delivery_id)
        except BrokerError:  # the broker is away: the sweep drives the row later
            log.warning("delivery.hint_lost", delivery=delivery_id)

    return enqueue


def deliver(*, tenant_id: str, delivery_id: str) -> str:
    """Call the handler of one pending delivery; attempts are counted before work. Returns `done`, `later`, `attention` or `absent`.

    Handlers are idempotent by the key of what they make, so a second call after a crash changes nothing.
    """
    grant = system_actor(tenant_id).grant
    with scope(grant):
        claimed = Delivery.objects.filter(pk=delivery_id, state="pending", due_at__lte=Now()).update(
            attempts=F("attempts") + 1, due_at=Now() + _wait_before_next()
        )
        delivery = Delivery.objects.filter(pk=delivery_id).first() if claimed else None
    if delivery is None:
        return "absent"
    handler = handlers.find_handler(delivery.code, delivery.handler)
    if handler is None or delivery.attempts > MAX_ATTEMPTS:
        return _close(tenant_id, delivery_id, "attention", delivery.code)
    fp("ledger.deliver.before")
    handler(tenant_id, delivery.subject_id)
    fp("ledger.deliver.after")
    return _close(tenant_id, delivery_id, "done")


def _wait_before_next() -> Any:
    """5 s, 10 s, 20 s … 10 min 40 s: about 21 minutes in all, so that the lease of a killed worker runs out before we give up."""
    return ExpressionWrapper(Value(timedelta(seconds=FIRST_RETRY_S)) * Power(Value(2.0), F("attempts")), output_field=DurationField())


def _close(tenant_id: str, delivery_id: str, state: str, code: str = "") -> str:
    """A delivery that is given up is an event, so that somebody hears of it; one about that event is not, or there would be no end."""
    actor = system_actor(tenant_id)
    with scope(actor.grant):
        is_closed = Delivery.objects.filter(pk=delivery_id, state="pending").update(state=state)
        if is_closed and state == "attention" and code != GIVEN_UP:
            record(actor, GIVEN_UP, subject=("delivery", delivery_id))
    return state


def retry_delivery(*, actor: Actor, delivery_id: uuid.UUID | str) -> None:
    """Start a delivery again that was given up. Raises: Denied("not_allowed"), Conflict("delivery_not_given_up")."""
    check_permission(actor, "job.retry")
    with scope(actor.grant):
        given_up = Delivery.objects.filter(pk=delivery_id, state="attention")
        if not given_up.update(state="pending", attempts=0, due_at=Now()):
            raise Conflict("delivery_not_given_up", "This delivery was not given up; nothing is to be started again.")
        record(actor, "delivery.retried", subject=("delivery", delivery_id))
        transaction.on_commit(_hint(str(actor.tenant_id), str(delivery_id)))


def find_due_deliveries(limit: int = 500) -> list[tuple[str, str]]:
    """(tenant, delivery) pairs that are due, over all tenants. Only under the system login."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id::text, delivery_id::text FROM rag4c_due_deliveries(%s)", [limit])
        return [(row[0], row[1]) for row in cursor.fetchall()]


def events_of(subject_kind: str, subject_id: object, limit: int = 50) -> list[Event]:
    """The latest changes of one subject, newest first, without its readings; inside a scope."""
    return list(Event.objects.filter(subject_kind=subject_kind, subject_id=str(subject_id)).exclude(code__in=READINGS)[:limit])


def list_readings(*, document_id: object, answer_ids: Sequence[object], since: datetime | None, until: datetime | None, limit: int) -> list[Event]:
    """Readings of a document by itself or through one of these answers, newest first; inside a scope. until: exclusive."""
    about = Q(subject_kind="document", subject_id=str(document_id)) | Q(subject_kind="answer", subject_id__in=[str(key) for key in answer_ids])
    rows = Event.objects.filter(about, code__in=READINGS)
    if since is not None:
        rows = rows.filter(at__gte=since)
    if until is not None:
        rows = rows.filter(at__lt=until)
    return list(rows[:limit])
