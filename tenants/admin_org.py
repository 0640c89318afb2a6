"""Admin pages of units, nested groups and memberships: where people stand in the organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from rag4c.kernel.grant import Sensitivity
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import link_column, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Related, offer_action, offer_related
from tenants import api
from tenants.models import Group, GroupNesting, Membership, OrgUnit, UnitParent, UnitPlacement, User

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor


class UnitForm(forms.Form):
    unit = forms.SlugField(label=gettext_lazy("Unit"), max_length=50, widget=UnfoldAdminTextInputWidget)


class ParentUnitForm(forms.Form):
    parent = forms.SlugField(label=gettext_lazy("Part of"), max_length=50, required=False, widget=UnfoldAdminTextInputWidget,
                             help_text=gettext_lazy("The slug of a unit; empty for the top."))  # fmt: skip


class NewUnitForm(ParentUnitForm):
    slug = forms.SlugField(max_length=50, widget=UnfoldAdminTextInputWidget)
    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget)
    field_order = ("slug", "name", "parent")


class GroupForm(forms.Form):
    group = forms.SlugField(label=gettext_lazy("Group around it"), max_length=50, widget=UnfoldAdminTextInputWidget)


class MemberForm(forms.Form):
    person = forms.CharField(label=gettext_lazy("Person"), max_length=150, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy("A user name."))


class ClearanceForm(forms.Form):
    level = forms.TypedChoiceField(coerce=int, choices=[(level.value, level.name.lower()) for level in Sensitivity], widget=UnfoldAdminSelectWidget)


def create_unit(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    parent_id = api.find_unit(actor=actor, slug=fields["parent"]) if fields["parent"] else None
    api.create_unit(actor=actor, slug=fields["slug"], name=fields["name"], parent_id=parent_id)
    return _("The unit %s exists now.") % str(fields["name"])


def move_unit(actor: Actor, unit: OrgUnit, fields: dict[str, Any]) -> str:
    api.move_unit(actor=actor, unit_id=unit.pk, parent_id=api.find_unit(actor=actor, slug=fields["parent"]) if fields["parent"] else None)
    return _("moved; its people went with it.")


def place_person(actor: Actor, user: User, fields: dict[str, Any]) -> str:
    api.place_in_unit(actor=actor, user_id=user.pk, unit_id=api.find_unit(actor=actor, slug=fields["unit"]))
    return _("belongs to %s now.") % str(fields["unit"])


def end_placement(actor: Actor, row: UnitPlacement, fields: dict[str, Any]) -> str:
    api.remove_from_unit(actor=actor, user_id=row.user_id)
    return _("ended.")


def add_member(actor: Actor, group: Group, fields: dict[str, Any]) -> str:
    api.add_to_group(actor=actor, group_id=group.pk, user_id=api.find_user(actor=actor, username=fields["person"]))
    return _("%s is a member now.") % str(fields["person"])


def end_membership(actor: Actor, row: Membership, fields: dict[str, Any]) -> str:
    api.remove_from_group(actor=actor, group_id=row.group_id, user_id=row.user_id)
    return _("ended.")


def nest_group(actor: Actor, group: Group, fields: dict[str, Any]) -> str:
    api.nest_group(actor=actor, child_id=group.pk, parent_id=api.find_group(actor=actor, slug=fields["group"]))
    return _("its members are members of %s too.") % str(fields["group"])


def end_nesting(actor: Actor, row: GroupNesting, fields: dict[str, Any]) -> str:
    api.unnest_group(actor=actor, child_id=row.child_id, parent_id=row.parent_id)
    return _("ended.")


def set_clearance(actor: Actor, user: User, fields: dict[str, Any]) -> str:
    level = Sensitivity(fields["level"])
    api.set_clearance(actor=actor, user_id=user.pk, level=level)
    return _("reads up to %s now.") % level.name.lower()


def reactivate_user(actor: Actor, user: User, fields: dict[str, Any]) -> str:
    api.reactivate_user(actor=actor, user_id=user.pk)
    return _("may be used again; groups, unit, tokens and other roles have to be given anew.")


def say_ended(row: Any) -> str:
    return _("It has ended already.") if row.valid_to else ""


def say_active(user: User) -> str:
    return _("This account is active.") if user.is_active else ""


def show_state(row: Any) -> str:
    return state_label(_("in force"), "good") if row.valid_to is None else state_label(_("ended"), "gone")


offer_action(
    "tenants.OrgUnit",
    ApiAction("create-unit", gettext_lazy("Create a unit"), "group.manage", create_unit, str, NewUnitForm, needs_object=False),
    ApiAction("move-unit", gettext_lazy("Move"), "group.manage", move_unit,
              lambda unit: _("goes there with everybody in it and in the units below it, who become readers of what that unit may read"), ParentUnitForm),
)  # fmt: skip
offer_action("tenants.UnitPlacement", ApiAction("end-placement", gettext_lazy("End"), "group.manage", end_placement,
                                                lambda row: _("the person belongs to no unit from then on"), refusal=say_ended))  # fmt: skip
offer_action("tenants.GroupNesting", ApiAction("end-nesting", gettext_lazy("End"), "group.manage", end_nesting,
                                               lambda row: _("members of the inner group are no members of the outer one at once"),
                                               refusal=say_ended))  # fmt: skip
offer_action("tenants.Membership", ApiAction("end-membership", gettext_lazy("End"), "group.manage", end_membership,
                                             lambda row: _("the person is no member at once"), refusal=say_ended))  # fmt: skip
offer_action(
    "tenants.Group",
    ApiAction("add-member", gettext_lazy("Add a member"), "group.manage", add_member, lambda group: _("gets one more member from now on"), MemberForm),
    ApiAction("nest-group", gettext_lazy("Put into a group"), "group.manage", nest_group,
              lambda group: _("all its members become members of the group around it, too"), GroupForm),
)  # fmt: skip
offer_action(
    "tenants.User",
    ApiAction("place-person", gettext_lazy("Place in a unit"), "group.manage", place_person,
              lambda user: _("belongs to this unit, and to no other, from now on"), UnitForm),
    ApiAction("set-clearance", gettext_lazy("Set the clearance"), "acl.manage", set_clearance,
              lambda user: _("reads up to this level from now on"), ClearanceForm),
    ApiAction("reactivate-user", gettext_lazy("Reactivate"), "user.manage", reactivate_user,
              lambda user: _("may be used again, as a member without groups and unit"), refusal=say_active),
)  # fmt: skip
offer_related(
    "tenants.OrgUnit",
    Related(gettext_lazy("People"), "tenants.UnitPlacement", "unit__id__exact"),
)
offer_related("tenants.Group", Related(gettext_lazy("Groups in it"), "tenants.GroupNesting", "parent__id__exact"),
              Related(gettext_lazy("Groups around it"), "tenants.GroupNesting", "child__id__exact"))  # fmt: skip


@admin.register(OrgUnit)
class OrgUnitAdmin(ScopedAdmin[OrgUnit]):
    list_display = ("name", "slug", "id")
    search_fields = ("slug", "name")
    view_permission = "group.manage"
    subject_kind = "unit"
    empty_text = gettext_lazy("Parts of the organisation, used as readers (`unit:<id>`): everybody in a unit and below it. Make the first.")

    def headline(self, unit: OrgUnit) -> str:
        row = UnitParent.objects.filter(unit=unit, valid_to__isnull=True).select_related("parent").first()
        return _("%(unit)s is part of %(parent)s.") % {"unit": unit, "parent": row.parent} if row else _("%s stands at the top.") % unit


@admin.register(UnitPlacement)
class UnitPlacementAdmin(ScopedAdmin[UnitPlacement]):
    list_display = (
        link_column("user", gettext_lazy("person")),
        link_column("unit", gettext_lazy("unit")),
        "state",
        when_column("valid_from", gettext_lazy("since")),
        when_column("valid_to", gettext_lazy("ended")),
    )
    list_display_links = ("state",)
    list_select_related = ("user", "unit")
    view_permission = "group.manage"
    empty_text = gettext_lazy("Who belongs to which unit, and since when. Place somebody on their own page.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: UnitPlacement) -> str:
        return show_state(row)


@admin.register(GroupNesting)
class GroupNestingAdmin(ScopedAdmin[GroupNesting]):
    list_display = (
        link_column("child", gettext_lazy("members of")),
        link_column("parent", gettext_lazy("are members of")),
        "state",
        when_column("valid_from", gettext_lazy("since")),
        when_column("valid_to", gettext_lazy("ended")),
    )
    list_display_links = ("state",)
    list_select_related = ("child", "parent")
    view_permission = "group.manage"
    empty_text = gettext_lazy("Groups inside groups, at most five in a chain. Put a group into another on its own page.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: GroupNesting) -> str:
        return show_state(row)
