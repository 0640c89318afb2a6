"""The only place that reads the wall clock; tests freeze it here."""

from __future__ import annotations

import contextlib
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_frozen: ContextVar[datetime | None] = ContextVar("rag4c_clock", default=None)


def now() -> datetime:
    """The time in UTC, aware. Leases and expiry use the database's clock instead (GOV-F3, GOV-A11)."""
    return _frozen.get() or datetime.now(UTC)


def monotonic() -> float:
    """Seconds of a clock that never goes back; for durations only."""
    return time.monotonic()


@contextlib.contextmanager
def frozen(at: datetime) -> Iterator[datetime]:
    """Tests: `now()` says `at` inside."""
    token = _frozen.set(at)
    try:
        yield at
    finally:
        _frozen.reset(token)
