"""Sentences for people about access and its reasons; codes stay in the api."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenants.api.explain import AccessExplanation, AccessStep

REFUSALS: Final = {
    "readers_unknown": gettext_noop("No readers were known for it, which means nobody."),
    "nobody_reads": gettext_noop("It had readers set to nobody."),
    "not_a_reader": gettext_noop("None of its readers was this person, a group or unit of theirs, or a role they held."),
    "clearance_too_low": gettext_noop("It is kept more closely than the person's clearance allowed."),
    "purpose_unnamed": gettext_noop("It is restricted and names no purpose, so nobody can state it."),
    "purpose_differs": gettext_noop("It is restricted to another purpose than the one stated."),
    "not_active": gettext_noop("The account could not be used then."),
    "tenant_suspended": gettext_noop("The tenant was suspended then."),
}


def say_verdict(told: AccessExplanation, name: str) -> str:
    """One sentence: who, what, when, and yes or no."""
    words = {"person": told.user_name, "what": name, "when": f"{told.at:%Y-%m-%d %H:%M} UTC" if told.at else ""}
    if told.at is None:
        return (_("%(person)s may read %(what)s.") if told.is_allowed else _("%(person)s may not read %(what)s.")) % words
    return (_("%(person)s could read %(what)s on %(when)s.") if told.is_allowed else _("%(person)s could not read %(what)s on %(when)s.")) % words


def say_reasons(told: AccessExplanation) -> list[str]:
    """Why: the chain, or every refusal; then what was asked of a reader."""
    lines = [_(REFUSALS[code]) for code in told.refusals] or [say_entrance(told.user_name, told.through, told.chain)]
    if told.sensitivity is not None and told.clearance is not None:
        lines.append(_("Kept as %(level)s; the person's clearance: %(clearance)s.") % {
            "level": told.sensitivity.name.lower(), "clearance": told.clearance.name.lower()})  # fmt: skip
    if told.purpose:
        lines.append(_("A reader has to state the purpose “%s”.") % told.purpose)
    if told.assigned_from is not None:
        readers = ", ".join(name for _principal, name in told.readers) or _("nobody")
        lines.append(_("Readers since %(since)s: %(readers)s.") % {"since": f"{told.assigned_from:%Y-%m-%d %H:%M} UTC", "readers": readers})
    return lines


def say_entrance(person: str, through: str, chain: Sequence[AccessStep]) -> str:
    """How somebody is a reader: by name, as one of everybody, or along the chain."""
    if chain:
        steps = " → ".join(_("%(name)s (%(kind)s, since %(since)s)") % {
            "name": step.name, "kind": step.principal.partition(":")[0], "since": f"{step.since:%Y-%m-%d}"} for step in chain)  # fmt: skip
        return f"{person} → {steps}"
    return _("%s is named as a reader.") % person if through.startswith("user:") else _("Everybody of the tenant is a reader.")
