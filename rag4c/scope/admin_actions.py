"""The page of an admin action: shows what will happen, asks for what the api takes, calls it once per object and says what came of it.

What needs an approval is offered as a request, with the diff of exactly what would run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import DomainError
from rag4c.scope import gate
from rag4c.scope.admin_parts import actions_for, admin_actor
from rag4c.scope.manager import scope
from rag4c.scope.refusals import note_refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django import forms
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse, HttpResponseBase

    from rag4c.kernel.grant import Actor
    from rag4c.scope.admin_parts import ApiAction

MAX_SELECTED: Final = 200  # ids travel in the address of the page: 41 characters each, servers take 8 to 16 KB
MAX_MESSAGES: Final = 20
ASK: Final = "approval_reason"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call of the api came to. code: empty when it worked. wanted: the action and payload that need an approval first."""

    subject: str
    sentence: str
    code: str = ""
    wanted: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chosen:
    """An object that was selected, read inside the scope, so that it can be shown and acted on after the scope has closed."""

    row: Any
    name: str
    preview: str
    refusal: str


def own_scopes(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Marks a view that opens its scopes itself: the site puts none around it, so that no transaction stays open over calls of the api."""

    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs)

    wrapper.opens_own_scopes = True  # type: ignore[attr-defined]
    return wrapper


def list_actions(request: HttpRequest, model: type[Any]) -> dict[str, tuple[Callable[..., Any], str, str]]:
    """As Django's `get_actions`: each leads to the action's own page."""
    return {
        action.name: (partial(_open_page, action), action.name, str(action.label)) for action in actions_for(request, model) if action.needs_object
    }


def _open_page(action: ApiAction, model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
    keys = list(queryset.order_by("pk").values_list("pk", flat=True)[: MAX_SELECTED + 1])
    if len(keys) > MAX_SELECTED:
        model_admin.message_user(request, _("Select at most %d at once.") % MAX_SELECTED, messages.ERROR)
        return None
    return HttpResponseRedirect(action_url(model_admin, action.name, keys))


def action_url(model_admin: Any, name: str, keys: Sequence[Any] = (), *, origin: str = "") -> str:
    query = urlencode([("id", str(key)) for key in keys] + ([("from", origin)] if origin else []))
    address = reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_act", args=[name])
    return f"{address}?{query}" if query else address


def show_action(model_admin: Any, request: HttpRequest, name: str) -> HttpResponseBase:
    """GET shows what will happen; POST does it, outside any scope of ours, and reports."""
    action = next((action for action in actions_for(request, model_admin.model) if action.name == name), None)
    if action is None or not model_admin.has_view_permission(request):
        raise Http404
    actor = admin_actor(request)
    with scope(actor.grant):
        chosen = _load(model_admin, request, action)
    if action.needs_object and not chosen:
        model_admin.message_user(request, _("Nothing of this list is selected."), messages.WARNING)
        return HttpResponseRedirect(_list_url(model_admin))
    form = action.form(request.POST if request.method == "POST" else None)
    is_valid = request.method == "POST" and form.is_valid()
    rehearsal = _rehearse(action, actor, chosen, form) if is_valid and action.rehearse else None
    if is_valid and (rehearsal is None or rehearsal.token == request.POST.get("rehearsed")):
        reason, items = request.POST.get(ASK, ""), chosen if action.needs_object else [Chosen(None, "", "", "")]
        outcomes = [_call(action, actor, item, form.cleaned_data, reason) for item in items]
        report(request, action, [outcome for outcome in outcomes if not outcome.wanted])
        if any(outcome.wanted for outcome in outcomes):
            with scope(actor.grant):
                return _offer_request(model_admin, request, action, chosen, outcomes).render()
        return HttpResponseRedirect(_next_url(model_admin, request, chosen, outcomes))
    with scope(actor.grant):
        context = {**_context(model_admin, request, action, chosen, form), "rehearsal": rehearsal}
        return TemplateResponse(request, "admin/scoped/action.html", context).render()


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What exactly will happen. token: over the fields and the sentences, so that only what was shown is done."""

    sentences: list[str]
    token: str


def _rehearse(action: ApiAction, actor: Actor, chosen: list[Chosen], form: forms.Form) -> Rehearsal | None:
    """None when a door refuses already: then the call itself tells why."""
    told: list[str] = []
    for item in chosen if action.needs_object else [Chosen(None, "", "", "")]:
        try:
            told += action.rehearse(actor, item.row, form.cleaned_data) if action.rehearse else []
        except DomainError:
            return None
    return Rehearsal(told, digest_of([[name, str(value)] for name, value in sorted(form.cleaned_data.items())] + [told]))


def _load(model_admin: Any, request: HttpRequest, action: ApiAction) -> list[Chosen]:
    if not action.needs_object:
        return []
    keys = []
    for text in (request.POST if request.method == "POST" else request.GET).getlist("id")[:MAX_SELECTED]:
        try:
            keys.append(model_admin.model._meta.pk.to_python(text))
        except ValidationError:
            continue  # no id of ours: as absent as one that is not there
    rows = model_admin.get_queryset(request).filter(pk__in=keys).order_by("pk")
    return [Chosen(row, str(row), str(action.preview(row)), str(action.refusal(row))) for row in rows]


def _call(action: ApiAction, actor: Actor, item: Chosen, fields: dict[str, Any], reason: str) -> Outcome:
    """reason: why an approval is asked for, should one be needed; the door is knocked at again, so that nothing travels through the page."""
    try:
        return Outcome(item.name, action.call(actor, item.row, fields))
    except DomainError as error:
        if error.code != "approval_required" or reason:
            note_refusal(actor, action.name, error)
        if error.code != "approval_required":
            return Outcome(item.name, error.message or _("This was refused."), error.code)
        wanted = error.data
    if not reason:
        return Outcome(item.name, _("This needs an approval."), "approval_required", wanted)
    try:
        gate.submit(actor=actor, action=wanted["action"], payload=wanted["payload"], reason=reason)
    except DomainError as error:
        return Outcome(item.name, error.message, error.code)
    return Outcome(item.name, _("an approval is asked for; the change runs by itself when it is given."))


def _offer_request(
    model_admin: Any, request: HttpRequest, action: ApiAction, chosen: Sequence[Chosen], outcomes: Sequence[Outcome]
) -> TemplateResponse:
    """The page that asks why an approval is wanted. Inside a scope: the diff is read."""
    waiting = [outcome for outcome in outcomes if outcome.wanted]
    keys = [("id", str(item.row.pk)) for item, outcome in zip(chosen, outcomes, strict=bool(chosen)) if outcome.wanted]
    again = [(name, value) for name, values in request.POST.lists() if name not in {"id", ASK, "csrfmiddlewaretoken"} for value in values]
    context = {
        **model_admin.admin_site.each_context(request),
        "title": action.label,
        "opts": model_admin.opts,
        "action": action,
        "waiting": [(outcome.subject, _diff_of(outcome.wanted), outcome.wanted.get("request")) for outcome in waiting],
        "again": again + keys,
        "ask": ASK,
        "back_url": _list_url(model_admin),
    }
    return TemplateResponse(request, "admin/scoped/approval.html", context)


def _diff_of(wanted: dict[str, Any]) -> list[Any]:
    """None of it when the subject is not there yet: then the request is refused with the reason."""
    try:
        return list(gate.find_action(wanted["action"]).describe(wanted["payload"]))
    except DomainError:
        return []


def report(request: HttpRequest, action: ApiAction, outcomes: Sequence[Outcome]) -> None:
    """One message per object: what was done, or the code and the sentence of the refusal."""
    for outcome in outcomes[:MAX_MESSAGES]:
        subject = f"{outcome.subject}: " if outcome.subject else ""
        if outcome.code:
            messages.error(request, f"{subject}{outcome.sentence} ({outcome.code})")
        else:
            messages.success(request, f"{subject}{outcome.sentence}")
    if len(outcomes) > MAX_MESSAGES:
        refused = sum(bool(outcome.code) for outcome in outcomes)
        messages.info(request, _("%(label)s: %(done)d done, %(refused)d refused.") % {
            "label": action.label, "done": len(outcomes) - refused, "refused": refused})  # fmt: skip


def _context(model_admin: Any, request: HttpRequest, action: ApiAction, chosen: list[Chosen], form: forms.Form) -> dict[str, Any]:
    return {
        **model_admin.admin_site.each_context(request),
        "title": action.label,
        "opts": model_admin.opts,
        "action": action,
        "chosen": chosen,
        "form": form,
        "origin": request.GET.get("from", ""),
        "back_url": _list_url(model_admin) if request.GET.get("from") != "object" else _object_url(model_admin, chosen),
    }


def _list_url(model_admin: Any) -> str:
    return reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_changelist")


def _object_url(model_admin: Any, chosen: list[Chosen]) -> str:
    if not chosen:
        return _list_url(model_admin)
    return reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_change", args=[chosen[0].row.pk])


def _next_url(model_admin: Any, request: HttpRequest, chosen: list[Chosen], outcomes: list[Outcome]) -> str:
    """Back to where the button was; a refused creation stays on its page."""
    if not chosen and outcomes[0].code:
        return request.get_full_path()
    return _object_url(model_admin, chosen) if request.POST.get("from") == "object" else _list_url(model_admin)
