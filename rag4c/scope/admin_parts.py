"""What apps offer to each other's admin pages: actions, links between objects, tiles of the start page, and who may read content.

Registries, because a lower app's page shows what a higher app can do: a document's page offers the takedown of retrieval.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from rag4c.scope.views import actor_of, find_actor

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

    from rag4c.kernel.grant import Actor, Grant


class NoFields(forms.Form):
    """The api asks for nothing besides the object."""


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), min_length=10, max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


def always(obj: Any) -> str:
    """The action is available for every object."""
    return ""


@dataclass(frozen=True, slots=True)
class ApiAction:
    """A button: one call of one api function per selected object.

    Args: permission: shown to actors whose grant has it; the api checks again. call: (actor, object, fields) -> what was done, as a sentence.
    preview: what will happen to this object. refusal: why not now, or an empty text. needs_object: False for a button of the list itself.
    intro: a sentence at the top of the page of a button without objects: what it is for.
    rehearse: (actor, object, fields) -> sentences about exactly what these fields will do, shown before it is done.
    """

    name: str
    label: Any
    permission: str
    call: Callable[[Actor, Any, dict[str, Any]], str]
    preview: Callable[[Any], str]
    form: type[forms.Form] = NoFields
    refusal: Callable[[Any], str] = always
    needs_object: bool = True
    rehearse: Callable[[Actor, Any, dict[str, Any]], list[str]] | None = None
    intro: Any = ""


@dataclass(frozen=True, slots=True)
class Related:
    """A link from an object's page to the list of what belongs to it. lookup: of the target's list, as in its address."""

    label: Any
    target: str
    lookup: str
    value: Callable[[Any], Any] = field(default=lambda obj: obj.pk)


@dataclass(frozen=True, slots=True)
class Tile:
    """A number of the start page, and the list that it counts. is_alarm: more than none is a problem."""

    title: Any
    target: str
    params: str
    is_alarm: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """The first rows of a list, on the start page."""

    title: Any
    target: str
    params: str
    rows: int = 5


ACTIONS: Final[dict[str, list[ApiAction]]] = {}
RELATED: Final[dict[str, list[Related]]] = {}
TILES: Final[list[Tile]] = []
PANELS: Final[list[Panel]] = []
_readable: Final[list[Callable[[Grant], QuerySet[Model, Any]]]] = []
_readings: Final[list[Callable[..., Any]]] = []
_history: Final[list[Callable[[str, Any, int], list[Any]]]] = []


def offer_action(label: str, *actions: ApiAction) -> None:
    """Args: label: `app.Model` whose lists and pages get the buttons."""
    ACTIONS.setdefault(label, []).extend(actions)


def offer_related(label: str, *links: Related) -> None:
    RELATED.setdefault(label, []).extend(links)


def offer_tiles(*tiles: Tile) -> None:
    TILES.extend(tiles)


def offer_panels(*panels: Panel) -> None:
    PANELS.extend(panels)


def install_readable_documents(ids_of: Callable[[Grant], QuerySet[Model, Any]]) -> None:
    """ids_of: the ids of the documents that a grant may read, as a subquery."""
    _readable[:] = [ids_of]


def readable_document_ids(grant: Grant) -> QuerySet[Model, Any] | list[Any]:
    """Without an installed rule nothing is readable."""
    return _readable[0](grant) if _readable else []


def install_history(events_of: Callable[[str, Any, int], list[Any]]) -> None:
    """events_of: (subject kind, id, most) -> events of the ledger, newest first; wiring hands it over, the scope knows no ledger."""
    _history[:] = [events_of]


def history_of(kind: str, key: Any, limit: int) -> list[Any]:
    """Events with `actor`, `code` and `at`; none when no ledger is wired."""
    return _history[0](kind, key, limit) if _history and kind else []


def install_readings(record: Callable[..., Any]) -> None:
    """record: as `ledger.record`; wiring hands it over."""
    _readings[:] = [record]


def note_reading(request: HttpRequest, code: str, subject: tuple[str, Any], data: dict[str, Any]) -> None:
    """That a page with content or audit was opened, in the page's own transaction; ids and digests only."""
    if _readings:
        _readings[0](admin_actor(request), code, subject=subject, data=data)


def admin_actor(request: HttpRequest) -> Actor:
    """The actor as the ledger shall name it: acting through the admin."""
    return replace(actor_of(request), channel="admin")


def may(request: HttpRequest, permission: str) -> bool:
    actor = find_actor(request)
    return actor is not None and permission in actor.grant.permissions


def actions_for(request: HttpRequest, model: type[Model]) -> list[ApiAction]:
    """What this actor's grant allows to do with this model."""
    return [action for action in ACTIONS.get(model._meta.label, []) if may(request, action.permission)]
