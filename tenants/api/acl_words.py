"""A change of readers in sentences: who gains, who loses, what it is about. Told from the payload that is hashed, so that people see what they approve."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from rag4c.kernel.grant import EVERYONE, Sensitivity
from tenants.api.acl_drafts import read_spec
from tenants.api.acl_people import gains_between, load_directory, name_people, name_principals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tenants.acl import AclSpec

__all__ = ["tell_change", "tell_readers"]
PEOPLE_SHOWN: Final = 50


def tell_readers(acl: AclSpec, names: Mapping[str, str] | None = None) -> str:
    """A set in words: readers by name, sensitivity, purpose. Inside a scope. Args: names: of principals, looked up when not given."""
    known = name_principals(acl.principals) if names is None else names
    if not acl.principals:
        return _("nobody")
    readers = ", ".join(sorted(known[name] for name in acl.principals))
    level = Sensitivity(acl.sensitivity).name.lower()
    return f"{readers} ({level}: {acl.purpose})" if acl.purpose else f"{readers} ({level})"


def tell_change(payload: dict[str, Any]) -> list[str]:
    """The payload of a change set, sentence by sentence; names are looked up now, so what is approved holds ids only. Inside a scope."""
    ways = [*payload["revoked_already"], *payload["grants"]]
    specs = {spec for way in ways for spec in (read_spec(way["from"]), read_spec(way["to"]))}
    names = name_principals(name for spec in specs for name in spec.principals)
    told = [_tell_way(_("Taken away at once"), way, names) for way in payload["revoked_already"]]
    if payload["revoked_already"]:
        told.append(_tell_losers(payload["revoked_already"]))
    told += [_tell_way(_("Given"), way, names) for way in payload["grants"]]
    if payload["everyone"]:
        told.append(_("Gains: everyone of the tenant whose clearance suffices."))
    if payload["grants"]:
        told.append(_("Gains by name: %s.") % _names(map(uuid.UUID, payload["gains"])))
    told += [
        _("Members of %(group)s: %(people)s.") % {"group": names.get(name, name), "people": _names(map(uuid.UUID, members))}
        for name, members in payload["members"].items()
        if not name.startswith("user:")
    ]
    return told


def _tell_way(head: str, way: dict[str, Any], names: Mapping[str, str]) -> str:
    count = sum(way["counts"].values())
    shown = ", ".join(way["names"])
    rest = count - len(way["names"])
    about = ngettext("%(n)d object: %(names)s", "%(n)d objects: %(names)s", count) % {"n": count, "names": shown}
    about += _(" and %d more") % rest if rest > 0 else ""
    move = {"old": tell_readers(read_spec(way["from"]), names), "new": tell_readers(read_spec(way["to"]), names)}
    return f"{head}: {about}. " + _("Readers: %(old)s → %(new)s.") % move


def _tell_losers(ways: Sequence[dict[str, Any]]) -> str:
    pairs = [(read_spec(way["from"]), read_spec(way["to"])) for way in ways]
    directory = load_directory(name for source, target in pairs for name in source.principals | target.principals)
    losing: set[uuid.UUID] = set().union(*(gains_between(target, source, directory) for source, target in pairs))
    if any(EVERYONE in source.principals for source, _target in pairs):
        return _("Loses: everyone of the tenant who is not named any more.")
    return _("Loses: %s.") % _names(losing)


def _names(ids: Iterable[uuid.UUID]) -> str:
    wanted = list(ids)
    shown = sorted(name_people(wanted).values())[:PEOPLE_SHOWN]
    rest = len(wanted) - len(shown)
    text = ", ".join(shown) + (_(" and %d more") % rest if rest > 0 else "")
    return text or _("nobody")
