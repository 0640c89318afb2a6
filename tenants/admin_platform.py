"""Admin pages around platform operators: what the tenant allows and sees, and what operators do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, DomainError
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import state_label, when_column
from rag4c.scope.admin_parts import ApiAction, ReasonForm, Tile, admin_actor, may, offer_action, offer_tiles
from rag4c.scope.manager import scope
from tenants import api
from tenants.middleware import ACTING_KEY
from tenants.models import SupportSession, Tenant

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from rag4c.kernel.grant import Actor


class FoundForm(forms.Form):
    slug = forms.SlugField(max_length=50, widget=UnfoldAdminTextInputWidget)
    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget)
    admin = forms.CharField(label=gettext_lazy("User name of the first admin"), max_length=150, widget=UnfoldAdminTextInputWidget)
    password = forms.CharField(max_length=1000, strip=False, widget=UnfoldAdminPasswordWidget, help_text=gettext_lazy("At least 12 characters."))


class SlugForm(forms.Form):
    slug = forms.SlugField(max_length=50, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy("Sessions and tokens work again at once."))


class SuspendForm(ReasonForm):
    slug = forms.SlugField(max_length=50, widget=UnfoldAdminTextInputWidget, help_text=gettext_lazy(
        "Sessions, tokens, sign-in and tasks of this tenant stop at once; documents, holds and the ledger stay as they are."))  # fmt: skip
    field_order = ("slug", "reason")


class ConfirmForm(forms.Form):
    slug = forms.SlugField(label=gettext_lazy("Tenant"), max_length=50, widget=UnfoldAdminTextInputWidget)
    session = forms.UUIDField(label=gettext_lazy("Id of the break-glass session"), widget=UnfoldAdminTextInputWidget)


class OpenForm(ReasonForm):
    kind = forms.ChoiceField(label=gettext_lazy("How"), widget=UnfoldAdminSelectWidget, choices=[
        ("support", gettext_lazy("support: the tenant lets operators in")),
        ("break_glass", gettext_lazy("break-glass: it does not; both ledgers raise an alert, a second operator confirms within four hours"))])  # fmt: skip
    minutes = forms.IntegerField(min_value=5, max_value=240, initial=30, widget=UnfoldAdminIntegerFieldWidget)
    field_order = ("kind", "minutes", "reason")


class EnterForm(forms.Form):
    session = forms.UUIDField(label=gettext_lazy("Id of the session"), widget=UnfoldAdminTextInputWidget,
                              help_text=gettext_lazy("As the ledger names it: a session that was approved later, or left and is still open."))  # fmt: skip


def found_tenant(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.found_tenant(actor=actor, **fields)
    return _("%(name)s exists; %(admin)s can sign in at /t/%(slug)s/login/.") % fields


def suspend_tenant(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.suspend_tenant(actor=actor, tenant_id=api.find_tenant_info(actor=actor, slug=fields["slug"]).id, reason=fields["reason"])
    return _("%s is suspended.") % str(fields["slug"])


def resume_tenant(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    api.resume_tenant(actor=actor, tenant_id=api.find_tenant_info(actor=actor, slug=fields["slug"]).id)
    return _("%s is in use again.") % str(fields["slug"])


def confirm_break_glass(actor: Actor, obj: Any, fields: dict[str, Any]) -> str:
    tenant_id = api.find_tenant_info(actor=actor, slug=fields["slug"]).id
    api.confirm_break_glass(actor=actor, tenant_id=tenant_id, session_id=fields["session"])
    return _("confirmed.")


def allow_support(actor: Actor, tenant: Tenant, fields: dict[str, Any]) -> str:
    api.allow_support(actor=actor, is_allowed=True)
    return _("platform operators may look in now, each time for a reason and a limited time.")


def forbid_support(actor: Actor, tenant: Tenant, fields: dict[str, Any]) -> str:
    api.allow_support(actor=actor, is_allowed=False)
    return _("lets no operator in any more; open sessions end at their next click.")


def end_session(actor: Actor, session: SupportSession, fields: dict[str, Any]) -> str:
    api.end_acting_session(actor=actor, session_id=session.pk)
    return _("ended.")


def say_over(session: SupportSession) -> str:
    return _("It is over already.") if session.ended_at or session.expires_at <= clock.now() else ""


offer_action(
    "tenants.Tenant",
    ApiAction("allow-support", gettext_lazy("Let operators look in"), "support.allow", allow_support,
              lambda tenant: _("operators may see lists, states and the ledger, but no content, and change nothing"),
              refusal=lambda tenant: _("They may already.") if tenant.allows_support_access else ""),
    ApiAction("forbid-support", gettext_lazy("Let no operator in"), "support.allow", forbid_support,
              lambda tenant: _("open support sessions end at their next click"),
              refusal=lambda tenant: "" if tenant.allows_support_access else _("Nobody is let in now.")),
    ApiAction("found-tenant", gettext_lazy("Found a tenant"), "tenant.create", found_tenant, str, FoundForm, needs_object=False),
    ApiAction("suspend-tenant", gettext_lazy("Suspend a tenant"), "tenant.suspend", suspend_tenant, str, SuspendForm, needs_object=False),
    ApiAction("resume-tenant", gettext_lazy("Resume a tenant"), "tenant.suspend", resume_tenant, str, SlugForm, needs_object=False),
    ApiAction("confirm-break-glass", gettext_lazy("Confirm a break-glass session"), "support.break_glass", confirm_break_glass, str, ConfirmForm,
              needs_object=False),
)  # fmt: skip
offer_action("tenants.SupportSession", ApiAction("end-session", gettext_lazy("End the session"), "support.allow", end_session,
                                                 lambda session: _("the operator is out at their next click"), refusal=say_over))  # fmt: skip

offer_tiles(Tile(gettext_lazy("Break-glass sessions not confirmed"), "tenants.SupportSession", "kind__exact=break_glass&confirmed_at__isnull=True",
                 is_alarm=True))  # fmt: skip


@admin.register(SupportSession)
class SupportSessionAdmin(ScopedAdmin[SupportSession]):
    list_display = ("reason", "kind", "state", when_column("opened_at", gettext_lazy("opened")), when_column("expires_at", gettext_lazy("until")))
    list_filter = ("kind",)
    lookups = ("confirmed_at__isnull",)
    view_permission = "ledger.read"
    subject_kind = "support_session"
    empty_text = gettext_lazy("When platform operators looked into this tenant, and why. Nobody has yet.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, session: SupportSession) -> str:
        if not say_over(session):
            return state_label(_("open"), "odd")
        needs_second = session.kind == "break_glass" and session.confirmed_at is None
        return state_label(_("over, not confirmed"), "bad") if needs_second else state_label(_("over"), "gone")


def show_tenants(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """All tenants, for operators; POST opens a session in one of them."""
    actor = admin_actor(request)
    if not may(request, "tenant.create") or actor.session_id is not None:
        raise Http404
    enters = "session" in request.POST
    form, entering = OpenForm(None if enters else request.POST or None), EnterForm(request.POST if enters else None)
    asked = entering if enters else form
    if request.method == "POST" and asked.is_valid():
        try:
            return (_enter_session if enters else _open_session)(request, actor, asked.cleaned_data)
        except DomainError as error:
            asked.add_error(None, f"{error.message} ({error.code})")
    tenants = [info for info in api.list_tenants(actor=actor) if info.id != actor.tenant_id]
    with scope(actor.grant):
        context = {**model_admin.admin_site.each_context(request), "title": _("Tenants of the platform"), "tenants": tenants, "form": form,
                   "entering": entering, "chosen": request.POST.get("tenant", "")}  # fmt: skip
        return TemplateResponse(request, "admin/tenants/platform.html", context).render()


def _open_session(request: HttpRequest, actor: Actor, fields: dict[str, Any]) -> HttpResponse:
    open_session = api.break_glass if fields["kind"] == "break_glass" else api.open_acting_session
    tenant_id = api.find_tenant_info(actor=actor, slug=request.POST.get("tenant", "")).id
    session = open_session(actor=actor, tenant_id=tenant_id, reason=fields["reason"], minutes=fields["minutes"])
    messages.info(request, _("The session %s is open; the banner ends it.") % session.id)
    return _go_in(request, session)


def _enter_session(request: HttpRequest, actor: Actor, fields: dict[str, Any]) -> HttpResponse:
    tenant_id = api.find_tenant_info(actor=actor, slug=request.POST.get("tenant", "")).id
    found = api.find_acting_actor(operator=actor, tenant_id=tenant_id, session_id=fields["session"])
    if found is None:
        raise Absent("session", _("There is no such session of yours, or it is over."))
    return _go_in(request, found[1])


def _go_in(request: HttpRequest, session: api.ActingSession) -> HttpResponse:
    request.session[ACTING_KEY] = [str(session.tenant_id), str(session.id)]
    return HttpResponseRedirect(reverse("admin:index"))
