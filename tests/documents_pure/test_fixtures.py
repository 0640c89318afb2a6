"""The shared fixture files of the formats that are read here: outcome, text, places and facts as expected."""

from __future__ import annotations

from decimal import Decimal

import pytest

from documents.chunking import split
from documents.locators import parse_locator, read_lines
from documents.parsing.registry import parse_bytes
from documents.records import FactMapping, read_facts
from rag4c.kernel.errors import Permanent
from tests.documents_pure.support import json_lines, shared_folder

_OURS = (
    "text/",
    "html/",
    "names/",
    "typelie/",
    "legacy/",
    "hidden/display_none",
    "hidden/unicode_tags",
    "robust/deep_quote",
    "robust/empty",
    "robust/nul",
    "robust/whitespace",
    "robust/password",
    "robust/truncated.docx",
    "robust/zip_slip",
)
_BY_SYNC = ("duplicate_of", "name_collision_nfc")  # found over several files, not in one


def ours() -> list[dict]:
    rows = [row for row in json_lines(shared_folder() / "files/expected.jsonl") if row["file"].startswith(_OURS)]
    assert len(rows) >= 20
    return rows


def outcome(row: dict):
    data = (shared_folder() / "files" / row["file"]).read_bytes()
    try:
        return parse_bytes(data, row["file"])
    except Permanent as refusal:
        return refusal


def squeeze(text: str) -> str:
    return "".join(text.split())


def test_statuses_codes_and_flags_are_the_expected_ones():
    for row in ours():
        found, expect = outcome(row), row["expect"]
        if expect["status"] == "refused":
            assert isinstance(found, Permanent), row["file"]
            assert found.code == expect["code"], row["file"]
            continue
        assert list(found.review_codes) == ([expect["code"]] if expect["status"] == "needs_review" else []), row["file"]
        wanted = {flag for flag in expect["flags"] if not flag.startswith(_BY_SYNC)}
        assert wanted <= set(found.flags), row["file"]


def test_text_that_must_be_there_is_and_text_that_must_not_reaches_no_index():
    for row in ours():
        found = outcome(row)
        if isinstance(found, Permanent):
            continue
        visible = [element for element in found.elements if not element.hidden]
        body = squeeze(" ".join(f"{element.text} {element.search_text}" for element in visible))
        indexed = " ".join(chunk.index_text for chunk in split(found))
        for text in row["expect"]["must_contain"]:
            assert squeeze(text) in body, row["file"]
        for text in row["expect"]["must_not_contain"]:
            assert squeeze(text) not in body, row["file"]
            assert text not in indexed, row["file"]


def test_texts_stand_at_their_locators():
    for row in ours():
        found = outcome(row)
        if isinstance(found, Permanent):
            continue
        for place in row["expect"]["locators"]:
            lines = place["locator"].split(",")[0]
            texts = [element.text for element in found.elements if element.locator.split(",")[0] == lines]
            assert any(place["text"] in text for text in texts), (row["file"], place, [(e.locator, e.text) for e in found.elements])
            if found.media_type != "text/html":
                assert place["text"] in found.text[slice(*read_lines(found.text, parse_locator(lines)))]


def test_facts_are_the_expected_ones():
    checked = 0
    for row in ours():
        found = outcome(row)
        for expect in row["expect"]["facts"]:
            facts = [
                fact
                for fact in read_facts(found, FactMapping())
                if fact.origin == "table_cell" and (fact.row_path, fact.col_path) == (expect["row"], expect["col"])
            ]
            assert [(fact.value_text, fact.unit, fact.locator) for fact in facts] == [(expect["raw"], expect["unit"] or "", expect["locator"])]
            assert facts[0].value == Decimal(str(expect["value"]))
            assert facts[0].scale == Decimal(str(expect["scale"]))
            checked += 1
    assert checked >= 6


@pytest.mark.parametrize("name", ["f18-tock.md", "zh-讲师.md", "bc-privacy.md", "gds-incident-management.html"])
def test_the_handbook_parses_without_review(name):
    extract = parse_bytes((shared_folder() / "data/handbook/docs" / name).read_bytes(), name)
    assert "suspicious_unicode" not in extract.review_codes
    assert len(split(extract)) > 3
