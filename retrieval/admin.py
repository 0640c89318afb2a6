"""Admin pages of publication: channels, manifests, releases and takedowns. Doing goes through retrieval.api alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import link_column, link_to, person_column, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Panel, ReasonForm, Related, Tile, offer_action, offer_panels, offer_related, offer_tiles
from retrieval import api
from retrieval.api.publication import DEFAULT_CHANNELS
from retrieval.models import Channel, Manifest, Release, RetrievalPolicy, Takedown

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from rag4c.kernel.grant import Actor


class MoveForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


class ReleaseForm(MoveForm):
    channel = forms.ChoiceField(choices=[(name, name) for name in DEFAULT_CHANNELS], widget=UnfoldAdminSelectWidget)
    field_order = ("channel", "reason")


class RollbackForm(MoveForm):
    seq = forms.IntegerField(label=gettext_lazy("To manifest number"), min_value=1, required=False, widget=UnfoldAdminIntegerFieldWidget,
                             help_text=gettext_lazy("Empty: the one that it served before."))  # fmt: skip
    field_order = ("seq", "reason")


def release_manifest(actor: Actor, manifest: Manifest, fields: dict[str, Any]) -> str:
    rev = api.release(actor=actor, knowledge_base_id=manifest.knowledge_base_id, manifest_id=manifest.pk, **fields)
    return _("%(channel)s serves it now (revision %(rev)d).") % {"channel": fields["channel"], "rev": rev}


def roll_back_channel(actor: Actor, channel: Channel, fields: dict[str, Any]) -> str:
    rev = api.rollback(actor=actor, knowledge_base_id=channel.knowledge_base_id, channel=channel.name, **fields)
    return _("rolled back (revision %d).") % rev


def draft_manifest(actor: Actor, base: Any, fields: dict[str, Any]) -> str:
    drafted = api.draft_manifest(actor=actor, knowledge_base_id=base.pk)
    told = _("manifest #%(seq)d holds %(n)d documents.") if drafted.is_new else _("nothing changed since manifest #%(seq)d with %(n)d documents.")
    return told % {"seq": drafted.seq, "n": drafted.item_count}


def take_down(actor: Actor, document: Any, fields: dict[str, Any]) -> str:
    api.take_down(actor=actor, document_id=document.pk, **fields)
    return _("taken down: no channel shows it from the next question on.")


def end_takedown(actor: Actor, document: Any, fields: dict[str, Any]) -> str:
    api.end_takedown(actor=actor, document_id=document.pk)
    return _("shown again where manifests hold it.")


def end_this_takedown(actor: Actor, takedown: Takedown, fields: dict[str, Any]) -> str:
    api.end_takedown(actor=actor, document_id=takedown.document_id)
    return _("the document is shown again where manifests hold it.")


def is_down(document: Any) -> bool:
    return Takedown.objects.filter(document_id=document.pk, ended_at__isnull=True).exists()


def say_down(document: Any) -> str:
    return _("It is taken down already.") if is_down(document) else ""


def say_not_down(document: Any) -> str:
    return "" if is_down(document) else _("It is not taken down.")


def say_over(takedown: Takedown) -> str:
    return _("This takedown has ended.") if takedown.ended_at else ""


def say_no_release(channel: Channel) -> str:
    last = Release.objects.filter(channel=channel).order_by("-channel_rev").first()
    return "" if last and last.previous_id else _("This channel has served no earlier manifest.")


def say_release(manifest: Any) -> str:
    channels = Channel.objects.filter(knowledge_base_id=manifest.knowledge_base_id).select_related("manifest").order_by("name")
    now = ", ".join(f"{channel.name}: {f'#{channel.manifest.seq}' if channel.manifest else '–'}" for channel in channels)
    return _("%(n)d documents of %(base)s are served by the channel you choose; now %(now)s") % {
        "n": manifest.item_count, "base": manifest.knowledge_base, "now": now or _("no channel exists")}  # fmt: skip


def say_rollback(channel: Any) -> str:
    last = Release.objects.filter(channel=channel).select_related("previous").order_by("-channel_rev").first()
    target = last.previous if last else None
    return _("serves %(now)s now, then %(target)s or the number you give") % {"now": channel.manifest or "–", "target": target or "–"}


offer_action("documents.KnowledgeBase", ApiAction("draft-manifest", gettext_lazy("Draft a manifest"), "release", draft_manifest,
             lambda base: _("what is ready is written down; nothing is served by this")))  # fmt: skip
offer_action(
    "documents.Document",
    ApiAction("take-down", gettext_lazy("Take down"), "release", take_down, lambda document: _("is hidden from every channel at once"), ReasonForm, say_down),
    ApiAction("end-takedown", gettext_lazy("End the takedown"), "release", end_takedown, lambda document: _("is shown again where manifests hold it"),
              refusal=say_not_down),
)  # fmt: skip
offer_action(
    "retrieval.Manifest", ApiAction("release-manifest", gettext_lazy("Release to a channel"), "release", release_manifest, say_release, ReleaseForm)
)
offer_action(
    "retrieval.Channel", ApiAction("roll-back", gettext_lazy("Roll back"), "rollback", roll_back_channel, say_rollback, RollbackForm, say_no_release)
)
offer_action("retrieval.Takedown", ApiAction("end-this-takedown", gettext_lazy("End the takedown"), "release", end_this_takedown,
             lambda takedown: _("the document is shown again where manifests hold it"), refusal=say_over))  # fmt: skip
offer_related(
    "documents.KnowledgeBase",
    Related(gettext_lazy("Channels"), "retrieval.Channel", "knowledge_base__id__exact"),
    Related(gettext_lazy("Manifests"), "retrieval.Manifest", "knowledge_base__id__exact"),
)
offer_related("documents.Document", Related(gettext_lazy("Takedowns"), "retrieval.Takedown", "document__id__exact"))
offer_related("retrieval.Channel", Related(gettext_lazy("Releases"), "retrieval.Release", "channel__id__exact"))
offer_related("retrieval.Manifest", Related(gettext_lazy("Releases"), "retrieval.Release", "manifest__id__exact"))
offer_tiles(Tile(gettext_lazy("Documents taken down"), "retrieval.Takedown", "active=yes"))
offer_panels(Panel(gettext_lazy("Published lately"), "retrieval.Release", ""))


class ActiveFilter(admin.SimpleListFilter):
    title = gettext_lazy("state")
    parameter_name = "active"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("active")), ("no", gettext_lazy("ended"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() is None else queryset.filter(ended_at__isnull=self.value() == "yes")


@admin.register(Channel)
class ChannelAdmin(ScopedAdmin[Channel]):
    list_display = ("name", "knowledge_base", link_column("manifest", gettext_lazy("serves")), "rev", "id")
    list_select_related = ("knowledge_base", "manifest")
    list_filter = ("knowledge_base", "name")
    ordering = ("knowledge_base__slug", "name", "pk")
    view_permission = "manifest.read"
    subject_kind = "channel"
    empty_text = gettext_lazy("A channel is what people ask. `rag4c sync` makes dev, staging and live of a knowledge base.")

    def headline(self, channel: Any) -> str:
        last = Release.objects.filter(channel=channel).order_by("-channel_rev").first()
        if channel.manifest is None or last is None:
            return _("%(name)s of %(base)s serves nothing yet.") % {"name": channel.name, "base": channel.knowledge_base}
        return _("%(name)s of %(base)s serves manifest #%(seq)d with %(n)d documents since %(since)s.") % {
            "name": channel.name, "base": channel.knowledge_base, "seq": channel.manifest.seq, "n": channel.manifest.item_count,
            "since": last.released_at.strftime("%Y-%m-%d %H:%M")}  # fmt: skip


@admin.register(Manifest)
class ManifestAdmin(ScopedAdmin[Manifest]):
    list_display = ("seq", "knowledge_base", "item_count", "served", when_column("created_at", gettext_lazy("drafted")))
    list_select_related = ("knowledge_base",)
    list_filter = ("knowledge_base",)
    search_fields = ("sha256__exact",)
    fields = ("knowledge_base", "seq", "sha256", "prev_sha256", "item_count", "space", "settings_digest", "created_by", "created_at", "id")
    ordering = ("-created_at", "-pk")
    people = ("created_by",)
    view_permission = "manifest.read"
    subject_kind = "manifest"
    empty_text = gettext_lazy("What may be served, written down once and never changed. Use “Draft a manifest” on a knowledge base.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Manifest]:
        rows: QuerySet[Manifest] = super().get_queryset(request)
        return rows.defer("body").annotate(is_served=Exists(Channel.objects.filter(manifest=OuterRef("pk"))))

    @admin.display(description=gettext_lazy("state"))
    def served(self, manifest: Any) -> str:
        return state_label(_("served"), "good") if manifest.is_served else state_label(_("not served"), "waits")

    def headline(self, manifest: Any) -> str:
        names = ", ".join(Channel.objects.filter(manifest=manifest).order_by("name").values_list("name", flat=True))
        state = _("served by %s") % names if names else _("served by no channel now")
        return _("Manifest #%(seq)d of %(base)s holds %(n)d documents; %(state)s.") % {
            "seq": manifest.seq, "base": manifest.knowledge_base, "n": manifest.item_count, "state": state}  # fmt: skip


@admin.register(Release)
class ReleaseAdmin(ScopedAdmin[Release]):
    list_display = (when_column("released_at", gettext_lazy("when")), "where", "move", "reason", person_column("released_by", gettext_lazy("by")))
    list_select_related = ("channel__knowledge_base", "manifest", "previous")
    list_filter = ("kind", "channel__knowledge_base", "channel__name")
    people = ("released_by",)
    view_permission = "manifest.read"
    empty_text = gettext_lazy("Every move of a channel, with why and by whom. Use “Release to a channel” on a manifest.")

    @admin.display(description=gettext_lazy("channel"))
    def where(self, row: Any) -> str:
        return link_to(row.channel, f"{row.channel.knowledge_base} / {row.channel.name}")

    @admin.display(description=gettext_lazy("move"))
    def move(self, row: Any) -> str:
        return f"{row.kind} #{row.previous.seq if row.previous else '–'} → #{row.manifest.seq}"

    def headline(self, row: Any) -> str:
        return f"{row.channel.knowledge_base} / {row.channel.name}: {self.move(row)}, {row.released_at:%Y-%m-%d %H:%M}, {row.released_by_name or row.released_by}"


@admin.register(Takedown)
class TakedownAdmin(ScopedAdmin[Takedown]):
    list_display = (
        "document",
        "situation",
        "reason",
        person_column("started_by", gettext_lazy("by")),
        when_column("started_at", gettext_lazy("since")),
    )
    list_select_related = ("document",)
    list_filter = (ActiveFilter,)
    search_fields = ("document__path",)
    people = ("started_by",)
    view_permission = "manifest.read"
    empty_text = gettext_lazy("Documents hidden from every channel, whatever manifests say. Use “Take down” on a document.")

    @admin.display(description=gettext_lazy("state"))
    def situation(self, row: Takedown) -> str:
        return state_label(_("ended"), "gone") if row.ended_at else state_label(_("active"), "odd")

    def headline(self, row: Any) -> str:
        state = _("was taken down and is shown again") if row.ended_at else _("is hidden from every channel")
        return f"{row.document} {state}: {row.reason}"


@admin.register(RetrievalPolicy)
class RetrievalPolicyAdmin(ScopedAdmin[RetrievalPolicy]):
    list_display = ("version", "evidence_k", "max_per_document", "min_dense_cosine", "stale_candidates")
    ordering = ("-version",)
    view_permission = "policy.manage"
    empty_text = gettext_lazy("How evidence is looked for. The built-in policy, version 0, is in force.")
