from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.surfaces.doors import browser_of, staff_templates

STAFF_PAGES = ["/", "/answers/", "/help/", "/nothing/", "/t/acme/login/"]
INLINE = re.compile(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:", re.IGNORECASE)


def ask(client, question):
    response = client.post("/ask/", {"question": question})
    assert response.status_code == 302
    return response["Location"]


@pytest.mark.parametrize("path", STAFF_PAGES)
def test_staff_pages_allow_no_inline_script_or_style_and_have_none(acme, path):
    for client in (browser_of(acme), Client()):
        response = client.get(path, follow=True)
        policy = response["Content-Security-Policy"]
        assert "unsafe-inline" not in policy
        assert "default-src 'none'" in policy
        assert not INLINE.search(response.content.decode())


def test_no_template_of_the_staff_pages_has_inline_script_or_style():
    for path in staff_templates():
        assert not INLINE.search(path.read_text()), path.name


def test_the_api_browser_is_the_named_exception(db):
    response = Client().get("/api/docs")
    assert response.status_code == 200
    assert "unsafe-inline" in response["Content-Security-Policy"]
    assert Client().get("/api/schema").status_code == 200


def test_asking_leads_to_an_abstention_that_says_why_and_what_next(acme):
    client = browser_of(acme)
    page = client.get(ask(client, "How many days of leave <b>?"))
    text = page.content.decode()
    assert page.status_code == 200
    assert "Nothing has been published here yet." in text
    assert "What to do next" in text
    assert "How many days of leave &lt;b&gt;?" in text


def test_the_page_of_an_abstention_in_chinese(acme):
    client = browser_of(acme)
    address = ask(client, "年假有多少天？")
    text = client.get(address, headers={"accept-language": "zh-CN,zh;q=0.9"}).content.decode()
    assert '<html lang="zh-hans">' in text
    assert "这里还没有发布任何内容。" in text


def test_the_language_is_kept_once_chosen(acme):
    client = Client()
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/help/"})
    assert '<html lang="zh-hans">' in client.get("/help/").content.decode()


@pytest.mark.parametrize("question", ["", "   ", "x" * 4001])
def test_a_question_that_cannot_be_asked_stays_in_the_form_with_the_reason(acme, question):
    response = browser_of(acme).post("/ask/", {"question": question})
    assert response.status_code == 400
    assert 'role="alert"' in response.content.decode()


def test_history_shows_ones_own_questions_newest_first(acme):
    client, other = browser_of(acme), browser_of(acme, "alice")
    ask(client, "First question?")
    ask(client, "Second question?")
    ask(other, "A question of Alice?")
    text = client.get("/answers/").content.decode()
    assert text.index("Second question?") < text.index("First question?")
    assert "Alice?" not in text


def test_the_lifeline_of_an_abstention_can_be_read(acme):
    client = browser_of(acme)
    assert client.get(ask(client, "How long?") + "lifeline/").status_code == 200


def test_pages_need_a_sign_in(db):
    for path in ("/ask/", "/answers/"):
        assert Client().get(path)["Location"] == f"/?next={path}"


@pytest.mark.parametrize("name", ["app.css", "app.js", "mark.svg"])
def test_the_pages_files_are_served_by_ourselves(db, name, settings):
    settings.WHITENOISE_AUTOREFRESH = True
    response = Client().get(f"/static/rag4c/{name}")
    assert response.status_code == 200
    assert b"".join(response)
    response.close()
