"""Admin pages of approvals: the inbox, requests with their diff, policies, delegations, absences and break-glass reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Exists, OuterRef
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import admin_actions, api
from approvals.admin_pages import request_context, say_standing, show_simulation
from approvals.models import Absence, ActionPolicy, ApprovalRequest, BreakGlass, Delegation
from rag4c.kernel import clock
from rag4c.scope.admin import ScopedAdmin, ScopedChangeList
from rag4c.scope.admin_columns import link_column, link_to, person_column, say_state, show_time, state_label, when_column
from rag4c.scope.admin_parts import may
from rag4c.scope.views import actor_of

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

__all__ = ["admin_actions"]  # imported for its registrations


class ViewFilter(admin.SimpleListFilter):
    title = gettext_lazy("which")
    parameter_name = "view"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("inbox", gettext_lazy("need me")), ("mine", gettext_lazy("I asked")), ("open", gettext_lazy("open"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        actor = actor_of(request)
        if self.value() == "inbox":
            return queryset.filter(pk__in=api.needs_of(actor))
        if self.value() == "mine":
            return queryset.filter(requested_by=actor.ref)
        return queryset.filter(state__in=["pending", "approved"]) if self.value() == "open" else queryset


class OpenFilter(admin.SimpleListFilter):
    title = gettext_lazy("review")
    parameter_name = "open"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("missing")), ("no", gettext_lazy("done"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        missing = ["open", "overdue"]
        if self.value() is None:
            return queryset
        return queryset.filter(state__in=missing) if self.value() == "yes" else queryset.exclude(state__in=missing)


class RequestChangeList(ScopedChangeList):
    def get_results(self, request: HttpRequest) -> None:
        """How the rows of this page stand, in as many queries as for one row."""
        super().get_results(request)
        self.result_list = list(self.result_list)
        shown = {view.id: view for view in api.view_rows(actor_of(request), self.result_list)}
        for row in self.result_list:
            row.view = shown[row.pk]


@admin.display(description=gettext_lazy("what"))
def what(row: Any) -> str:
    return f"{row.action}: {row.reason}"[:100]


@admin.display(description=gettext_lazy("stage"))
def stage_of(row: Any) -> str:
    return _("%(stage)d of %(stages)d") % {"stage": row.view.stage, "stages": max(row.view.stages, 1)}


@admin.display(description=gettext_lazy("expires"))
def expires(row: Any) -> str:
    return show_time(row.view.expires_at)


@admin.display(description=gettext_lazy("state"), ordering="state")
def standing(row: Any) -> str:
    return say_standing(row.view.standing)


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(ScopedAdmin[ApprovalRequest]):
    asked_by = person_column("requested_by", gettext_lazy("who asks"))
    list_display = (what, asked_by, when_column("submitted_at", gettext_lazy("since")), stage_of, expires, standing)
    list_filter = (ViewFilter, "state", "action")
    lookups = ("policy__id__exact",)
    people = ("requested_by",)
    fields = ("action", "subject_kind", "subject_id", "subject_rev", "policy", "requested_by", "reason", "submitted_at", "state", "id")
    view_permission = "approval.read"
    subject_kind = "approval"
    change_form_outer_before_template = "admin/approvals/request_head.html"
    empty_text = gettext_lazy("What somebody asked for and others decide. A refused action offers “Request approval”.")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ScopedChangeList]:
        return RequestChangeList

    def headline(self, row: Any) -> str:
        return f"{row.requested_by_name or row.requested_by}: {row.action}, {row.reason}"

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **kwargs: Any) -> HttpResponse:  # type: ignore[override]  # as the base
        context |= request_context(request, kwargs["obj"])
        return super().render_change_form(request, context, **kwargs)


@admin.display(description=gettext_lazy("needs"), ordering="mode")
def needs(policy: ActionPolicy) -> str:
    stages = "; ".join(str(stage) for stage in sorted(policy.stages.all(), key=lambda stage: stage.number))
    return stages or say_state(policy, "mode")


@admin.display(description=gettext_lazy("state"))
def policy_state(policy: Any) -> str:
    return state_label(_("replaced"), "gone") if policy.is_replaced else state_label(_("in force"), "good")


@admin.register(ActionPolicy)
class ActionPolicyAdmin(ScopedAdmin[ActionPolicy]):
    list_display = ("action", "rev", policy_state, needs, person_column("set_by", gettext_lazy("by")), when_column("set_at", gettext_lazy("since")))
    fields = ("action", "rev", policy_state, needs, "review_hours", "set_by", "set_at", "id")  # type: ignore[assignment]  # read-only fields may be callables
    list_filter = ("mode", "action")
    ordering = ("action", "-rev")
    people = ("set_by",)
    view_permission = "policy.manage"
    subject_kind = "policy"
    list_before_template = "admin/approvals/policy_list_head.html"
    empty_text = gettext_lazy("Which guarded action needs whom. Without a row an action is blocked; `rag4c init-db` seeds them.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ActionPolicy]:
        rows: QuerySet[ActionPolicy] = super().get_queryset(request)
        newer = ActionPolicy.objects.filter(action=OuterRef("action"), rev__gt=OuterRef("rev"))
        return rows.prefetch_related("stages").annotate(is_replaced=Exists(newer))

    def headline(self, policy: Any) -> str:
        told = _("%(action)s, revision %(rev)d: %(needs)s.") % {"action": policy.action, "rev": policy.rev, "needs": needs(policy)}
        return told + (" " + _("A newer revision is in force.") if policy.is_replaced else "")

    def get_urls(self) -> list[Any]:
        return [path("simulate/", self.admin_site.admin_view(lambda r: show_simulation(self, r)), name="approvals_simulate"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        offers = api.list_offers(actor=actor_of(request)) if may(request, "policy.manage") else []
        return super().changelist_view(request, {"offers": offers, **(extra_context or {})})


def in_force(row: Any) -> str:
    now = clock.now()
    if row.ended_at or row.valid_to <= now:
        return state_label(_("over"), "gone")
    return state_label(_("in force"), "good") if row.valid_from <= now else state_label(_("begins later"), "waits")


@admin.register(Delegation)
class DelegationAdmin(ScopedAdmin[Delegation]):
    list_display = (
        link_column("delegator", gettext_lazy("from")), link_column("delegate", gettext_lazy("to")), when_column("valid_from", gettext_lazy("begins")),
        when_column("valid_to", gettext_lazy("ends")), "situation",
    )  # fmt: skip
    list_display_links = ("situation",)  # the first column leads to the person
    list_select_related = ("delegator", "delegate")
    view_permission = "approval.read"
    subject_kind = "delegation"
    empty_text = gettext_lazy("Who votes in whose place, from when to when. Use “Delegate my votes” before you are away.")
    situation = admin.display(description=gettext_lazy("state"))(lambda self, row: in_force(row))

    def headline(self, row: Any) -> str:
        return _("%(delegate)s votes in the place of %(delegator)s until %(until)s.") % {
            "delegate": row.delegate, "delegator": row.delegator, "until": row.valid_to.strftime("%Y-%m-%d %H:%M")}  # fmt: skip


@admin.register(Absence)
class AbsenceAdmin(ScopedAdmin[Absence]):
    list_display = (
        link_column("user", gettext_lazy("person")), when_column("valid_from", gettext_lazy("begins")), when_column("valid_to", gettext_lazy("ends")), "situation",
    )  # fmt: skip
    list_display_links = ("situation",)
    list_select_related = ("user",)
    view_permission = "approval.read"
    subject_kind = "absence"
    empty_text = gettext_lazy("Who is away, so that nobody waits in vain. Use “Say that I am away”; a delegation lends the vote.")
    situation = admin.display(description=gettext_lazy("state"))(lambda self, row: in_force(row))

    def headline(self, row: Any) -> str:
        return _("%(who)s is away until %(until)s.") % {"who": row.user, "until": row.valid_to.strftime("%Y-%m-%d %H:%M")}


@admin.register(BreakGlass)
class BreakGlassAdmin(ScopedAdmin[BreakGlass]):
    list_display = (
        "what",
        "situation",
        when_column("review_by", gettext_lazy("review by")),
        person_column("reviewed_by", gettext_lazy("reviewed by")),
    )
    list_display_links = ("situation",)  # the first column leads to the request
    list_select_related = ("request",)
    list_filter = (OpenFilter,)
    people = ("reviewed_by",)
    view_permission = "approval.read"
    empty_text = gettext_lazy("What one person did at once, before an approval; a second person reviews each of them.")

    @admin.display(description=gettext_lazy("what"))
    def what(self, row: Any) -> str:
        return link_to(row.request, f"{row.request.action}: {row.request.reason}"[:100])

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, row: BreakGlass) -> str:
        kind = {"open": "waits", "overdue": "bad", "confirmed": "good", "disputed": "odd"}[row.state]
        return state_label(say_state(row), kind)

    def headline(self, row: Any) -> str:
        return _("%(action)s was done without an approval: %(reason)s") % {"action": row.request.action, "reason": row.request.reason}
