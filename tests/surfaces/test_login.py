from __future__ import annotations

import re

from django.test import Client

from tests.builders import PASSWORD
from tests.surfaces.doors import log_in


def without_tokens(body: bytes, slug: str) -> bytes:
    return re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", body).replace(slug.encode(), b"")


def test_a_person_signs_in_and_sees_the_question_form(acme):
    client, response = log_in("acme")
    assert (response.status_code, response["Location"]) == (302, "/")
    page = client.get("/").content.decode()
    assert 'action="/ask/"' in page
    assert "acme" in page


def test_unknown_tenant_unknown_name_and_wrong_password_read_exactly_the_same(acme):
    bodies = set()
    for slug, username, password in (("acme", "bob", "wrong"), ("nobody", "bob", "wrong"), ("nobody", "bob", PASSWORD), ("acme", "zoe", PASSWORD)):
        _, response = log_in(slug, username, password)
        assert response.status_code == 401
        bodies.add(without_tokens(response.content, slug).replace(username.encode(), b""))
    assert len(bodies) == 1


def test_the_login_page_of_an_unknown_tenant_looks_like_any_other(acme):
    known, unknown = Client().get("/t/acme/login/"), Client().get("/t/nobody/login/")
    assert known.status_code == unknown.status_code == 200
    assert without_tokens(known.content, "acme") == without_tokens(unknown.content, "nobody")


def test_a_name_with_a_nul_byte_is_refused_like_any_other(acme):
    assert log_in("acme", "bob\x00")[1].status_code == 401


def test_the_name_of_another_tenant_does_not_sign_in(acme, globex):
    _, response = log_in("globex", "bob")
    client, _ = log_in("globex", "bob")
    assert response.status_code == 302
    assert "acme" not in client.get("/").content.decode()


def test_next_leads_on_inside_and_never_to_another_site(acme):
    assert log_in("acme", next="/answers/")[1]["Location"] == "/answers/"
    for elsewhere in ("https://example.org/", "//example.org/", "javascript:alert(1)", "http:///example.org"):
        assert log_in("acme", next=elsewhere)[1]["Location"] == "/"


def test_the_start_page_asks_for_the_tenant_and_keeps_where_to_go(acme):
    page = Client().get("/answers/", follow=True)
    assert page.redirect_chain == [("/?next=/answers/", 302)]
    assert 'name="next" value="/answers/"' in page.content.decode()
    chosen = Client().get("/t/", {"slug": " ACME ", "next": "/answers/"})
    assert chosen["Location"] == "/t/acme/login/?next=%2Fanswers%2F"
    assert Client().get("/t/", {"slug": "no such/name"}).status_code == 400


def test_signing_out_ends_the_session_and_needs_a_post(acme):
    client, _ = log_in("acme")
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/t/acme/login/"
    assert client.get("/answers/").status_code == 302


def test_forms_without_a_csrf_token_are_refused(acme):
    client = Client(enforce_csrf_checks=True)
    response = log_in("acme", client=client)[1]
    assert response.status_code == 403
    assert "csrf_failed" in response.content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/t/acme/login/").content.decode())[1]
    assert log_in("acme", client=client, csrfmiddlewaretoken=token)[1].status_code == 302
    assert client.post("/ask/", {"question": "?"}).status_code == 403
    assert client.post("/logout/").status_code == 403
    api = client.post("/api/query", {"question": "How long?"}, content_type="application/json")
    assert (api.status_code, api.json()["code"]) == (403, "not_allowed")
