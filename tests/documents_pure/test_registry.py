"""What a file is, and which files are refused with which code."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.parsing.contract import Extract, ParseLimits
from documents.parsing.registry import parse_bytes
from rag4c.kernel.errors import Permanent

_ERROR_PAGE = b"<!DOCTYPE html><html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>"
_LOGIN_PAGE = "<html><head><title>Acme – Sign in</title></head><body><form>Password</form></body></html>".encode()
_PAGE = b"\n<!-- made by a wiki --><html><head><title>Leave</title></head><body><p>25 days</p></body></html>"


def code_of(data: bytes, name: str, limits: ParseLimits | None = None) -> str:
    try:
        parse_bytes(data, name, limits or ParseLimits())
    except Permanent as refusal:
        assert refusal.message.endswith(".")
        return refusal.code
    return ""


def zip_of(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), "x")  # ZipInfo: 1980, so that the ids of the cases do not move with the clock
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"", "a.md", "empty_file"), (" \n\t\u3000".encode(), "a.txt", "no_content"), (b"---\ntitle: x\n---\n", "a.md", "no_content"),
        (b"<html><p hidden>x</p></html>", "a.html", "no_content"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "a.doc", "legacy_format"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "a.xlsx", "encrypted"),
        (b"{\\rtf1 x}", "a.rtf", "unsupported_format"), (b"{\\rtf1 x}", "a.md", "unsupported_format"), (zip_of("a.md"), "a.zip",
        "unsupported_format"),
        (zip_of("[Content_Types].xml", "word/document.xml", "word/vbaProject.bin"), "a.docx", "macro_enabled"), (zip_of("[Content_Types].xml",
        "word/document.xml"), "a.docm", "macro_enabled"),
        (zip_of("a.md")[:40], "a.docx", "corrupt_archive"), (b"plain text", "a.pdf", "type_mismatch"), (b"MZ" + bytes(range(256)), "a.md",
        "unsupported_format"),
        (bytes(range(256)) * 4, "a.md", "type_mismatch"), (b"print(1)", "a.py", "unsupported_format"), (b"text", "a.unknown", "unsupported_format"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\n\nx", "a.doc", "type_mismatch"),
    ],
)  # fmt: skip
def test_refusals_have_one_code_each(data, name, code):
    assert code_of(data, name) == code


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.md", "a.txt", "a.csv", "a.json", "a.png"])
def test_R11_an_error_page_in_place_of_a_document_is_refused(name):
    assert code_of(_ERROR_PAGE, name) == "type_mismatch"
    assert code_of(_LOGIN_PAGE, name) == "type_mismatch"


def test_a_page_under_a_text_name_is_read_as_a_page():
    for name in ("a.md", "a.txt", "a", "a.html"):
        extract = parse_bytes(_PAGE, name)
        assert extract.media_type == "text/html"
        assert "25 days" in extract.text


def test_markdown_that_starts_with_a_tag_or_with_letters_of_a_magic_number_is_markdown():
    for text in ("<p>Hello</p>\n\n# A", "BM25 is a ranking function", "MZ is a magic number", "<div align=center>\n\n# Logo\n\n</div>"):
        assert parse_bytes(text.encode(), "a.md").media_type == "text/markdown"


def test_caps_are_those_of_the_limits():
    assert code_of(b"abc", "a.md", ParseLimits(max_bytes=2)) == "too_large"
    assert code_of(b"a" * 50, "a.txt", ParseLimits(max_line_chars=20)) == "too_large"
    assert code_of(b"a\n\n" * 50, "a.md", ParseLimits(max_elements=9)) == "too_large"


@settings(max_examples=150)
@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode), st.sampled_from(["a.md", "a.txt", "a.html", "a", "a.pdf", "a.docx"]))
def test_any_bytes_give_an_extract_or_a_refusal(data, name):
    try:
        extract = parse_bytes(data, name)
    except Permanent as refusal:
        assert refusal.code
    else:
        assert isinstance(extract, Extract)
        assert "\x00" not in extract.text
