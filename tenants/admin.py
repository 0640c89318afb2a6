"""Admin pages of tenants and people. Doing goes through tenants.api alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_actions import own_scopes
from rag4c.scope.admin_columns import digest_column, link_column, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Related, install_readable_documents, offer_action, offer_related
from rag4c.scope.views import actor_of
from tenants import admin_acl, admin_org, api, roles
from tenants.admin_access import show_matrix
from tenants.admin_platform import show_tenants
from tenants.models import AclAssignment, AclSet, ApiToken, Clearance, Group, Membership, RoleAssignment, Tenant, User, Workspace, normalize_username

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from rag4c.kernel.grant import Actor

__all__ = ["admin_acl"]  # imported for its registrations
ROLES = [(code, code.replace("_", " ")) for code in roles.PERMISSIONS if code not in {roles.OPERATOR, roles.SERVICE_ACCOUNT}]


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES, widget=UnfoldAdminSelectWidget)


class NewUserForm(forms.Form):
    username = forms.CharField(max_length=150, widget=UnfoldAdminTextInputWidget)
    display_name = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)
    password = forms.CharField(max_length=1000, strip=False, widget=UnfoldAdminPasswordWidget, help_text=gettext_lazy("At least 12 characters."))
    role = forms.ChoiceField(choices=ROLES, initial=roles.MEMBER, widget=UnfoldAdminSelectWidget)


class NewServiceForm(forms.Form):
    username = forms.CharField(max_length=150, widget=UnfoldAdminTextInputWidget)
    display_name = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)


class NewGroupForm(forms.Form):
    slug = forms.SlugField(max_length=50, widget=UnfoldAdminTextInputWidget)
    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget)


def create_user(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.create_user(actor=actor, **fields)
    return _("%s can sign in now.") % str(fields["username"])


def create_service_account(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.create_service_account(actor=actor, **fields)
    return _("%s exists; make it a token with `rag4c token`.") % str(fields["username"])


def create_group(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.create_group(actor=actor, **fields)
    return _("The group %s exists now.") % str(fields["name"])


def deactivate_user(actor: Actor, user: User, fields: dict[str, Any]) -> str:
    api.deactivate_user(actor=actor, user_id=user.pk)
    return _("deactivated; sessions, tokens, memberships and roles have ended.")


def grant_role(actor: Actor, user: User, fields: dict[str, Any]) -> str:
    warned = api.grant_role(actor=actor, user_id=user.pk, role=fields["role"])
    done = _("holds the role %s now.") % str(fields["role"])
    return " ".join([done, *(_("Warning: with %(role)s: %(why)s") % {"role": row.one if row.other == fields["role"] else row.other, "why": row.why}
                             for row in warned)])  # fmt: skip


def revoke_role(actor: Actor, user: User, fields: dict[str, Any]) -> str:
    api.revoke_role(actor=actor, user_id=user.pk, role=fields["role"])
    return _("does not hold the role %s any more.") % str(fields["role"])


def end_assignment(actor: Actor, row: RoleAssignment, fields: dict[str, Any]) -> str:
    api.revoke_role(actor=actor, user_id=row.user_id, role=row.role)
    return _("ended.")


def revoke_token(actor: Actor, token: ApiToken, fields: dict[str, Any]) -> str:
    api.revoke_token(actor=actor, token_id=token.pk)
    return _("revoked; the next request with it is refused.")


def say_inactive(user: User) -> str:
    return "" if user.is_active else _("This person is deactivated already.")


def say_ended(row: RoleAssignment) -> str:
    return _("It has ended already.") if row.valid_to else ""


def say_revoked(token: ApiToken) -> str:
    return _("It is revoked already.") if token.revoked_at else ""


offer_action(
    "tenants.User",
    ApiAction("create-user", gettext_lazy("Create a person"), "user.manage", create_user, str, NewUserForm, needs_object=False),
    ApiAction("create-service-account", gettext_lazy("Create a service account"), "user.manage", create_service_account, str, NewServiceForm,
              needs_object=False),
    ApiAction("grant-role", gettext_lazy("Grant a role"), "role.grant", grant_role, lambda user: _("gets the role from now on"), RoleForm, say_inactive),
    ApiAction("revoke-role", gettext_lazy("Revoke a role"), "role.grant", revoke_role, lambda user: _("loses the role at once"), RoleForm),
    ApiAction("deactivate-user", gettext_lazy("Deactivate"), "user.manage", deactivate_user,
              lambda user: _("loses sign-in, sessions, tokens, groups and roles at once"), refusal=say_inactive),
)  # fmt: skip
offer_action(
    "tenants.Group", ApiAction("create-group", gettext_lazy("Create a group"), "group.manage", create_group, str, NewGroupForm, needs_object=False)
)
offer_action("tenants.RoleAssignment", ApiAction("end-assignment", gettext_lazy("Revoke"), "role.grant", end_assignment,
                                                 lambda row: _("the role ends at once"), refusal=say_ended))  # fmt: skip
offer_action("tenants.ApiToken", ApiAction("revoke-token", gettext_lazy("Revoke"), "token.manage", revoke_token,
                                           lambda token: _("programs that use it are refused at once"), refusal=say_revoked))  # fmt: skip
offer_related(
    "tenants.User",
    Related(gettext_lazy("Roles"), "tenants.RoleAssignment", "user__id__exact"),
    Related(gettext_lazy("Groups"), "tenants.Membership", "user__id__exact"),
    Related(gettext_lazy("Tokens"), "tenants.ApiToken", "user__id__exact"),
)
offer_related("tenants.Group", Related(gettext_lazy("Members"), "tenants.Membership", "group__id__exact"))
install_readable_documents(
    lambda grant: AclAssignment.objects.filter(
        subject_kind="document", valid_to__isnull=True, acl__number__in=sorted(api.allowed_acl_numbers(grant))
    ).values("subject_id")
)


since = admin_org.show_state


class OpenFilter(admin.SimpleListFilter):
    title = gettext_lazy("in force")
    parameter_name = "open"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("in force")), ("no", gettext_lazy("ended"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() is None else queryset.filter(valid_to__isnull=self.value() == "yes")


@admin.register(Tenant)
class TenantAdmin(ScopedAdmin[Tenant]):
    list_display = ("name", "slug", "is_active", "allows_support_access", "created_at")
    view_permission = "ledger.read"
    subject_kind = "tenant"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tenant]:
        return Tenant.objects.filter(pk=actor_of(request).tenant_id)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(own_scopes(lambda request: show_tenants(self, request)))
        return [path("all/", view, name="tenants_tenant_all"), *super().get_urls()]


@admin.register(Workspace)
class WorkspaceAdmin(ScopedAdmin[Workspace]):
    list_display = ("name", "slug")
    view_permission = "user.manage"
    subject_kind = "workspace"
    empty_text = gettext_lazy("Workspaces divide a tenant's knowledge bases. Every tenant begins with one, `main`.")


@admin.register(User)
class UserAdmin(ScopedAdmin[User]):
    list_display = (
        "username",
        "display_name",
        "kind",
        "state",
        when_column("last_login", gettext_lazy("last sign-in")),
        when_column("created_at", gettext_lazy("created")),
    )
    list_filter = ("is_active", "kind")
    search_fields = ("username_norm",)
    fields = ("username", "display_name", "kind", "is_active", "last_login", "created_at", "id")
    view_permission = "user.manage"
    subject_kind = "user"
    empty_text = gettext_lazy("People who may sign in. Make the first with “Create a person”, or `rag4c user`.")

    @admin.display(description=gettext_lazy("state"), ordering="is_active")
    def state(self, user: User) -> str:
        return state_label(_("active"), "good") if user.is_active else state_label(_("deactivated"), "gone")

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[User], search_term: str) -> tuple[QuerySet[User], bool]:
        return super().get_search_results(request, queryset, normalize_username(search_term))

    def headline(self, user: User) -> str:
        held = RoleAssignment.objects.filter(user=user, valid_to__isnull=True).values_list("role", flat=True)
        state = _("active") if user.is_active else _("deactivated")
        return _("%(name)s is %(state)s and holds: %(roles)s.") % {"name": user, "state": state, "roles": ", ".join(sorted(held)) or _("no role")}


@admin.register(Group)
class GroupAdmin(ScopedAdmin[Group]):
    list_display = ("name", "slug", "id")
    search_fields = ("slug", "name")
    view_permission = "group.manage"
    subject_kind = "group"
    empty_text = gettext_lazy("Groups of people, used as readers of sources (`group:<id>`). Make the first with “Create a group”.")


@admin.register(Membership)
class MembershipAdmin(ScopedAdmin[Membership]):
    list_display = (
        "title",
        link_column("group", gettext_lazy("group")),
        link_column("user", gettext_lazy("person")),
        "state",
        when_column("valid_from", gettext_lazy("since")),
    )
    list_select_related = ("group", "user")
    list_filter = (OpenFilter,)
    view_permission = "group.manage"
    empty_text = gettext_lazy("Who is in which group, and since when. Nobody is in a group yet.")

    @admin.display(description=gettext_lazy("membership"))
    def title(self, row: Any) -> str:
        return self.headline(row)

    def headline(self, row: Any) -> str:
        return _("%(who)s in %(group)s") % {"who": row.user, "group": row.group}

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: Membership) -> str:
        return since(row)


@admin.register(RoleAssignment)
class RoleAssignmentAdmin(ScopedAdmin[RoleAssignment]):
    list_display = (
        "role",
        link_column("user", gettext_lazy("person")),
        "state",
        when_column("valid_from", gettext_lazy("since")),
        when_column("valid_to", gettext_lazy("ended")),
    )
    list_select_related = ("user",)
    list_filter = ("role", OpenFilter)
    view_permission = "role.grant"
    empty_text = gettext_lazy("Who may do what, and since when. Grant a role on a person's page.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: RoleAssignment) -> str:
        return since(row)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(lambda request: show_matrix(self, request))
        return [path("matrix/", view, name="tenants_roleassignment_matrix"), *super().get_urls()]


@admin.register(Clearance)
class ClearanceAdmin(ScopedAdmin[Clearance]):
    list_display = ("user", "level", "state", when_column("valid_from", gettext_lazy("since")), when_column("valid_to", gettext_lazy("ended")))
    list_select_related = ("user",)
    list_filter = ("level", OpenFilter)
    view_permission = "acl.manage"
    empty_text = gettext_lazy("Who may read how closely kept documents. Without a row a person reads up to “internal”.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: Clearance) -> str:
        return since(row)


@admin.register(AclSet)
class AclSetAdmin(ScopedAdmin[AclSet]):
    list_display = ("number", "readers", "sensitivity", "purpose", digest_column("digest", gettext_lazy("digest")))
    list_filter = ("sensitivity",)
    ordering = ("-number",)
    view_permission = "acl.manage"
    empty_text = gettext_lazy("Sets of readers, each kept once and shared by all documents that have it. The first source makes the first.")

    @admin.display(description=gettext_lazy("readers"))
    def readers(self, row: AclSet) -> str:
        return str(row)


@admin.register(ApiToken)
class ApiTokenAdmin(ScopedAdmin[ApiToken]):
    list_display = ("name", "user", "state", when_column("expires_at", gettext_lazy("expires")), when_column("created_at", gettext_lazy("created")))
    list_select_related = ("user",)
    fields = ("name", "user", "created_at", "expires_at", "revoked_at", "id")
    search_fields = ("name",)
    view_permission = "token.manage"
    subject_kind = "token"
    empty_text = gettext_lazy("Tokens with which programs act for a person. Make one with `rag4c token`; its secret is shown once.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, token: ApiToken) -> str:
        return state_label(_("revoked"), "gone") if token.revoked_at else state_label(_("valid until it expires"), "good")
