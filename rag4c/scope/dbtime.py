"""The database's own clock: leases and expiry never trust the clock of a worker (GOV-F3, GOV-A11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import DateTimeField, F, Func, Value

if TYPE_CHECKING:
    from datetime import timedelta

    from django.db.models.expressions import CombinedExpression


class ClockTimestamp(Func):
    """clock_timestamp(): moves on inside a transaction, unlike now()."""

    template = "clock_timestamp()"
    output_field = DateTimeField()


def after(delta: timedelta) -> CombinedExpression:
    """The database's time plus `delta`."""
    return ClockTimestamp() + Value(delta)


def plus_one(column: str) -> Any:
    return F(column) + 1
