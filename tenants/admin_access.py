"""Questions about access, on one page: why may somebody read a document or not, and who could, now or at a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import Http404
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from rag4c.kernel.errors import DomainError
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_actions import own_scopes
from rag4c.scope.admin_columns import link_column, state_label, when_column
from rag4c.scope.admin_parts import Related, admin_actor, may, offer_related
from rag4c.scope.manager import scope
from tenants import api, duties, roles
from tenants.models import AclAssignment
from tenants.sentences import say_entrance, say_reasons, say_verdict

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from rag4c.kernel.grant import Actor

offer_related("documents.Document", Related(gettext_lazy("Readers, now and before"), "tenants.AclAssignment", "subject_id"))


class QuestionForm(forms.Form):
    document = forms.CharField(label=gettext_lazy("Document"), max_length=1100, widget=UnfoldAdminTextInputWidget,
                               help_text=gettext_lazy("Its path, base/path, or its id."))  # fmt: skip
    person = forms.CharField(label=gettext_lazy("Person"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget,
                             help_text=gettext_lazy("A user name. Leave it empty to list everybody who may read the document."))  # fmt: skip
    at = forms.DateTimeField(label=gettext_lazy("On"), required=False, widget=UnfoldAdminTextInputWidget,
                             help_text=gettext_lazy("YYYY-MM-DD HH:MM, in UTC. Empty means now."))  # fmt: skip
    purpose = forms.CharField(label=gettext_lazy("Purpose"), max_length=40, required=False, widget=UnfoldAdminTextInputWidget,
                              help_text=gettext_lazy("What the reader states. Empty means the purpose that the document asks for."))  # fmt: skip


@admin.register(AclAssignment)
class AccessAdmin(ScopedAdmin[AclAssignment]):
    list_display = (
        "subject_kind",
        "subject_id",
        link_column("acl", gettext_lazy("readers")),
        "state",
        when_column("valid_from", gettext_lazy("since")),
        when_column("valid_to", gettext_lazy("ended")),
    )
    list_select_related = ("acl",)
    list_filter = ("subject_kind",)
    lookups = ("subject_id",)
    view_permission = "access.explain"
    empty_text = gettext_lazy("Who could read what, and since when. The first source brings the first rows.")

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: AclAssignment) -> str:
        return state_label(_("in force"), "good") if row.valid_to is None else state_label(_("ended"), "gone")

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(own_scopes(self.ask_view))
        return [path("ask/", view, name="tenants_aclassignment_ask"), *super().get_urls()]

    def ask_view(self, request: HttpRequest) -> HttpResponse:
        return show_question(self, request)


def show_question(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The form, and below it the answer. Asking is recorded, so only a form that was sent asks."""
    if not may(request, "access.explain"):
        raise Http404
    form = QuestionForm(request.GET if "document" in request.GET else None)
    context: dict[str, Any] = {"title": _("Who may read what, and why"), "form": form}
    actor = admin_actor(request)
    if form.is_bound and form.is_valid():
        try:
            context.update(answer_question(actor, form.cleaned_data))
        except DomainError as error:
            form.add_error(None, f"{error.message} ({error.code})")
    with scope(actor.grant):
        return TemplateResponse(request, "admin/tenants/ask.html", {**model_admin.admin_site.each_context(request), **context}).render()


def answer_question(actor: Actor, asked: dict[str, Any]) -> dict[str, Any]:
    document_id, name = api.find_subject(actor=actor, text=asked["document"])
    subject, options = ("document", document_id), {"at": asked["at"], "purpose": asked["purpose"] or None}
    if asked["person"]:
        user_id = api.find_user(actor=actor, username=asked["person"])
        told = api.explain_access(actor=actor, user_id=user_id, subject=subject, **options)
        return {"verdict": say_verdict(told, name), "is_allowed": told.is_allowed, "reasons": say_reasons(told)}
    readers = api.who_could_see(actor=actor, subject=subject, **options)
    return {"readers": [(row.name, say_entrance(row.name, row.through, row.chain)) for row in readers], "document": name, "has_list": True}


def show_matrix(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Which role may do what, and which do not go together; as docs/roles.md."""
    codes = list(roles.PERMISSIONS)
    rows = [(permission, [permission in roles.PERMISSIONS[code] for code in codes]) for permission in roles.all_permissions()]
    context = {"title": _("Roles and permissions"), "codes": codes, "rows": rows, "conflicts": duties.CONFLICTS, "support": sorted(roles.SUPPORT)}
    return TemplateResponse(request, "admin/tenants/matrix.html", {**model_admin.admin_site.each_context(request), **context})
