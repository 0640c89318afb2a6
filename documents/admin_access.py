"""Admin of who reads: readers of documents and sources, templates by path, and where a source's lists come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from documents import api
from documents.access_rules import ACL_MODES
from documents.models import AclTemplate, DataSource, Document
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import link_column, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, NoFields, ReasonForm, Related, offer_action, offer_related
from tenants import api as tenants

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from rag4c.kernel.grant import Actor

LEVELS = [(level.name, level.name.lower()) for level in tenants.Sensitivity]


class ReadersForm(ReasonForm):
    readers = forms.CharField(
        max_length=4000, required=False, widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("everyone, user:NAME, group:SLUG, role:CODE, separated by commas; empty for nobody"),
    )  # fmt: skip
    sensitivity = forms.ChoiceField(choices=LEVELS, initial="INTERNAL", widget=UnfoldAdminSelectWidget)
    purpose = forms.CharField(max_length=40, required=False, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy("for restricted only"))
    field_order: tuple[str, ...] = ("readers", "sensitivity", "purpose", "reason")


class TemplateForm(ReadersForm):
    path_prefix = forms.CharField(
        max_length=1000, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy("a folder below the source, such as hr/pay")
    )
    field_order = ("path_prefix", *ReadersForm.field_order)


class ModeForm(forms.Form):
    mode = forms.ChoiceField(choices=[(mode, mode) for mode in ACL_MODES], widget=UnfoldAdminSelectWidget)


def spec_of(actor: Actor, fields: dict[str, Any]) -> tenants.AclSpec:
    principals = tenants.read_readers(actor=actor, text=fields["readers"])
    return tenants.AclSpec(principals, tenants.Sensitivity[fields["sensitivity"]], fields["purpose"].strip())


def told(change: tenants.AclChange) -> str:
    waits = _(" What gives waits for an approval.") if change.state == "waiting" else ""
    return _("%(revoked)d objects narrowed at once, %(granted)d widened.") % {"revoked": change.revoked, "granted": change.granted} + waits


def set_readers(actor: Actor, document: Document, fields: dict[str, Any]) -> str:
    return told(api.set_document_readers(actor=actor, document_ids=[document.pk], acl=spec_of(actor, fields), reason=fields["reason"]))


def rehearse_readers(actor: Actor, document: Document, fields: dict[str, Any]) -> list[str]:
    return api.preview_document_readers(actor=actor, document_ids=[document.pk], acl=spec_of(actor, fields))


def follow_source(actor: Actor, document: Document, fields: dict[str, Any]) -> str:
    freed = api.follow_source(actor=actor, document_ids=[document.pk])
    return _("follows its source from the next sync on.") if freed else _("follows its source already.")


def set_source_readers(actor: Actor, source: DataSource, fields: dict[str, Any]) -> str:
    return told(api.set_source_readers(actor=actor, source_id=source.pk, acl=spec_of(actor, fields), reason=fields["reason"]))


def rehearse_source(actor: Actor, source: DataSource, fields: dict[str, Any]) -> list[str]:
    return api.preview_source_readers(actor=actor, source_id=source.pk, acl=spec_of(actor, fields))


def set_template(actor: Actor, source: DataSource, fields: dict[str, Any]) -> str:
    acl = spec_of(actor, fields)
    return told(api.set_acl_template(actor=actor, source_id=source.pk, path_prefix=fields["path_prefix"], acl=acl, reason=fields["reason"]))


def rehearse_template(actor: Actor, source: DataSource, fields: dict[str, Any]) -> list[str]:
    return api.preview_acl_template(actor=actor, source_id=source.pk, path_prefix=fields["path_prefix"], acl=spec_of(actor, fields))


def end_template(actor: Actor, template: AclTemplate, fields: dict[str, Any]) -> str:
    return told(api.end_acl_template(actor=actor, source_id=template.source_id, path_prefix=template.path_prefix, reason=fields["reason"]))


def set_mode(actor: Actor, source: DataSource, fields: dict[str, Any]) -> str:
    api.set_acl_mode(actor=actor, source_id=source.pk, mode=fields["mode"])
    return _("has the mode %s from its next sync on.") % str(fields["mode"])


def who_reads(kind: str, key: Any) -> str:
    held = tenants.read_assigned(kind, [key]).get(key)
    return tenants.tell_readers(held.acl) if held else _("nobody")


def preview_now(kind: str) -> Any:
    return lambda obj: _("read now by: %s") % who_reads(kind, obj.pk)


def say_not_in_force(template: Any) -> str:
    return "" if tenants.read_assigned("template", [template.pk]) else _("It has ended already.")


offer_action(
    "documents.Document",
    ApiAction("set-readers", gettext_lazy("Set readers"), "acl.manage", set_readers, preview_now("document"), ReadersForm, rehearse=rehearse_readers),
    ApiAction("follow-source", gettext_lazy("Follow the source again"), "acl.manage", follow_source,
              lambda document: _("its readers are what its source says, from the next sync on; what that widens is asked first"), NoFields),
)  # fmt: skip
offer_action(
    "documents.DataSource",
    ApiAction("set-source-readers", gettext_lazy("Set readers"), "acl.manage", set_source_readers, preview_now("source"), ReadersForm,
              rehearse=rehearse_source),
    ApiAction("set-template", gettext_lazy("Set a template"), "acl.manage", set_template,
              lambda source: _("files below a path get these readers, unless they have their own"), TemplateForm, rehearse=rehearse_template),
    ApiAction("set-acl-mode", gettext_lazy("Set where readers come from"), "acl.manage", set_mode,
              lambda source: _("now: %s; another mode counts from the next sync on, what it widens is asked first") % source.acl_mode, ModeForm),
)  # fmt: skip
offer_action("documents.AclTemplate", ApiAction("end-template", gettext_lazy("End"), "acl.manage", end_template,
             lambda template: _("its files get what a shorter path or the source says"), ReasonForm, say_not_in_force))  # fmt: skip
offer_related("documents.DataSource", Related(gettext_lazy("Templates"), "documents.AclTemplate", "source__id__exact"))
offer_related("documents.Document", Related(gettext_lazy("Changes of readers"), "tenants.AclChangeLine", "subject_id__exact"))


@admin.register(AclTemplate)
class AclTemplateAdmin(ScopedAdmin[AclTemplate]):
    list_display = ("path_prefix", link_column("source", gettext_lazy("source")), "readers", when_column("created_at", gettext_lazy("made")))
    list_select_related = ("source",)
    list_filter = ("source",)
    search_fields = ("path_prefix",)
    lookups = ("source__id__exact",)
    view_permission = "acl.manage"
    subject_kind = "template"
    empty_text = gettext_lazy("Readers of files below a path that have no list of their own. Set the first on a source's page.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AclTemplate]:
        rows: QuerySet[AclTemplate] = super().get_queryset(request)
        return rows.annotate(readers_now=tenants.readers_column("template"))

    @admin.display(description=gettext_lazy("readers"))
    def readers(self, template: Any) -> str:
        if template.readers_now is None:
            return state_label(_("ended"), "gone")
        return ", ".join(template.readers_now) or _("nobody")

    def headline(self, template: Any) -> str:
        return _("Below %(path)s: %(readers)s.") % {"path": template.path_prefix, "readers": who_reads("template", template.pk)}
