"""Helpers that every view uses: who asks, and one scope around a view together with its template."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from django.http import StreamingHttpResponse
from django.shortcuts import redirect

from rag4c.kernel.errors import Denied
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

    from rag4c.kernel.grant import Actor


def find_actor(request: Any) -> Actor | None:
    """The actor of a Django or DRF request, or None for a stranger."""
    return getattr(getattr(request, "_request", request), "actor", None)


def actor_of(request: Any) -> Actor:
    """Raises: Denied("not_signed_in")."""
    actor = find_actor(request)
    if actor is None:
        raise Denied("not_signed_in", "Sign in first.")
    return actor


def scoped_view(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """One scope around the view *and* its template: the handler would render a TemplateResponse after we have closed."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        actor = find_actor(request)
        if actor is None:
            return view(request, *args, **kwargs)
        with scope(actor.grant):
            response = view(request, *args, **kwargs)
            if isinstance(response, StreamingHttpResponse):
                raise TypeError("a streaming view opens its own scopes")
            render = getattr(response, "render", None)
            return render() if callable(render) else response

    return wrapper


def signed_in(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Strangers are sent to the start page, which asks for the tenant."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if find_actor(request) is None:
            return redirect(f"/?next={request.path}")
        return view(request, *args, **kwargs)

    return wrapper
