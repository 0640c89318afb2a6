"""Admin pages of compliance: tasks, exports of the ledger, and saved searches. Doing goes through compliance.api alone."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.http import FileResponse, Http404
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compliance import admin_forms, api
from compliance.models import ExportJob, SavedSearch, Task
from rag4c.kernel import clock
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_actions import own_scopes
from rag4c.scope.admin_columns import NONE, digest_column, person_column, say_state, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Panel, Tile, admin_actor, offer_action, offer_panels, offer_tiles
from rag4c.scope.dbtime import ClockTimestamp
from rag4c.scope.views import actor_of

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponseBase

    from rag4c.kernel.grant import Actor

SHAPES = {
    "waiting": "waits",
    "running": "busy",
    "done": "good",
    "failed": "bad",
    "open": "odd",
    "claimed": "busy",
    "snoozed": "waits",
    "resolved": "good",
}
# what happened, as people say it; the code is kept beside it
KINDS = {
    "break_glass.missed": gettext_lazy("A break-glass action was not reviewed in time"),
    "break_glass.used": gettext_lazy("Something was done by break-glass"),
    "delivery.given_up": gettext_lazy("A reaction to an event was given up"),
    "revision.failed": gettext_lazy("A file could not be read"),
    "seal.delayed": gettext_lazy("Sealing of the ledger is late"),
    "support.glass_broken": gettext_lazy("An operator came in by break-glass"),
    "support.visit_refused": gettext_lazy("An operator's visit was refused"),
}
PAGES = {"approval": "approvals_approvalrequest", "delivery": "ledger_delivery", "event": "ledger_event", "revision": "documents_revision",
         "support_session": "tenants_supportsession"}  # fmt: skip
AWAKE = Q(state="open") | Q(state="snoozed", snoozed_until__lte=ClockTimestamp())
LOOKUPS = {"code": "code__exact", "actor": "actor__exact", "channel": "channel__exact", "subject_kind": "subject_kind__exact",
           "subject_id": "subject_id__exact", "since": "at__gte", "until": "at__lt"}  # fmt: skip
offer_tiles(
    Tile(gettext_lazy("Tasks that nobody has taken"), "compliance.Task", "needs=waiting", is_alarm=True),
    Tile(gettext_lazy("Tasks that are mine"), "compliance.Task", "needs=mine"),
    Tile(gettext_lazy("Audit exports being written"), "compliance.ExportJob", "state__exact=running"),
)
offer_panels(Panel(gettext_lazy("Tasks that nobody has taken"), "compliance.Task", "needs=waiting"))


def claim(actor: Actor, task: Task, fields: dict[str, Any]) -> str:
    api.claim_task(actor=actor, task_id=task.pk, rev=task.rev)
    return _("is yours.")


def assign(actor: Actor, task: Task, fields: dict[str, Any]) -> str:
    api.assign_task(actor=actor, task_id=task.pk, rev=task.rev, username=fields["username"])
    return _("is %s's now.") % str(fields["username"])


def release(actor: Actor, task: Task, fields: dict[str, Any]) -> str:
    api.release_task(actor=actor, task_id=task.pk, rev=task.rev)
    return _("is open to everybody.")


def snooze(actor: Actor, task: Task, fields: dict[str, Any]) -> str:
    api.snooze_task(actor=actor, task_id=task.pk, rev=task.rev, until=clock.now() + timedelta(days=fields["days"]))
    return _("sleeps for %d days.") % int(fields["days"])


def resolve(actor: Actor, task: Task, fields: dict[str, Any]) -> str:
    api.resolve_task(actor=actor, task_id=task.pk, rev=task.rev, reason=fields["reason"])
    return _("is resolved.")


def request_export(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    query, views = admin_forms.read_query(fields), frozenset(fields["views"])
    api.request_export(actor=actor, query=query, from_seq=fields["from_seq"] or 1, to_seq=fields["to_seq"], views=views)
    return _("The export is being written; its page shows how far it is.")


def save_search(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.save_search(actor=actor, name=fields["name"], query=admin_forms.read_query(fields))
    return _("The search %s is kept.") % str(fields["name"])


def remove_search(actor: Actor, search: SavedSearch, fields: dict[str, Any]) -> str:
    api.remove_search(actor=actor, search_id=search.pk)
    return _("is removed.")


def say_resolved(task: Task) -> str:
    return _("It is resolved.") if task.state == "resolved" else ""


def say_not_taken(task: Task) -> str:
    return "" if task.state in {"claimed", "snoozed"} else _("Nobody has it.")


def say_not_open(task: Task) -> str:
    return say_resolved(task) or (_("Somebody has it; assign it instead.") if task.state == "claimed" else "")


offer_action(
    "compliance.Task",
    ApiAction("claim-task", gettext_lazy("Take it"), "task.work", claim, lambda task: _("becomes yours"), refusal=say_not_open),
    ApiAction("assign-task", gettext_lazy("Assign"), "task.work", assign, lambda task: _("is given to the person that you name"), admin_forms.AssignForm,
              say_resolved),
    ApiAction("release-task", gettext_lazy("Give back"), "task.work", release, lambda task: _("is open to everybody again"), refusal=say_not_taken),
    ApiAction("snooze-task", gettext_lazy("Snooze"), "task.work", snooze, lambda task: _("is put aside, and comes back by itself"), admin_forms.SnoozeForm,
              say_resolved),
    ApiAction("resolve-task", gettext_lazy("Resolve"), "task.work", resolve, lambda task: _("is closed with what you write"), admin_forms.ResolveForm,
              say_resolved),
)  # fmt: skip
EXPORT = ApiAction(
    "request-export", gettext_lazy("Export the ledger"), "ledger.export", request_export, str, admin_forms.ExportForm, needs_object=False,
    intro=gettext_lazy("A folder that anybody can verify without this installation. Leave all fields empty for the whole ledger; "
                       "fields narrow it, and the hashes of what is left out stay in it. The export itself is recorded in the ledger."),
)  # fmt: skip
SEARCH = ApiAction(
    "save-search", gettext_lazy("Keep a search"), "ledger.read", save_search, str, admin_forms.SearchForm, needs_object=False,
    intro=gettext_lazy("Filters of the ledger under a name of yours; only you see it. Fill at least one field."),
)  # fmt: skip
offer_action("compliance.ExportJob", EXPORT)
offer_action("ledger.Event", EXPORT, SEARCH)
offer_action("compliance.SavedSearch", SEARCH, ApiAction("remove-search", gettext_lazy("Remove"), "ledger.read", remove_search,
                                                         lambda search: _("is no longer listed")))  # fmt: skip


class NeedsFilter(admin.SimpleListFilter):
    title = gettext_lazy("needs")
    parameter_name = "needs"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("waiting", gettext_lazy("somebody")), ("mine", gettext_lazy("me"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "waiting":
            return queryset.filter(AWAKE)
        return queryset.filter(state="claimed", assignee_id=actor_of(request).user_id) if self.value() == "mine" else queryset


@admin.register(Task)
class TaskAdmin(ScopedAdmin[Task]):
    list_display = ("what", "subject", "situation", "assignee", when_column("created_at", gettext_lazy("since")))
    fields = ("what", "kind", "subject", "state", "assignee", "snoozed_until", "resolution", "resolved_by", "created_at", "resolved_at", "id")
    people = ("resolved_by",)
    list_filter = (NeedsFilter, "state", "kind")
    list_select_related = ("assignee",)
    search_fields = ("subject_id__exact",)
    view_permission = "task.work"
    subject_kind = "task"
    empty_text = gettext_lazy("What a person must look at: deliveries that were given up, documents that cannot be read, seals that are late.")

    @admin.display(description=gettext_lazy("what happened"), ordering="kind")
    def what(self, task: Task) -> str:
        return str(KINDS.get(task.kind, task.kind))

    @admin.display(description=gettext_lazy("about"))
    def subject(self, task: Task) -> str:
        page = PAGES.get(task.subject_kind)
        text = f"{task.subject_kind} {task.subject_id[-12:]}"
        return format_html('<a class="scoped-link" href="{}">{}</a>', reverse(f"admin:{page}_change", args=[task.subject_id]), text) if page else text

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, task: Task) -> str:
        return state_label(say_state(task), SHAPES[task.state])

    def headline(self, task: Task) -> str:
        return _("%(what)s: %(state)s.") % {"what": self.what(task), "state": say_state(task)}


def say_export(job: ExportJob) -> str:
    told = _("Events #%(first)d to #%(last)d: %(state)s, %(n)d written.") % {
        "first": job.from_seq, "last": job.to_seq, "state": say_state(job), "n": job.count}  # fmt: skip
    hint = _("Download the archive, unpack it, and read its VERIFY.md: it says how to check it elsewhere.")
    return f"{told} {hint}" if job.state == "done" else told


def tell_export(job: ExportJob) -> str:
    told = _("Events #%(first)d to #%(last)d: %(state)s, %(n)d written.") % {
        "first": job.from_seq, "last": job.to_seq, "state": say_state(job), "n": job.count}  # fmt: skip
    help_text = _("Download the archive, unpack it, and read its VERIFY.md: it says how to check it elsewhere.")
    return f"{told} {help_text}" if job.state == "done" else told


@admin.register(ExportJob)
class ExportJobAdmin(ScopedAdmin[ExportJob]):
    list_display = ("__str__", "situation", "progress", person_column("requested_by", gettext_lazy("asked for by")),
                    when_column("created_at", gettext_lazy("when")), digest_column("manifest_sha256", gettext_lazy("manifest")))  # fmt: skip
    list_filter = ("state",)
    fields = ("from_seq", "to_seq", "query", "views", "count", "progress", "archive", "manifest_sha256", "prev_export_sha256", "requested_by", "permit",
              "error_code", "created_at", "finished_at", "id")  # fmt: skip
    people = ("requested_by",)
    view_permission = "ledger.read"
    subject_kind = "export"
    empty_text = gettext_lazy("Exports of the ledger that an auditor can verify without us. Ask for one above.")

    def headline(self, job: ExportJob) -> str:
        return say_export(job)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(own_scopes(download_export))
        return [path("<path:object_id>/download/", view, name="compliance_exportjob_download"), *super().get_urls()]

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, job: ExportJob) -> str:
        return state_label(say_state(job), SHAPES[job.state])

    @admin.display(description=gettext_lazy("progress"))
    def progress(self, job: ExportJob) -> str:
        return f"{100 * (job.next_seq - job.from_seq) // (job.to_seq + 1 - job.from_seq)} %, {job.count}"

    @admin.display(description=gettext_lazy("archive"))
    def archive(self, job: ExportJob) -> str:
        address = reverse("admin:compliance_exportjob_download", args=[job.pk])
        return format_html('<a class="scoped-link" href="{}">audit-{}.zip</a>', address, job.pk) if job.state == "done" else NONE


def download_export(request: HttpRequest, object_id: str) -> HttpResponseBase:
    """Opens its own scopes: the file is streamed after the scope of a page would have closed."""
    try:
        archive = api.find_export_file(actor=admin_actor(request), job_id=uuid.UUID(object_id))
    except ValueError as error:
        raise Http404 from error
    return FileResponse(archive.open("rb"), as_attachment=True, filename=archive.name)


@admin.register(SavedSearch)
class SavedSearchAdmin(ScopedAdmin[SavedSearch]):
    list_display = ("name", "opens", when_column("created_at", gettext_lazy("kept")))
    fields = ("name", "opens", "filters", "created_at", "id")
    view_permission = "ledger.read"
    subject_kind = "search"
    empty_text = gettext_lazy("Filters of the ledger that you keep. Nobody else sees them.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedSearch]:
        return super().get_queryset(request).filter(user_id=actor_of(request).user_id, removed_at__isnull=True)

    @admin.display(description=gettext_lazy("search"))
    def opens(self, search: SavedSearch) -> str:
        words = {LOOKUPS[name]: value for name, value in search.filters.items()}
        if words.get("code__exact", "").endswith("*"):
            words["code__startswith"] = words.pop("code__exact")[:-1]
        address = f"{reverse('admin:ledger_event_changelist')}?{urlencode(words)}"
        return format_html('<a class="scoped-link" href="{}">{}</a>', address, ", ".join(f"{name} {value}" for name, value in search.filters.items()))
