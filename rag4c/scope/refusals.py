"""Refused attempts are told at the rims, after the rollback, in a transaction of their own (GOV-U5); wiring hands over who writes them down."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.db import Error
from psycopg_pool import PoolTimeout

from rag4c.kernel.errors import Conflict, Denied, DomainError
from rag4c.scope.manager import has_scope
from rag4c.scope.views import find_actor

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag4c.kernel.grant import Actor

log = structlog.get_logger()
MAX_ACTION: Final = 72  # the code is the action with `.refused`, in a column of 80
_recorder: list[Callable[[Actor, str, str], None]] = []


def install_refusals(record: Callable[[Actor, str, str], None]) -> None:
    """record: (actor, action, error code) -> writes the event in a scope of its own."""
    _recorder[:] = [record]


def note_refusal(actor: Actor | None, action: str, error: Exception | None) -> None:
    """Tell that somebody was refused: Denied, Conflict and Blocked, by a known actor. What is absent or invalid was no attempt at anything.

    Nothing of what was sent is kept but the action and the code. Called inside a scope it does nothing: an outer rim will be asked after the rollback.
    A database that does not answer costs the record, not the answer; that is logged.
    """
    if actor is None or not isinstance(error, Denied | Conflict) or not _recorder or has_scope():
        return
    guarded = error.data.get("action", "")
    name = re.sub(r"[^a-z0-9_.]+", "_", str(guarded or action).lower()).strip("_.")[:MAX_ACTION] or "request"
    try:
        _recorder[0](actor, name, error.code)
    except (Error, PoolTimeout, DomainError) as fault:
        log.error("refusal.unrecorded", action=name, code=error.code, error=type(fault).__name__)


def note_request_refusal(request: Any, error: Exception | None) -> None:
    """As above, for a Django or DRF request: the action is the name of its address."""
    match = getattr(getattr(request, "_request", request), "resolver_match", None)
    note_refusal(find_actor(request), str(getattr(match, "url_name", "") or "request"), error)
