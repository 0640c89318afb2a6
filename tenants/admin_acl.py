"""Admin pages of changes of readers and of mappings: the diff that is hashed, who gains, who loses, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import link_column, person_column, say_state, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Related, Tile, offer_action, offer_related, offer_tiles
from tenants import api
from tenants.models_access import MAPPING_KINDS, AclChangeLine, AclChangeSet, PrincipalMapping

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

SHAPES = {"waiting": "waits", "applied": "good", "stale": "odd", "withdrawn": "gone"}


class MappingForm(forms.Form):
    kind = forms.ChoiceField(choices=MAPPING_KINDS, widget=UnfoldAdminSelectWidget)
    external = forms.CharField(
        max_length=100, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy("A number or a name of the file system; * for everybody else.")
    )
    word = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy("everyone, user:NAME, group:SLUG or role:CODE"))


def apply_grants(actor: Actor, change: AclChangeSet, fields: dict[str, Any]) -> str:
    done = api.apply_acl_grants(actor=actor, change_set_id=change.pk)
    return _("applied: %d objects have more readers now.") % done.granted


def withdraw(actor: Actor, change: AclChangeSet, fields: dict[str, Any]) -> str:
    api.withdraw_acl_change(actor=actor, change_set_id=change.pk)
    return _("withdrawn; what it had taken away stays taken away.")


def map_principal(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.map_principal(actor=actor, **fields)
    return _("Mapped. Files follow at the next sync of their source.")


def end_mapping(actor: Actor, row: PrincipalMapping, fields: dict[str, Any]) -> str:
    api.end_principal_mapping(actor=actor, kind=row.kind, external=row.external)
    return _("ended. Files follow at the next sync of their source.")


def say_closed(change: AclChangeSet) -> str:
    return "" if change.state == "waiting" else _("It is %s already.") % say_state(change)


def say_ended(row: PrincipalMapping) -> str:
    return _("It has ended already.") if row.valid_to else ""


def preview_grants(change: AclChangeSet) -> str:
    return " ".join(api.tell_change(change.payload))


offer_action(
    "tenants.AclChangeSet",
    ApiAction("apply-grants", gettext_lazy("Apply what waits"), "acl.manage", apply_grants, preview_grants, refusal=say_closed),
    ApiAction("withdraw-change", gettext_lazy("Withdraw"), "acl.manage", withdraw,
              lambda change: _("nothing of what waits will be given; what was taken away stays so"), refusal=say_closed),
)  # fmt: skip
offer_action(
    "tenants.PrincipalMapping",
    ApiAction("map-principal", gettext_lazy("Map a user or group"), "acl.manage", map_principal, str, MappingForm, needs_object=False),
    ApiAction("end-mapping", gettext_lazy("End"), "acl.manage", end_mapping,
              lambda row: _("nobody reads through it from the next sync on"), refusal=say_ended),
)  # fmt: skip
offer_related("tenants.AclChangeSet", Related(gettext_lazy("Objects"), "tenants.AclChangeLine", "change_set__id__exact"))
offer_tiles(Tile(gettext_lazy("Changes of readers that wait"), "tenants.AclChangeSet", "state__exact=waiting"))


@admin.register(AclChangeSet)
class AclChangeSetAdmin(ScopedAdmin[AclChangeSet]):
    list_display = (
        "title",
        "situation",
        "reason",
        person_column("proposed_by", gettext_lazy("by")),
        when_column("created_at", gettext_lazy("proposed")),
    )
    list_filter = ("state", "origin")
    search_fields = ("reason",)
    people = ("proposed_by",)
    fields = ("diff", "reason", "state", "origin", "base_acl_rev", "payload_sha256", "permit", "proposed_by", "created_at", "closed_at", "id")
    view_permission = "acl.manage"
    subject_kind = "acl_change"
    empty_text = gettext_lazy("Who gains and who loses, change by change. Set readers on a document's or a source's page to see the first.")

    @admin.display(description=gettext_lazy("change"))
    def title(self, change: AclChangeSet) -> str:
        return _("%(granted)d with more readers, %(revoked)d with fewer") % {"granted": change.granted, "revoked": change.revoked}

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, change: AclChangeSet) -> str:
        return state_label(say_state(change), SHAPES[change.state])

    @admin.display(description=gettext_lazy("what exactly"))
    def diff(self, change: AclChangeSet) -> str:
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", ((sentence,) for sentence in api.tell_change(change.payload))))

    def headline(self, change: AclChangeSet) -> str:
        return f"{self.title(change)}: {say_state(change)}."


@admin.register(AclChangeLine)
class AclChangeLineAdmin(ScopedAdmin[AclChangeLine]):
    list_display = ("label", "subject_kind", "move", link_column("change_set", gettext_lazy("change")))
    list_select_related = ("change_set", "old", "interim", "new")
    list_filter = ("subject_kind",)
    search_fields = ("label",)
    lookups = ("change_set__id__exact", "subject_id__exact")
    fields = ("label", "subject_kind", "subject_id", "old", "interim", "new", "change_set", "id")
    view_permission = "acl.manage"
    empty_text = gettext_lazy("One row for each object of a change of readers: who read, who reads at once, who shall read.")

    @admin.display(description=gettext_lazy("readers"))
    def move(self, line: Any) -> str:
        return f"{line.old or '–'} → {line.interim} → {line.new}"

    def headline(self, line: Any) -> str:
        return f"{line.label}: {self.move(line)}"


@admin.register(PrincipalMapping)
class PrincipalMappingAdmin(ScopedAdmin[PrincipalMapping]):
    list_display = ("external", "kind", "reader", "situation", when_column("valid_from", gettext_lazy("since")))
    list_filter = ("kind",)
    search_fields = ("external",)
    view_permission = "acl.manage"
    subject_kind = "principal_mapping"
    empty_text = gettext_lazy("Who the users and groups of a file system are here. Whoever has no row reads nothing through it.")

    @admin.display(description=gettext_lazy("reader"))
    def reader(self, row: PrincipalMapping) -> str:
        return row.principal

    @admin.display(description=gettext_lazy("state"))
    def situation(self, row: PrincipalMapping) -> str:
        return state_label(_("in force"), "good") if row.valid_to is None else state_label(_("ended"), "gone")

    def headline(self, row: PrincipalMapping) -> str:
        return f"{row} → {api.tell_readers(api.AclSpec(frozenset({row.principal})))}"
