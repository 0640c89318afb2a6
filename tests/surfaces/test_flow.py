"""From a published folder to the page: the answer, its citations, and the lines they stand on."""

from __future__ import annotations

import html
import re

import pytest

from tests.builders import ask, publish
from tests.surfaces.doors import browser_of, program_of

LEAVE = "# Leave\n\nPreface.\n\nEmployees get 25 days of annual leave.\n\nA request goes to the personnel office two weeks before.\n"
QUESTION = "How many days of annual leave do employees get?"


def plain(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def marked(page):
    return "\n".join(html.unescape(text) for text in re.findall(r"<mark[^>]*>(.*?)</mark>", page, re.DOTALL))


@pytest.fixture
def answer(acme):
    publish(acme, {"leave.md": LEAVE})
    view = ask(acme.bob, QUESTION)
    assert view.status == "answered"
    return view


def test_R01_the_lines_marked_on_the_page_are_the_verified_quote(acme, answer):
    client = browser_of(acme)
    for citation in answer.citations:
        page = client.get(f"/answers/{answer.answer_id}/citations/{citation.n}/").content.decode()
        assert marked(page) == citation.quote
        first = int(re.search(r"L(\d+)", citation.locator)[1])
        cited_line = re.search(r'id="cited"><span class="number" data-line="(\d+)"', page)
        assert int(cited_line[1]) == first
        assert LEAVE.split("\n")[first - 1] == citation.quote


def test_R01_the_quote_on_the_answer_page_is_the_one_its_link_opens(acme, answer):
    page = browser_of(acme).get(f"/answers/{answer.answer_id}/").content.decode()
    quotes = [plain(quote) for quote in re.findall(r"<blockquote>(.*?)</blockquote>", page, re.DOTALL)]
    assert quotes == [citation.quote for citation in answer.citations]
    for citation in answer.citations:
        assert f"/answers/{answer.answer_id}/citations/{citation.n}/#at-{citation.span[0]}" in page
        assert f'id="at-{citation.span[0]}"' in browser_of(acme).get(f"/answers/{answer.answer_id}/citations/{citation.n}/").content.decode()


def test_R02_numbers_start_at_one_and_every_marker_has_its_citation_on_the_page(acme, answer):
    page = browser_of(acme).get(f"/answers/{answer.answer_id}/").content.decode()
    markers = [int(n) for n in re.findall(r'class="marker" href="#citation-(\d+)">\[\1\]<', page)]
    assert markers
    assert min(citation.n for citation in answer.citations) >= 1
    assert set(markers) == {citation.n for citation in answer.citations}
    for n in markers:
        assert page.count(f'id="citation-{n}"') == 1


def test_R03_an_old_answer_opens_with_the_same_words_and_citations(acme, answer):
    client = program_of(acme.bob)
    first = client.get(f"/api/answers/{answer.answer_id}").content
    ask(acme.bob, QUESTION)
    assert client.get(f"/api/answers/{answer.answer_id}").content == first


def test_the_page_says_how_many_claims_were_checked_and_their_state(acme, answer):
    text = plain(browser_of(acme).get(f"/answers/{answer.answer_id}/").content.decode())
    assert f"checked {len(answer.claims)} of {len(answer.claims)} claims" in text
    assert "✓ supported" in text


def test_rest_and_the_small_form_give_the_same_answer(acme, answer):
    client = program_of(acme.bob)
    body = client.post("/api/query", {"question": QUESTION}, content_type="application/json").json()
    small = client.post("/v1/ask", {"question": QUESTION}, content_type="application/json").json()
    assert body["answer"] == small["answer"] == answer.answer
    assert [(source["document"], source["locator"]) for source in body["sources"]] == [
        (source["doc"], source["locator"]) for source in small["sources"]
    ]
    assert [(row["n"], row["quote"], tuple(row["span"])) for row in body["citations"]] == [(row.n, row.quote, row.span) for row in answer.citations]


def test_the_lifeline_leads_from_the_claim_to_the_source(acme, answer):
    page = browser_of(acme).get(f"/answers/{answer.answer_id}/lifeline/").content.decode()
    kinds = re.findall(r'class="step step-(\w+)"', page)
    assert kinds[0] == "claim"
    assert kinds[-1] == "source"
    body = program_of(acme.bob).get(f"/api/answers/{answer.answer_id}/lifeline").json()
    assert [step["kind"] for path in body["paths"] for step in path] == kinds
    assert all(set(fact) == {"name", "value"} for path in body["paths"] for step in path for fact in step["facts"])


def test_a_conflict_is_shown_as_two_sides_and_the_sentence(acme):
    publish(acme, {"a.md": "# Front desk\n\nOpening hours: 9 am\n", "b.md": "# Front desk\n\nOpening hours: 10 am\n"})
    client = browser_of(acme)
    page = client.get(client.post("/ask/", {"question": "What are the opening hours of the front desk?"})["Location"]).content.decode()
    assert "These two sources disagree. Nobody has said which one counts." in page
    assert page.count('class="side"') == 2
    for n in re.findall(r"/citations/(\d+)/#cited", page):
        address = re.search(rf'href="(/answers/[^"]+/citations/{n}/)#cited"', page)[1]
        assert "Opening hours" in marked(client.get(address).content.decode())


def test_documents_and_sources_are_listed_for_their_managers(acme, answer):
    client = program_of(acme.alice)
    rows = client.get("/api/documents").json()["results"]
    assert [(row["path"], row["knowledge_base"]) for row in rows] == [("leave.md", "handbook")]
    assert client.get("/api/sources").json()["results"][0]["last_added"] == 1
