"""Signing in and out. The tenant stands in the address, because a name is unique inside its tenant only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django import forms
from django.contrib.auth import authenticate, login, logout
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from rag4c.kernel.grant import Grant
from rag4c.scope.manager import scope
from rag4c.scope.views import find_actor
from tenants.api import end_acting_session, find_tenant_id
from tenants.middleware import ACTING_KEY, TENANT_KEY

if TYPE_CHECKING:
    import uuid

    from django.http import HttpRequest, HttpResponse

    from tenants.models import User

SLUG_KEY: Final = "tenant_slug"  # what the page header shows; the tenant itself is under TENANT_KEY


class TenantForm(forms.Form):
    slug = forms.SlugField(max_length=50)


class LoginForm(forms.Form):
    username = forms.CharField(max_length=150)
    password = forms.CharField(max_length=1000, strip=False)


@require_safe
def choose_tenant(request: HttpRequest) -> HttpResponse:
    """Every well-formed slug leads to a login page: which tenants exist is not told."""
    form = TenantForm({"slug": request.GET.get("slug", "").strip().lower()})
    wanted = request.GET.get("next", "")
    if not form.is_valid():
        return render(request, "tenants/start.html", {"next": wanted, "slug": request.GET.get("slug", ""), "is_wrong": True}, status=400)
    address = reverse("log-in", args=[form.cleaned_data["slug"]])
    return redirect(f"{address}?{urlencode({'next': wanted})}" if wanted else address)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def show_login(request: HttpRequest, slug: str) -> HttpResponse:
    wanted = request.POST.get("next", request.GET.get("next", ""))
    username = request.POST.get("username", "")
    is_refused = False
    if request.method == "POST":
        tenant_id, user = _find_person(request, slug)
        if tenant_id is not None and user is not None:
            _begin_session(request, slug, tenant_id, user)
            return redirect(_safe_address(request, wanted))
        is_refused = True
    context = {"slug": slug, "next": wanted, "username": username, "is_refused": is_refused}
    return render(request, "tenants/login.html", context, status=401 if is_refused else 200)


@require_POST
def end_session(request: HttpRequest) -> HttpResponse:
    slug = request.session.get(SLUG_KEY)
    logout(request)
    return redirect("log-in", slug) if slug else redirect("start")


@require_POST
def end_acting(request: HttpRequest) -> HttpResponse:
    """The button of the banner: back to the platform."""
    acting = request.session.pop(ACTING_KEY, None)
    actor = find_actor(request)
    if acting and actor is not None and actor.session_id is not None:
        end_acting_session(actor=actor, session_id=actor.session_id)
    return redirect("start")


def _find_person(request: HttpRequest, slug: str) -> tuple[uuid.UUID | None, User | None]:
    """An unknown tenant takes the same path as a wrong password, the slow hash included."""
    form = LoginForm(request.POST)
    tenant_id = find_tenant_id(slug)
    if not form.is_valid():
        return None, None
    return tenant_id, authenticate(request, tenant_id=tenant_id, **form.cleaned_data)


def _begin_session(request: HttpRequest, slug: str, tenant_id: uuid.UUID, user: User) -> None:
    with scope(Grant(tenant_id)):
        login(request, user)
    request.session[TENANT_KEY] = str(tenant_id)
    request.session[SLUG_KEY] = slug


def _safe_address(request: HttpRequest, wanted: str) -> str:
    """Where to go after the log-in; never to another site."""
    is_safe = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return wanted if wanted and is_safe else reverse("start")
