"""Pages beyond lists and fields: what a request's page shows, and the simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from approvals import api
from approvals.models import Comment
from rag4c.kernel.errors import DomainError
from rag4c.scope import gate
from rag4c.scope.admin import person_name
from rag4c.scope.admin_columns import state_label
from rag4c.scope.views import actor_of
from tenants import api as tenants

if TYPE_CHECKING:
    from django.http import HttpRequest

    from approvals.api import RequestView
    from approvals.models import ApprovalRequest

STANDINGS = {
    "pending": "waits", "approved": "busy", "executing": "busy", "executed": "good", "failed": "bad", "rejected": "bad", "expired": "gone",
    "superseded": "gone", "cancelled": "gone", "blocked": "odd",
}  # fmt: skip
OPEN = {"pending", "approved", "executing", "blocked"}


def say_standing(standing: str) -> str:
    """By text, shape and colour."""
    words = {
        "pending": _("waits for votes"), "approved": _("approved, runs soon"), "executing": _("runs now"), "executed": _("done"),
        "failed": _("approved, but refused when it ran"), "rejected": _("rejected"), "expired": _("expired"), "superseded": _("superseded by an edit"),
        "cancelled": _("cancelled"), "blocked": _("blocked: nobody there can approve"),
    }  # fmt: skip
    return state_label(words[standing], STANDINGS[standing])


def request_context(request: HttpRequest, row: ApprovalRequest) -> dict[str, Any]:
    """The diff of exactly what will run, votes with both identities, comments, and why it has not run. Inside the page's scope."""
    actor = actor_of(request)
    comments = Comment.objects.filter(request=row).annotate(author_name=person_name("author")).order_by("written_at", "pk")
    view = api.read_request(actor=actor, request_id=row.pk)
    return {
        "view": view,
        "is_open": view.standing in OPEN,
        "told": say_headline(view),
        "standing": say_standing(view.standing),
        "lines": api.describe_request(actor=actor, request_id=row.pk),
        "votes": api.list_votes(actor=actor, request_id=row.pk),
        "obstacles": api.why_blocked(actor=actor, request_id=row.pk),
        "comments": comments,
    }


def say_headline(view: RequestView) -> str:
    stage = _("stage %(stage)d of %(stages)d") % {"stage": view.stage, "stages": max(view.stages, view.stage)}
    asked = _("%(who)s asks for %(action)s since %(since)s") % {
        "who": view.requester_name, "action": view.action, "since": view.submitted_at.strftime("%Y-%m-%d %H:%M")}  # fmt: skip
    until = _(", until %s UTC") % view.expires_at.strftime("%Y-%m-%d %H:%M") if view.expires_at else ""
    return f"{asked}: {stage}{until}."


def show_simulation(model_admin: Any, request: HttpRequest) -> TemplateResponse:
    """`?action=&username=`: who would have to approve this if that person asked now."""
    actor, action, username = actor_of(request), request.GET.get("action", ""), request.GET.get("username", "").strip()
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Who would have to approve this?"),
        "opts": model_admin.opts,
        "actions": sorted(gate.REGISTRY),
        "action": action,
        "username": username,
    }
    try:
        user_id = tenants.find_user(actor=actor, username=username) if username else None
        context["simulation"] = api.simulate(actor=actor, action=action, requester_id=user_id) if action else None
    except DomainError as error:
        context["fault"] = f"{error.message} ({error.code})"
    return TemplateResponse(request, "admin/approvals/simulate.html", context)
