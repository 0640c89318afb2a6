"""Admin pages of knowledge: bases, sources, documents and what was read out of them. Doing goes through documents.api alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from documents import admin_access, admin_content, api
from documents.admin_access import who_reads
from documents.models import DataSource, Document, IngestJob, KnowledgeBase, RefusedFile, SyncRun
from documents.states import INGEST_JOB, RUNNING
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import link_column, person_column, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Panel, Related, Tile, offer_action, offer_panels, offer_related, offer_tiles
from rag4c.scope.dbtime import ClockTimestamp
from tenants import api as tenants

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from rag4c.kernel.grant import Actor

__all__ = ["admin_access", "admin_content"]  # imported for its registrations
JOB_SHAPES = {"queued": "waits", "running": "busy", "stuck": "odd", "completed": "good", "error": "bad"}


class NewBaseForm(forms.Form):
    slug = forms.SlugField(max_length=50, widget=UnfoldAdminTextInputWidget)
    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget)
    workspace = forms.SlugField(max_length=50, initial="main", widget=UnfoldAdminTextInputWidget)


def create_base(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.create_knowledge_base(actor=actor, **fields)
    return _("The knowledge base %s exists now. Add a source with `rag4c sync`.") % str(fields["name"])


def sync_source(actor: Actor, source: DataSource, fields: dict[str, Any]) -> str:
    done = api.sync_source(actor=actor, source_id=source.pk)
    return _("%(seen)d files: %(added)d added, %(updated)d updated, %(reused)d unchanged, %(deleted)d deleted, %(refused)d refused.") % {
        "seen": done.files_seen, "added": done.documents_added, "updated": done.documents_updated, "reused": done.documents_reused,
        "deleted": done.documents_deleted, "refused": len(done.refused)}  # fmt: skip


def retry_job(actor: Actor, job: IngestJob, fields: dict[str, Any]) -> str:
    api.retry_job(actor=actor, job_id=job.pk)
    return _("queued again.")


def say_not_retryable(job: IngestJob) -> str:
    return "" if INGEST_JOB.allows(job.state, "waiting") else _("Only a job in error is retried; this one is %s.") % job.state


def say_no_folder(source: DataSource) -> str:
    return "" if source.kind == "folder" else _("Only a folder is read again; uploads come one by one.")


offer_action("documents.KnowledgeBase", ApiAction("create-base", gettext_lazy("Create a knowledge base"), "kb.manage", create_base, str, NewBaseForm,
                                                  needs_object=False))  # fmt: skip
offer_action("documents.DataSource", ApiAction("sync-source", gettext_lazy("Read again now"), "source.sync", sync_source,
             lambda source: _("%s is read; documents follow it, nothing is published") % source.root, refusal=say_no_folder))  # fmt: skip
offer_action("documents.IngestJob", ApiAction("retry-job", gettext_lazy("Retry"), "job.retry", retry_job,
             lambda job: _("starts again from the first step, with its attempts at zero"), refusal=say_not_retryable))  # fmt: skip
offer_related(
    "documents.KnowledgeBase",
    Related(gettext_lazy("Sources"), "documents.DataSource", "knowledge_base__id__exact"),
    Related(gettext_lazy("Documents"), "documents.Document", "knowledge_base__id__exact"),
)
offer_related(
    "documents.DataSource",
    Related(gettext_lazy("Documents"), "documents.Document", "source__id__exact"),
    Related(gettext_lazy("Sync runs"), "documents.SyncRun", "source__id__exact"),
)
offer_related("documents.SyncRun", Related(gettext_lazy("Refused files"), "documents.RefusedFile", "run__id__exact"))
offer_related(
    "documents.Document",
    Related(gettext_lazy("Revisions"), "documents.Revision", "document__id__exact"),
    Related(gettext_lazy("Jobs"), "documents.IngestJob", "revision__document__id__exact"),
    Related(gettext_lazy("Chunks"), "documents.ChunkVersion", "document__id__exact"),
    Related(gettext_lazy("Facts"), "documents.Fact", "document__id__exact"),
)
offer_tiles(
    Tile(gettext_lazy("Jobs in error"), "documents.IngestJob", "situation=error", is_alarm=True),
    Tile(gettext_lazy("Jobs stuck"), "documents.IngestJob", "situation=stuck", is_alarm=True),
    Tile(gettext_lazy("Files refused at the last sync"), "documents.RefusedFile", "newest=yes", is_alarm=True),
    Tile(gettext_lazy("Jobs queued"), "documents.IngestJob", "situation=queued"),
    Tile(gettext_lazy("Jobs running"), "documents.IngestJob", "situation=running"),
)
offer_panels(
    Panel(gettext_lazy("Stuck, longest first"), "documents.IngestJob", "situation=stuck&o=4"),
    Panel(gettext_lazy("In error"), "documents.IngestJob", "situation=error"),
    Panel(gettext_lazy("Refused files"), "documents.RefusedFile", "newest=yes"),
)


def situation_q() -> dict[str, Q]:
    """What a person wants to know of a job; stuck is derived: in work, but its lease is over (R13)."""
    in_work = Q(state__in=[state for state in RUNNING if state != "waiting"])
    is_over = Q(lease_until__lt=ClockTimestamp())
    return {
        "queued": Q(state="waiting"),
        "running": in_work & (Q(lease_until__isnull=True) | Q(lease_until__gte=ClockTimestamp())),
        "stuck": in_work & is_over,
        "completed": Q(state="completed"),
        "error": Q(state="error"),
    }


class SituationFilter(admin.SimpleListFilter):
    title = gettext_lazy("situation")
    parameter_name = "situation"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("queued", gettext_lazy("queued")), ("running", gettext_lazy("running")), ("stuck", gettext_lazy("stuck")),
                ("completed", gettext_lazy("completed")), ("error", gettext_lazy("error"))]  # fmt: skip

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = situation_q().get(self.value() or "")
        return queryset if wanted is None else queryset.filter(wanted)


class NewestRunFilter(admin.SimpleListFilter):
    title = gettext_lazy("sync")
    parameter_name = "newest"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("last sync of each source"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "yes":
            return queryset
        return queryset.filter(run__in=SyncRun.objects.order_by("source_id", "-started_at", "-pk").distinct("source_id").values("pk"))


@admin.register(KnowledgeBase)
class KnowledgeBaseAdmin(ScopedAdmin[KnowledgeBase]):
    list_display = ("name", "slug", "workspace", "document_count", when_column("created_at", gettext_lazy("created")))
    list_select_related = ("workspace",)
    list_filter = ("workspace",)
    search_fields = ("slug", "name")
    subject_kind = "knowledge_base"
    empty_text = gettext_lazy("A knowledge base holds sources and their documents. Make the first with “Create a knowledge base”.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeBase]:
        rows: QuerySet[KnowledgeBase] = super().get_queryset(request)
        return rows.annotate(live=Count("documents", filter=Q(documents__state="live")))

    @admin.display(description=gettext_lazy("documents"), ordering="live")
    def document_count(self, base: Any) -> int:
        return int(base.live)

    def headline(self, base: Any) -> str:
        return _("%(name)s holds %(n)d live documents.") % {"name": base.name, "n": base.live}


@admin.register(DataSource)
class DataSourceAdmin(ScopedAdmin[DataSource]):
    list_display = ("key", "knowledge_base", "freshness", "readers", "acl_mode", "generation")
    list_select_related = ("knowledge_base",)
    list_filter = ("knowledge_base", "kind", "freshness", "acl_mode")
    search_fields = ("key",)
    subject_kind = "source"
    empty_text = gettext_lazy("A source is a folder that documents come from. Make the first with `rag4c sync --kb <slug> <folder>`.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DataSource]:
        rows: QuerySet[DataSource] = super().get_queryset(request)
        return rows.annotate(readers_now=tenants.readers_column("source"))

    @admin.display(description=gettext_lazy("readers"))
    def readers(self, source: Any) -> str:
        return ", ".join(source.readers_now or ()) or _("nobody")

    def headline(self, source: DataSource) -> str:
        last = SyncRun.objects.filter(source=source).order_by("-started_at").first()
        seen = _("last read %s") % last.started_at.strftime("%Y-%m-%d %H:%M") if last else _("never read")
        return _("%(key)s: %(seen)s, generation %(n)d, readers: %(readers)s.") % {
            "key": source.key,
            "seen": seen,
            "n": source.generation,
            "readers": who_reads("source", source.pk),
        }


@admin.register(Document)
class DocumentAdmin(ScopedAdmin[Document]):
    list_display = ("path", "knowledge_base", "source", "situation", when_column("created_at", gettext_lazy("added")))
    list_select_related = ("knowledge_base", "source")
    list_filter = ("state", "knowledge_base")
    search_fields = ("path",)
    ordering = ("path", "pk")
    subject_kind = "document"
    empty_text = gettext_lazy("Documents come from sources. Sync a source to see its files here.")

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, document: Document) -> str:
        return state_label(document.get_state_display(), "good" if document.state == "live" else "gone")

    def headline(self, document: Any) -> str:
        if document.state != "live":
            return _("%(path)s was deleted in its source (generation %(n)s).") % {"path": document.path, "n": document.tombstone_generation}
        head = _("newest completed revision r%d") % document.head.number if document.head else _("no revision has completed yet")
        words = {"path": document.path, "base": document.knowledge_base, "head": head, "readers": who_reads("document", document.pk)}
        return _("%(path)s in %(base)s: %(head)s. Who may read: %(readers)s.") % words


@admin.display(description=gettext_lazy("document"), ordering="revision__document__path")
def job_title(job: Any) -> str:
    return f"{job.revision.document.path} r{job.revision.number}"


@admin.display(description=gettext_lazy("state"), ordering="state")
def job_situation(job: Any) -> str:
    kind = "stuck" if job.is_stuck else {"waiting": "queued", "completed": "completed", "error": "error"}.get(job.state, "running")
    return state_label(f"{kind} ({job.state})" if kind in {"stuck", "running"} else kind, JOB_SHAPES[kind])


@admin.display(description=gettext_lazy("problem"), ordering="error_code")
def job_problem(job: IngestJob) -> str:
    return f"{job.error_message} ({job.error_code})" if job.error_code else "–"


@admin.display(description=gettext_lazy("chunks"))
def job_progress(job: IngestJob) -> str:
    return f"{job.chunks_embedded} / {job.chunks_total}"


@admin.register(IngestJob)
class IngestJobAdmin(ScopedAdmin[IngestJob]):
    list_display = (job_title, job_situation, job_problem, when_column("progressed_at", gettext_lazy("last progress")), job_progress)
    list_select_related = ("revision__document",)
    list_filter = (SituationFilter, "error_reason", "revision__document__knowledge_base")
    search_fields = ("error_code__exact", "revision__document__path")
    lookups = ("revision__document__id__exact",)
    subject_kind = "job"
    empty_text = gettext_lazy("A job takes one revision from its bytes to the index. Sync a source to queue the first.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[IngestJob]:
        stuck = IngestJob.objects.filter(situation_q()["stuck"], pk=OuterRef("pk"))
        rows: QuerySet[IngestJob] = super().get_queryset(request)
        return rows.annotate(is_stuck=Exists(stuck))

    def headline(self, job: Any) -> str:
        told = f" {job_problem(job)}" if job.error_code else ""
        state = _("stuck in %s") % job.state if job.is_stuck else job.state
        since = job.progressed_at.strftime("%Y-%m-%d %H:%M")
        return _("%(where)s: %(state)s since %(since)s, %(n)d attempts.") % {
            "where": job_title(job), "state": state, "since": since, "n": job.attempts} + told  # fmt: skip


@admin.register(SyncRun)
class SyncRunAdmin(ScopedAdmin[SyncRun]):
    list_display = (
        when_column("started_at", gettext_lazy("started")),
        "source",
        "situation",
        "changes",
        person_column("started_by", gettext_lazy("by")),
    )
    list_select_related = ("source",)
    list_filter = ("state", "source__knowledge_base")
    people = ("started_by",)
    empty_text = gettext_lazy("Each reading of a source leaves its report here. Use “Read again now” on a source.")

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, run: SyncRun) -> str:
        return state_label(run.get_state_display(), {"done": "good", "running": "busy"}.get(run.state, "bad"))

    @admin.display(description=gettext_lazy("changes"))
    def changes(self, run: SyncRun) -> str:
        return _("+%(a)d ~%(u)d -%(d)d, %(s)d same, %(r)d refused") % {
            "a": run.added,
            "u": run.updated,
            "d": run.deleted,
            "s": run.reused,
            "r": run.refused,
        }

    def headline(self, run: Any) -> str:
        return f"{run.source}: {self.changes(run)}."


@admin.register(RefusedFile)
class RefusedFileAdmin(ScopedAdmin[RefusedFile]):
    list_display = (
        "path",
        "code",
        "message",
        link_column("run__source", gettext_lazy("source")),
        when_column("run__started_at", gettext_lazy("sync")),
    )
    list_select_related = ("run__source",)
    list_filter = (NewestRunFilter, "code")
    search_fields = ("path",)
    empty_text = gettext_lazy("Files that a sync could not take, with what to do about each. None was refused.")

    def headline(self, row: RefusedFile) -> str:
        return f"{row.path}: {row.message} ({row.code})"
