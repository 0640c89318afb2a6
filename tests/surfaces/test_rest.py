from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from tests.surfaces.doors import browser_of, program_of

GETS = ["/api/answers", "/api/documents", "/api/sources"]
POSTS = ["/api/query", "/v1/ask"]


def ask(client, body, path="/api/query"):
    return client.post(path, body, content_type="application/json")


def assert_problem(response, status, code):
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], body["code"]) == (status, code)
    assert body["detail"]
    assert body["title"]


@pytest.mark.parametrize("path", GETS)
def test_without_a_sign_in_rest_answers_401_and_names_the_scheme(db, path):
    response = Client().get(path)
    assert_problem(response, 401, "not_signed_in")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", POSTS)
def test_asking_without_or_with_a_wrong_token_is_401(db, path):
    assert_problem(ask(Client(), {"question": "How long?"}, path), 401, "not_signed_in")
    wrong = Client(headers={"authorization": "Bearer rag4c_nothing"})
    assert_problem(ask(wrong, {"question": "How long?"}, path), 401, "not_signed_in")


def test_unknown_addresses_are_problems_under_api_and_pages_elsewhere(db):
    assert_problem(Client().get("/api/nothing"), 404, "absent")
    page = Client().get("/nothing/")
    assert page.status_code == 404
    assert page["Content-Type"].startswith("text/html")
    assert "absent" in page.content.decode()


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("question", ["", " \n ", "x" * 4001, None, 7.5j, ["a"]], ids=["empty", "blank", "long", "null", "missing", "list"])
def test_a_question_is_1_to_4000_code_points(acme, path, question):
    body = {} if question == 7.5j else {"question": question}
    assert_problem(ask(program_of(acme.bob), body, path), 400, "question_invalid")


def test_a_question_of_4000_code_points_beyond_the_basic_plane_is_asked(acme):
    assert ask(program_of(acme.bob), {"question": "𝒙" * 4000}).status_code == 200


def test_R05_an_empty_tenant_abstains_with_no_corpus_in_both_forms(acme):
    program = program_of(acme.bob)
    body = ask(program, {"question": "How many days of leave?"}).json()
    assert (body["status"], body["reason"], body["answer"], body["citations"]) == ("abstained", "no_corpus", "", [])
    assert program.get(f"/api/answers/{body['answer_id']}").json() == body
    small = ask(program, {"question": "How many days of leave?"}, "/v1/ask").json()
    assert small == {"answer": "", "sources": [], "status": "abstained", "reason": "no_corpus"}


def test_a_misspelt_field_is_refused_and_not_ignored(acme):
    response = ask(program_of(acme.bob), {"question": "How long?", "acls": ["tenant:*"], "as_of": "2020-01-01"})
    assert_problem(response, 400, "request_invalid")
    assert set(response.json()["errors"]) == {"acls", "as_of"}


@pytest.mark.parametrize("field", [{"knowledge_bases": ["x"]}, {"acl": "tenant:*"}, {"channel": 1.5e400}, {"purpose": "x" * 41}])
def test_wrong_fields_name_themselves(acme, field):
    response = ask(program_of(acme.bob), {"question": "How long?", **field})
    assert response.status_code == 400
    assert response.json()["code"] == "request_invalid"


def test_a_foreign_knowledge_base_is_absent(acme):
    body = {"question": "How long?", "knowledge_bases": ["01920000-0000-7000-8000-000000000000"]}
    assert_problem(ask(program_of(acme.bob), body), 404, "knowledge_base")
    assert_problem(ask(program_of(acme.bob), {"question": "How long?", "workspace": "nowhere"}), 404, "workspace")


def test_a_body_that_is_not_json_is_a_problem(acme):
    client = program_of(acme.bob)
    assert_problem(client.post("/api/query", "{", content_type="application/json"), 400, "request_invalid")
    assert_problem(client.post("/api/query", {"question": "?"}), 415, "media_type_unsupported")
    assert_problem(client.get("/api/query"), 405, "method_not_allowed")


def test_the_list_of_answers_is_ones_own_and_turns_its_pages(acme):
    program = program_of(acme.bob)
    asked = [ask(program, {"question": f"How many days of leave in {year}?"}).json()["answer_id"] for year in (2021, 2022, 2023)]
    ask(program_of(acme.alice), {"question": "And for Alice?"})
    first = program.get("/api/answers?limit=2").json()
    second = program.get(f"/api/answers?limit=2&after={first['next']}").json()
    assert [row["answer_id"] for row in first["results"] + second["results"]] == asked[::-1]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "code"), [("limit=0", "limit_invalid"), ("limit=201", "limit_invalid"), ("limit=²", "limit_invalid"), ("after=x", "cursor_invalid")]
)
def test_paging_that_makes_no_sense_is_refused(acme, query, code):
    assert_problem(program_of(acme.bob).get(f"/api/answers?{query}"), 400, code)


def test_documents_and_sources_are_for_those_who_manage_knowledge(acme):
    for path in ("/api/documents", "/api/sources"):
        assert_problem(program_of(acme.bob).get(path), 403, "not_allowed")
        assert program_of(acme.alice).get(path).json()["results"] == []


def test_a_browser_session_may_read_rest(acme):
    assert browser_of(acme).get("/api/answers").json() == {"results": [], "next": None}


def test_the_written_openapi_document_is_the_one_the_code_makes(db, tmp_path):
    made = tmp_path / "openapi.yaml"
    subprocess.run(
        [sys.executable, "-W", "ignore", "manage.py", "spectacular", "--file", str(made), "--validate", "--fail-on-warn"],
        check=True,
        cwd=settings.BASE_DIR,
        capture_output=True,
    )
    assert made.read_text() == (settings.BASE_DIR / "docs" / "openapi.yaml").read_text()
