"""Views, tasks, errors, pages and clock of the scope package."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta

import pytest
from celery import current_app
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.template import engines
from django.template.response import TemplateResponse
from django.test import RequestFactory
from psycopg_pool import PoolTimeout
from rest_framework import exceptions

from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.kernel.grant import system_actor
from rag4c.ledger.models import Delivery
from rag4c.scope import errors, views
from rag4c.scope.dbtime import ClockTimestamp, after
from rag4c.scope.manager import has_scope, scope
from rag4c.scope.middleware import RequestRimMiddleware
from rag4c.scope.paging import cut_page, read_page_query
from rag4c.scope.tasks import ScopedTask
from tenants.models import Group, Tenant
from tests.scope.support import ACME, GLOBEX, make_groups


def request_of(grant):
    request = RequestFactory().get("/x/")
    request.actor = system_actor(grant.tenant_id)
    return request


def test_a_template_is_rendered_inside_the_scope(two_tenants):
    make_groups(ACME, 2)

    @views.scoped_view
    def show(request):
        template = engines["django"].from_string("{% for row in rows %}{{ row.slug }} {% endfor %}")
        return TemplateResponse(request, template, {"rows": Group.objects.order_by("pk")})

    response = show(request_of(ACME))
    assert response.content == b"team-0 team-1 "
    assert not has_scope()


def test_a_plain_response_and_a_stranger_pass_through(two_tenants):
    @views.scoped_view
    def show(request):
        return HttpResponse(str(has_scope()))

    assert show(request_of(ACME)).content == b"True"
    assert show(RequestFactory().get("/x/")).content == b"False"


def test_a_streaming_view_must_open_its_own_scopes(two_tenants):
    @views.scoped_view
    def stream(request):
        return StreamingHttpResponse(iter([b"x"]))

    with pytest.raises(TypeError, match="own scopes"):
        stream(request_of(ACME))


def test_a_stranger_is_sent_to_the_start_page():
    @views.signed_in
    def show(request):
        return HttpResponse("in")

    assert show(RequestFactory().get("/answers/"))["Location"] == "/?next=/answers/"
    with pytest.raises(Denied, match="not_signed_in"):
        views.actor_of(RequestFactory().get("/x/"))


class GroupTask(ScopedTask):
    abstract = True
    model = Group


@current_app.task(base=GroupTask, name="tests.scope.look", shared=False)
def look(tenant_id, row_id):
    return f"ran, scope open: {has_scope()}"


def test_GOV_T7_a_task_runs_only_for_a_row_of_its_own_tenant(two_tenants):
    (group,) = make_groups(ACME)
    assert look(str(ACME.tenant_id), str(group.pk)) == "ran, scope open: False"
    assert look(str(GLOBEX.tenant_id), str(group.pk)) == "absent"
    assert look(str(ACME.tenant_id), str(uuid.uuid4())) == "absent"


KNOWN = [
    (Http404(), "absent", 404),
    (PermissionDenied(), "not_allowed", 403),
    (RequestDataTooBig(), "request_too_large", 400),
    (SuspiciousOperation(), "request_invalid", 400),
    (OperationalError(), "database_unavailable", 503),
    (PoolTimeout(), "database_unavailable", 503),
    (Conflict("channel_moved", "Look again.", {"rev": 3}), "channel_moved", 409),
]


@pytest.mark.parametrize(("error", "code", "status"), KNOWN, ids=[row[1] + type(row[0]).__name__ for row in KNOWN])
def test_every_known_fault_leaves_with_its_code(error, code, status):
    response = errors.problem_handler(error, {})
    body = json.loads(response.content)
    assert (response.status_code, body["status"], body["code"], response["Content-Type"]) == (status, status, code, "application/problem+json")
    assert body["detail"]
    page = errors.error_response(RequestFactory().get("/api/x"), errors.as_domain_error(error))
    assert (page.status_code, json.loads(page.content)["code"]) == (status, code)


def test_the_faults_of_the_framework_get_our_codes():
    refused = exceptions.AuthenticationFailed("secret words")
    refused.auth_header = "Bearer"
    response = errors.problem_handler(refused, {})
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    assert b"secret words" not in response.content
    invalid = json.loads(errors.problem_handler(exceptions.ValidationError({"question": ["Too long."]}), {}).content)
    assert (invalid["code"], invalid["errors"]) == ("request_invalid", {"question": ["Too long."]})
    assert json.loads(errors.problem_handler(exceptions.Throttled(), {}).content)["code"] == "too_many_requests"


def test_a_bug_is_not_answered_by_the_handler_and_its_text_never_leaves():
    assert errors.problem_handler(KeyError("canary"), {}) is None
    response = errors.error_response(RequestFactory().get("/api/x"), None)
    assert (response.status_code, json.loads(response.content)["code"]) == (500, "internal")
    assert b"canary" not in response.content


def test_a_page_gets_a_page(db):
    response = errors.error_response(RequestFactory().get("/documents/"), Absent("absent", "There is nothing here for you."))
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
    assert b"There is nothing here for you." in response.content


def rim(response):
    return RequestRimMiddleware(lambda request: response)


def test_every_answer_has_an_id_and_the_strict_policy():
    first, second = (rim(HttpResponse("x"))(RequestFactory().get("/ask/")) for _ in range(2))
    assert first["X-Request-Id"] != second["X-Request-Id"]
    assert "unsafe-inline" not in first["Content-Security-Policy"]
    assert "no-store" in first["Cache-Control"]
    assert "unsafe-inline" in rim(HttpResponse("x"))(RequestFactory().get("/admin/"))["Content-Security-Policy"]
    assert "Cache-Control" not in rim(HttpResponse("x"))(RequestFactory().get("/static/a.css")).headers
    kept = HttpResponse("x", headers={"Content-Security-Policy": "own"})
    assert rim(kept)(RequestFactory().get("/ask/"))["Content-Security-Policy"] == "own"


def test_GOV_T5_every_kind_of_absent_reads_the_same():
    bodies = {rim(HttpResponse(text, status=404))(RequestFactory().get("/api/x")).content for text in ("no such route", "no such row")}
    assert [json.loads(body)["code"] for body in bodies] == ["absent"]


def break_with(question):
    raise KeyError(question)


def test_a_bug_is_logged_by_type_and_place_and_never_with_its_text(caplog):
    canary = "-".join(["canary", "question"])  # so that no line of source in the trace holds it
    try:
        break_with(canary)
    except KeyError as error:
        response = rim(None).process_exception(RequestFactory().get("/api/x"), error)
    assert (response.status_code, json.loads(response.content)["code"]) == (500, "internal")
    (line,) = [record.getMessage() for record in caplog.records]
    assert "event='request.failed'" in line
    assert "error='KeyError'" in line
    assert "in break_with" in line
    assert "\n" not in line
    assert canary not in line + response.content.decode()


def test_a_known_fault_is_answered_and_not_logged_as_a_bug(caplog):
    response = rim(None).process_exception(RequestFactory().get("/api/x"), Denied("not_allowed", "No."))
    assert response.status_code == 403
    assert caplog.records == []


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", "٣", "1e2", " 5", "9" * 30])
def test_a_page_size_outside_its_range_is_refused(limit):
    with pytest.raises(Invalid, match="limit_invalid"):
        read_page_query({"limit": limit})


def test_pages_are_cut_by_the_last_rows_id():
    rows = [uuid.UUID(int=number) for number in range(5)]
    assert read_page_query({}).limit == 50
    assert read_page_query({"after": str(rows[2]), "limit": "3"}).after == rows[2]
    with pytest.raises(Invalid, match="cursor_invalid"):
        read_page_query({"after": "x"})
    assert cut_page(rows[:4], 3, lambda row: row) == (rows[:3], rows[2])
    assert cut_page(rows[:3], 3, lambda row: row) == (rows[:3], None)


def test_GOV_F3_the_databases_clock_moves_inside_a_transaction(two_tenants):
    with scope(ACME):
        first, second = (Tenant.objects.annotate(at=ClockTimestamp()).values_list("at", flat=True).get() for _ in range(2))
        later = Tenant.objects.annotate(at=after(timedelta(hours=1))).values_list("at", flat=True).get()
    assert second > first
    assert timedelta(minutes=59) < later - second <= timedelta(minutes=61)


def test_ids_are_version_seven_and_grow():
    from rag4c.scope.models import new_id

    ids = [new_id() for _ in range(200)]
    assert {key.version for key in ids} == {7}
    assert ids == sorted(ids)
    assert type(ids[0]) is uuid.UUID
    assert Delivery._meta.pk.default is new_id
