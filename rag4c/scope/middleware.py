"""Outermost rim of a request: request id, security headers, and an answer for every exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog
from django.utils.cache import patch_cache_control

from rag4c.kernel.errors import Absent
from rag4c.scope.errors import as_domain_error, error_response
from rag4c.scope.models import new_id
from rag4c.scope.refusals import note_request_refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

log = structlog.get_logger()
STRICT_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# unfold's admin and the API browser ship inline scripts and styles: a named exception for their paths only
LOOSE_CSP: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
LOOSE_PATHS: Final = ("/admin/", "/api/docs")


class RequestRimMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = str(new_id())
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
            if response.status_code == 404 and not response.headers.get("Content-Type", "").startswith(("application/problem", "application/scim")):
                response = error_response(request, Absent("absent", "There is nothing here for you."))
        response["X-Request-Id"] = request_id
        if "Content-Security-Policy" not in response.headers:
            response["Content-Security-Policy"] = LOOSE_CSP if request.path.startswith(LOOSE_PATHS) else STRICT_CSP
        if not request.path.startswith("/static/"):
            patch_cache_control(response, no_store=True)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        """Known faults get their code; a bug is logged with its type and place and answered with a plain 500."""
        known = as_domain_error(error)
        if known is None:
            log.error("request.failed", path=request.path, error=type(error).__name__, exc_info=_without_content(error))
        note_request_refusal(request, known)
        return error_response(request, known)


def _without_content(error: Exception) -> tuple[type[BaseException], BaseException, object]:
    """The trace with the exception's own text left out: it may quote what the user sent."""
    bare = RuntimeError(type(error).__name__)
    return RuntimeError, bare, error.__traceback__
