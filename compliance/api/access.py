"""Who read a document: by itself, or through an answer that cites it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from verification import api as verification

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

    from rag4c.kernel.grant import Actor

__all__ = ["Reading", "who_read"]
MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One person at one time. how: the event's code. through: id of the answer or page, empty for neither."""

    at: datetime
    who: str
    channel: str
    how: str
    through: str
    event_id: uuid.UUID


def who_read(
    *, actor: Actor, document_id: uuid.UUID, since: datetime | None = None, until: datetime | None = None, limit: int = MOST
) -> list[Reading]:
    """The readings of a document, newest first. Asking is itself recorded (GOV-U13).

    An answer counts when the document was among what its reader was shown then. until: exclusive.
    Raises: Denied("not_allowed").
    """
    check_permission(actor, "ledger.read")
    answers = verification.list_answers_citing(actor=actor, document_id=document_id)
    with scope(actor.grant):
        rows = ledger.list_readings(document_id=document_id, answer_ids=answers, since=since, until=until, limit=min(limit, MOST))
        ledger.record(actor, "audit.read", subject=("document_readers", document_id))
    readings = []
    for row in rows:
        data = json.loads(bytes(row.canonical))["data"]
        if str(document_id) in data.get("documents", [str(document_id)]):
            through = row.subject_id if row.subject_kind == "answer" else str(data.get("answer") or data.get("id") or "")
            readings.append(Reading(row.at, row.actor, row.channel, row.code, through, row.pk))
    return readings
