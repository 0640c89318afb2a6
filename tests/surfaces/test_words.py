"""Reasons in both languages, the catalogue, and the numbering from pack to page (R01, R02)."""

from __future__ import annotations

import ast
import gettext
import re
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from tests.surfaces.doors import staff_templates
from verification.api import CitationView, CitedDocument
from verification.pages import split_lines, split_markers
from verification.reasons import REASONS, find_reason
from verification.templatetags.verification_words import state

CODES = [
    "no_corpus",
    "no_evidence",
    "low_retrieval",
    "unsupported_attribute",
    "conflicting_evidence",
    "source_changed",
    "index_outdated",
    "low_entailment",
    "does_not_answer",
    "unsupported_claims",
    "verification_unavailable",
    "chunk_settings_changed",
    "prompt_budget",
]
LOCALE = Path(settings.LOCALE_PATHS[0]) / "zh_Hans" / "LC_MESSAGES"


def cite(n, text, quote, start=0, document="a.md"):
    at = text.index(quote, start)
    return CitationView(n, f"e{at}", "d", document, "r", "L1", (at, at + len(quote)), "", "text", "verbatim", "ok", "ok", quote)


def cited_document(text, quote, n=1, locator="L1"):
    at = text.index(quote)
    return CitedDocument(
        n, "a.md", locator, 1, "ok", has_source_lines=True, before=text[:at], cited=quote, after=text[at + len(quote) :], previous_n=None, next_n=None
    )


def marked(lines):
    return "\n".join(line.cited for line in lines if line.is_cited)


@pytest.mark.parametrize("code", CODES)
def test_every_reason_has_its_sentence_and_next_step_in_both_languages(code):
    reason = REASONS[code]
    for words in (reason.sentence, reason.next_step):
        assert words.english.isascii()
        assert re.search(r"[一-鿿]", words.chinese)


def test_a_reason_names_subject_and_attribute_as_they_are():
    sentence = find_reason("unsupported_attribute").sentence
    assert sentence.say("en", {"subject": "{Front desk}", "attribute": "parking"}) == "The documents mention {Front desk}, but not parking."
    assert sentence.say("zh-hans", {"subject": "前台"}) == "文档提到了前台，但没有说明…。"


def test_an_unknown_reason_has_general_words():
    assert find_reason("something_new").sentence.say("en") == "There is no answer that could be relied on."


@pytest.mark.parametrize(("code", "shape"), [("ok", "✓"), ("exists_only", "◐"), ("stale", "↻"), ("unsupported", "✕")])
def test_states_are_told_by_shape_and_word(code, shape):
    sign = state(code)
    assert shape in sign
    assert re.search(r"</span> \w+", sign)


def read_catalogue():
    with (LOCALE / "django.mo").open("rb") as file:
        return gettext.GNUTranslations(file)._catalog


def test_the_compiled_catalogue_is_the_written_one_and_complete():
    compiled = {key: value for key, value in read_catalogue().items() if isinstance(key, str) and key}
    entries = re.findall(r'^msgid "(.+)"\nmsgstr "(.*)"$', (LOCALE / "django.po").read_text(), re.MULTILINE)
    assert {key.replace('\\"', '"'): words.replace('\\"', '"') for key, words in entries} == compiled
    assert all(compiled.values())


def test_every_phrase_of_the_templates_is_in_the_catalogue():
    catalogue = read_catalogue()
    for path in staff_templates():
        for double, single in re.findall(r"""\{% translate (?:"([^"]+)"|'([^']+)')""", path.read_text()):
            assert (double or single) in catalogue, path.name


def phrases_of_code(path):
    """What a module gives to gettext, by whatever name it imports it."""
    tree = ast.parse(path.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names]
    yield from (call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant))


@pytest.mark.parametrize("app", ["approvals", "compliance", "documents", "rag4c", "retrieval", "tenants", "verification"])
def test_every_phrase_of_the_code_and_the_admin_is_in_the_catalogue(app):
    known = {key if isinstance(key, str) else key[0] for key in read_catalogue()}
    asked = {phrase for path in Path(settings.BASE_DIR, app).rglob("*.py") for phrase in phrases_of_code(path)}
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        asked |= {double or single for double, single in re.findall(r"""\{% translate (?:"([^"]+)"|'([^']+)')""", path.read_text())}
    assert asked
    assert asked - known == set()


@given(st.lists(st.integers(1, 120), min_size=1, max_size=30), st.text(alphabet="ab c.。", max_size=8))
def test_R02_markers_are_one_based_and_none_is_lost_or_moved(numbers, between):
    answer = between.join(f"[{n}]" for n in numbers)
    pieces = split_markers(answer, set(numbers))
    assert [piece.n for piece in pieces if piece.n] == numbers
    assert "".join(piece.text for piece in pieces) == answer
    assert all(piece.text == f"[{piece.n}]" for piece in pieces if piece.n)


def test_R02_zero_and_numbers_without_a_citation_stay_text():
    assert [piece.n for piece in split_markers("a [0] b [1] c [2] d [01]", {0, 1})] == [0, 1, 0]


@given(st.text(alphabet="ab \n", max_size=40), st.text(alphabet="xy \n", min_size=1, max_size=30), st.text(alphabet="ab \n", max_size=40))
def test_R01_what_is_marked_is_the_cited_span(before, cited, after):
    document = CitedDocument(1, "a.md", "L7", 1, "ok", has_source_lines=True, before=before, cited=cited, after=after, previous_n=None, next_n=None)
    lines = split_lines(document, ())
    assert "\n".join("".join(part.text for part in line.parts) for line in lines) == before + cited + after
    assert "".join(line.cited for line in lines) == cited.replace("\n", "")
    starts = [line.number for line in lines if line.is_cited]
    if starts:
        assert starts[0] == 7 + len(cited) - len(cited.lstrip("\n"))


def test_R01_every_span_of_a_number_is_marked_and_not_the_first_only():
    text = "Intro.\nSixteen weeks of leave. Nothing here.\nThirty days before."
    citations = [cite(1, text, "Sixteen weeks of leave."), cite(1, text, "Thirty days before."), cite(2, text, "Intro.")]
    lines = split_lines(cited_document(text, "Sixteen weeks of leave.", locator="L2"), citations)
    assert marked(lines) == "Sixteen weeks of leave.\nThirty days before."
    assert [part.anchor for line in lines for part in line.parts if part.anchor] == ["at-7", f"at-{text.index('Thirty')}"]
    assert [(line.number, line.is_first) for line in lines] == [(1, False), (2, True), (3, False)]


def test_R01_a_span_whose_text_is_another_is_not_marked():
    text = "One. Two. Three."
    wrong = CitationView(1, "e", "d", "a.md", "r", "L1", (5, 9), "", "text", "verbatim", "ok", "ok", "Not.")
    assert marked(split_lines(cited_document(text, "One."), [cite(1, text, "One."), wrong])) == "One."


def test_spans_that_overlap_are_marked_once():
    text = "One two three."
    lines = split_lines(cited_document(text, "One two"), [cite(1, text, "One two"), cite(1, text, "two three.")])
    assert "".join(line.cited for line in lines) == text


def test_places_without_lines_have_no_line_numbers():
    lines = split_lines(cited_document("a\nb", "b", locator="page=3"), ())
    assert [line.number for line in lines] == [None, None]
