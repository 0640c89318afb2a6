"""The request rim: every fault leaves as problem+json or a plain page with a stable code, never a trace, never content."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, JsonResponse
from django.shortcuts import render
from psycopg_pool import PoolTimeout
from rest_framework import exceptions

from rag4c.kernel.errors import Absent, Denied, DomainError, Invalid, Unavailable
from rag4c.scope.refusals import note_request_refusal

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

log = structlog.get_logger()
_DRF_CODES = {
    400: "request_invalid",
    401: "not_signed_in",
    403: "not_allowed",
    404: "absent",
    405: "method_not_allowed",
    406: "not_acceptable",
    415: "media_type_unsupported",
    429: "too_many_requests",
}
_SENTENCES = {
    "request_invalid": "The request is not valid; see `errors`.",
    "not_signed_in": "Sign in, or send a valid token as `Authorization: Bearer …`.",
    "not_allowed": "Your roles do not allow this.",
    "absent": "There is nothing here for you.",
    "method_not_allowed": "This address does not take that method.",
    "media_type_unsupported": "Send application/json.",
    "internal": "Something went wrong on our side; the request id names it in the log.",
}

# the first kind that fits: RequestDataTooBig is a SuspiciousOperation
_KNOWN: Final[tuple[tuple[type[Exception], DomainError], ...]] = (
    (Http404, Absent("absent", _SENTENCES["absent"])),
    (PermissionDenied, Denied("not_allowed", _SENTENCES["not_allowed"])),
    (RequestDataTooBig, Invalid("request_too_large", "Send less than 1 MB.")),
    (SuspiciousOperation, Invalid("request_invalid", "The request was refused.")),
    (OperationalError, Unavailable("database_unavailable", "The database does not answer just now; try again in a moment.")),
    (PoolTimeout, Unavailable("database_unavailable", "The database does not answer just now; try again in a moment.")),
)


def as_domain_error(error: Exception) -> DomainError | None:
    """The domain error that a known exception stands for, or None for a bug."""
    if isinstance(error, DomainError):
        return error
    return next((known for kinds, known in _KNOWN if isinstance(error, kinds)), None)


def problem(code: str, status: int, message: str = "", **extra: Any) -> JsonResponse:
    """application/problem+json (RFC 9457)."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": message or _SENTENCES.get(code, ""),
        **extra,
    }
    return JsonResponse(body, status=status, content_type="application/problem+json")


def problem_handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """DRF's exception handler. A bug returns None, so that it reaches the middleware's rim and is logged there once."""
    if isinstance(error, exceptions.ValidationError):
        return problem("request_invalid", 400, errors=error.detail)
    if isinstance(error, exceptions.APIException):
        response = problem(_DRF_CODES.get(error.status_code, "request_invalid"), error.status_code)
        if header := getattr(error, "auth_header", None):
            response["WWW-Authenticate"] = header
        return response
    known = as_domain_error(error)
    note_request_refusal(context.get("request"), known)
    return problem(known.code, known.status, known.message, **({"data": known.data} if known.data else {})) if known else None


def wants_json(request: HttpRequest) -> bool:
    return request.path.startswith(("/api/", "/v1/", "/scim/", "/healthz", "/readyz"))


def error_response(request: HttpRequest, known: DomainError | None) -> HttpResponse:
    code, status = (known.code, known.status) if known else ("internal", 500)
    message = (known.message if known else "") or _SENTENCES.get(code, "")
    if wants_json(request):
        return problem(code, status, message, **({"data": known.data} if known and known.data else {}))
    return render(request, "error.html", {"code": code, "status": status, "message": message}, status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    log.info("request.csrf_refused", path=request.path)
    return error_response(request, Denied("csrf_failed", "This page was open for too long. Go back, reload it and try again."))
