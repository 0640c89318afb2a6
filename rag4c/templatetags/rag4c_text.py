"""Times and digests as people read them, with the exact value on hover."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from django import template
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from rag4c.kernel import clock

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

register = template.Library()
SHOWN: Final = 8
_DIGEST: Final = re.compile(r"[0-9a-f]{40,64}")
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# sentences of errors that come as values; here so that the catalogue keeps them
_SENTENCES: Final = (
    gettext_noop("There is nothing here for you."),
    gettext_noop("Your roles do not allow this."),
    gettext_noop("Your roles do not allow asking."),
    gettext_noop("Sign in first."),
    gettext_noop("The request was refused."),
    gettext_noop("This page was open for too long. Go back, reload it and try again."),
    gettext_noop("The database does not answer just now; try again in a moment."),
    gettext_noop("Something went wrong on our side; the request id names it in the log."),
)


@register.filter
def ago(when: datetime) -> SafeString:
    """`2 hours ago`; the exact time on hover and for machines."""
    now = clock.now()
    passed = timesince(when, now, depth=1) if (now - when).total_seconds() >= 60 else ""
    words = _("%(time)s ago") % {"time": passed} if passed else _("just now")
    exact = when.isoformat(timespec="seconds")
    return format_html('<time datetime="{}" title="{}">{}</time>', exact, exact.replace("T", " "), words)


@register.filter
def digest(value: object) -> SafeString:
    """A digest or id in short, the whole on hover and for copying; any other value as it is."""
    text = str(value)
    if _DIGEST.fullmatch(text):
        return format_html('<code class="digest" title="{}" data-copy="{}">{}</code>', text, text, text[:SHOWN])
    if _ID.fullmatch(text):  # the end: ids of one time begin alike
        return format_html('<code class="digest" title="{}" data-copy="{}">{}</code>', text, text, text[-SHOWN:])
    return format_html("{}", text)
