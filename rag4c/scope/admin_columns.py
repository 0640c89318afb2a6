"""Columns that many lists have: a link, a person, a time, a digest, a state. All take the row as Django's callables of `list_display` do."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from rag4c.kernel import clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.db.models import Model

    Column = Callable[[Any], Any]

NONE: Final = "–"
STATE_SHAPES: Final = {
    "good": ("✓", "success"),
    "busy": ("◐", "info"),
    "waits": ("○", "plain"),
    "bad": ("✕", "danger"),
    "odd": ("!", "warning"),
    "gone": ("–", "plain"),
}
# states come from machines that know no languages; here so that the catalogue keeps them
_STATES: Final = (
    gettext_noop("pending"), gettext_noop("approved"), gettext_noop("executing"), gettext_noop("executed"), gettext_noop("failed"),
    gettext_noop("rejected"), gettext_noop("expired"), gettext_noop("superseded"), gettext_noop("cancelled"), gettext_noop("open"),
    gettext_noop("claimed"), gettext_noop("snoozed"), gettext_noop("resolved"), gettext_noop("waiting"), gettext_noop("running"),
    gettext_noop("done"), gettext_noop("attention"), gettext_noop("applied"), gettext_noop("stale"), gettext_noop("withdrawn"),
    gettext_noop("overdue"), gettext_noop("confirmed"), gettext_noop("disputed"), gettext_noop("no approval needed"),
    gettext_noop("needs a second person"), gettext_noop("needs approvals in stages"),
)  # fmt: skip


def say_state(row: Any, field: str = "state") -> str:
    """The state of a row as its readers say it."""
    return _(str(getattr(row, f"get_{field}_display")()))


def link_to(obj: Model | None, text: str = "") -> str:
    """A link to another object's page; a dash when there is none."""
    if obj is None:
        return NONE
    address = reverse(f"admin:{obj._meta.app_label}_{obj._meta.model_name}_change", args=[obj.pk])
    return format_html('<a class="scoped-link" href="{}">{}</a>', address, text or str(obj))


def short_digest(digest: str) -> str:
    """Eight characters, with the whole on hover."""
    return format_html('<code title="{}">{}</code>', digest, digest[:8]) if digest else NONE


def state_label(text: Any, kind: str) -> str:
    """A state by text, shape and colour."""
    shape, colour = STATE_SHAPES[kind]
    return format_html('<span class="scoped-state scoped-{}"><span aria-hidden="true">{}</span> {}</span>', colour, shape, text)


def show_time(at: datetime | None) -> str:
    """How long ago or ahead, with the exact time on hover."""
    if at is None:
        return NONE
    now = clock.now()
    text = _("in %s") % timeuntil(at, now) if at > now else _("%s ago") % timesince(at, now)
    if 0 <= (now - at).total_seconds() < 60:
        text = _("just now")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S UTC"), text)


def _column(path: str, label: Any, show: Column, *, is_ordered: bool = True) -> Column:
    def column(row: Any) -> Any:
        return show(reduce(lambda value, name: getattr(value, name, None), path.split("__"), row))

    column.__name__ = path
    column.short_description = label  # type: ignore[attr-defined]
    if is_ordered:
        column.admin_order_field = path  # type: ignore[attr-defined]
    return column


def link_column(path: str, label: Any) -> Column:
    return _column(path, label, link_to, is_ordered=False)


def when_column(path: str, label: Any) -> Column:
    return _column(path, label, show_time)


def digest_column(path: str, label: Any) -> Column:
    return _column(path, label, short_digest, is_ordered=False)


def person_column(path: str, label: Any) -> Column:
    """The display name of an actor's ref; the admin class names the column in `people`."""

    def column(row: Any) -> str:
        return str(getattr(row, f"{path}_name", None) or getattr(row, path))

    column.__name__ = path
    column.short_description = label  # type: ignore[attr-defined]
    return column
