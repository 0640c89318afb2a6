"""The admin site: for actors with more than a member's permissions, without a password form, beginning with what needs attention."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from django.contrib.auth import logout
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from rag4c.scope.admin import MAX_COUNTED, ScopedAdmin, is_staff_actor
from rag4c.scope.admin_parts import PANELS, TILES
from rag4c.scope.views import find_actor, scoped_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.admin import AdminSite
    from django.contrib.admin import AdminSite as UnfoldAdminSite
    from django.http import HttpRequest, HttpResponseBase

    from rag4c.scope.admin_parts import Panel, Tile
else:  # unfold has no types
    from unfold.sites import UnfoldAdminSite


def list_behind(site: AdminSite, request: HttpRequest, label: str, params: str) -> tuple[Any, str] | None:
    """The very list that a number links to, and its address, so that both say the same; None for those who may not open it."""
    admin: Any = next((admin for model, admin in site._registry.items() if model._meta.label == label), None)
    if admin is None or not admin.has_view_permission(request):
        return None
    as_list = copy.copy(request)
    as_list.GET = QueryDict(params)
    address = reverse(f"admin:{admin.opts.app_label}_{admin.opts.model_name}_changelist")
    return admin.get_changelist_instance(as_list), f"{address}?{params}" if params else address


def show_tile(site: AdminSite, request: HttpRequest, tile: Tile) -> dict[str, Any] | None:
    behind = list_behind(site, request, tile.target, tile.params)
    if behind is None:
        return None
    count = behind[0].result_count
    return {"title": tile.title, "count": count, "is_capped": count >= MAX_COUNTED, "is_alarm": tile.is_alarm and count > 0, "url": behind[1]}


def show_panel(site: AdminSite, request: HttpRequest, panel: Panel) -> dict[str, Any] | None:
    behind = list_behind(site, request, panel.target, panel.params)
    if behind is None:
        return None
    changes, url = behind
    page = f"admin:{changes.opts.app_label}_{changes.opts.model_name}_change"
    rows = [(changes.model_admin.headline(row), reverse(page, args=[row.pk])) for row in changes.queryset[: panel.rows]]
    return {"title": panel.title, "rows": rows, "url": url} if rows else None


class OwnSignInMixin:
    """People sign in at /t/<slug>/login/; the admin has no form for passwords."""

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The form is /t/<slug>/login/; a stranger comes back after it, a member stays on the start page."""
        wanted = request.GET.get("next", "")
        return redirect(f"/?{urlencode({'next': wanted})}" if wanted and find_actor(request) is None else "/")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method == "POST":
            logout(request)
        return redirect("/")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect(reverse("admin:index"))

    def password_change_done(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect(reverse("admin:index"))


class TenantAdminSite(OwnSignInMixin, UnfoldAdminSite):
    index_template = "admin/scoped/index.html"
    index_title = _("Needs attention")

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Only our own pages: those of Django's groups and of beat's schedules would write past the api, to tables of the platform."""
        if admin_class is not None and issubclass(admin_class, ScopedAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def admin_view(self, view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002  # Django's signature
        return super().admin_view(view if getattr(view, "opens_own_scopes", False) else scoped_view(view), cacheable)

    def has_permission(self, request: HttpRequest) -> bool:
        return is_staff_actor(request)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Off: unfold keeps results by user for five minutes, past a change of grants."""
        return HttpResponse()

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        tiles = [shown for tile in TILES if (shown := show_tile(self, request, tile))]
        tiles.sort(key=lambda tile: not tile["is_alarm"])
        panels = [shown for panel in PANELS if (shown := show_panel(self, request, panel))]
        return super().index(request, {"tiles": tiles, "panels": panels, **(extra_context or {})})
