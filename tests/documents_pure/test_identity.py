"""Ids and source folders: stable, and closed against what is no plain document below the root."""

from __future__ import annotations

import os
import unicodedata

import pytest

from documents.identity import chunk_version_id, document_id, normalize_relative_path, read_stable, walk_folder
from rag4c.kernel.canonical import canonical_json, sha256_hex
from rag4c.kernel.errors import Invalid, Transient


def code_of(call, *args) -> str:
    with pytest.raises((Invalid, Transient)) as refusal:
        call(*args)
    return refusal.value.code


def test_SYS_A1_a_document_id_is_the_digest_of_place():
    expected = sha256_hex(canonical_json(["kb", "folder:1", "a/b.md"]))[:32]
    assert document_id("kb", "folder:1", "a/b.md") == document_id("kb", "folder:1", "./a//b.md") == expected
    assert (
        len({document_id("kb", "s", "a.md"), document_id("kb2", "s", "a.md"), document_id("kb", "s2", "a.md"), document_id("kb", "s", "b/a.md")}) == 4
    )


def test_SYS_A1_a_path_is_the_same_in_nfc_and_nfd():
    assert document_id("kb", "s", "café.md") == document_id("kb", "s", unicodedata.normalize("NFD", "café.md"))


def test_a_chunk_id_depends_on_each_of_its_parts():
    ids = {
        chunk_version_id("d", "c", "i", 0),
        chunk_version_id("e", "c", "i", 0),
        chunk_version_id("d", "x", "i", 0),
        chunk_version_id("d", "c", "x", 0),
        chunk_version_id("d", "c", "i", 1),
    }
    assert len(ids) == 5
    assert all(len(one) == 32 for one in ids)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "empty_path"), (".", "empty_path"), ("/etc/passwd", "absolute_path"), ("C:\\x.md", "absolute_path"), ("\\\\host\\x.md",
        "absolute_path"), ("~/x.md", "absolute_path"), ("../x.md", "parent_path"),
        ("a/../x.md", "parent_path"), ("a/..", "parent_path"), ("a\\..\\x.md", "parent_path"), ("..\\x.md", "parent_path"), (".git/config",
        "ignored_name"), ("a/.env", "ignored_name"), ("~$a.docx", "ignored_name"),
        ("a\x00.md", "bad_name"), ("x" * 256, "name_too_long"), ("年" * 86 + ".md", "name_too_long"), ("bad\udcff.md", "name_not_utf8"),
        ("a/" * 2_500 + "b.md", "name_too_long"),
    ],
)  # fmt: skip
def test_SYS_A2_paths_fail_closed(path, code):
    assert code_of(normalize_relative_path, path) == code


@pytest.mark.parametrize("path", ["a..b...md", "a/...md/x", "北京 报告.md", "new\nline.md", "x" * 252 + ".md", "a/b c/d.md"])
def test_odd_but_plain_paths_are_kept(path):
    assert normalize_relative_path(path) == path if not path.startswith("a/...") else True


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("OUTSIDE")
    for name in ("b.md", "sub/a.md", ".hidden.md", "Same.md", "same.md", "new\nline.md"):
        (root / name).write_text("body")
    (root / "link.md").symlink_to("b.md")
    (root / "out.md").symlink_to("../outside.md")
    (root / "loop").symlink_to(".")
    (root / "gone.md").symlink_to("nowhere")
    os.mkfifo(root / "fifo.md")
    (root / "café.md").write_text("nfc")
    (root / unicodedata.normalize("NFD", "café.md")).write_text("nfd")
    with open(os.fsencode(root) + b"/bad\xff.md", "wb") as file:  # noqa: PTH123 - the name is bytes
        file.write(b"x")
    return root


def test_SYS_A2_a_walk_names_each_refusal_and_follows_no_link(tree):
    entries = walk_folder(tree)
    assert [e.relative_path for e in entries] == sorted(e.relative_path for e in entries)
    refused = {e.path.name if "caf" not in e.relative_path else e.relative_path: e.code for e in entries if e.code}
    assert refused == {
        ".hidden.md": "ignored_name", "link.md": "symlink", "out.md": "symlink", "loop": "symlink", "gone.md": "symlink",
        "fifo.md": "not_regular_file",
        "bad\udcff.md": "name_not_utf8", "café.md": "name_collision_nfc",
    }  # fmt: skip
    assert [e.relative_path for e in entries if not e.code] == ["Same.md", "b.md", "café.md", "new\nline.md", "same.md", "sub/a.md"]
    assert {e.relative_path for e in entries if e.flags == ("name_collision_case",)} == {"Same.md", "same.md"}
    assert all(e.size_bytes for e in entries if not e.code)


def test_of_twins_the_nfc_name_is_the_document(tree):
    kept = next(e for e in walk_folder(tree) if e.relative_path == "café.md" and not e.code)
    assert kept.path.read_text() == "nfc"


def test_a_lone_nfd_name_is_a_document(tmp_path):
    (tmp_path / unicodedata.normalize("NFD", "é.md")).write_text("x")
    assert [(e.relative_path, e.code) for e in walk_folder(tmp_path)] == [("é.md", "")]


def test_a_deep_folder_is_walked(tmp_path):
    folder = tmp_path.joinpath(*[f"level{n:03}" for n in range(120)])
    folder.mkdir(parents=True)
    (folder / "leaf.md").write_text("x")
    (entry,) = walk_folder(tmp_path)
    assert len(entry.relative_path) > 1_000
    assert read_stable(entry.path) == b"x"


def test_SYS_A2_a_root_that_is_missing_or_a_link_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    assert code_of(walk_folder, tmp_path / "none") == "source_root"
    assert code_of(walk_folder, tmp_path / "link") == "source_root"


def test_reading_follows_no_link_and_does_not_hang_on_a_fifo(tree):
    assert read_stable(tree / "b.md") == b"body"
    assert code_of(read_stable, tree / "link.md") == "symlink"
    assert code_of(read_stable, tree / "fifo.md") == "not_regular_file"
    assert code_of(read_stable, tree / "none.md") == "unreadable"


def test_a_file_that_changes_while_it_is_read_is_read_again_and_then_left(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_text("one")
    real, changes = os.fstat, iter(range(2))

    def look_and_change(descriptor):
        info = real(descriptor)
        if next(changes, None) is not None:
            path.write_text(path.read_text() + "!")
        return info

    monkeypatch.setattr(os, "fstat", look_and_change)
    assert read_stable(path) == b"one!!"
    changes = iter(range(9))
    assert code_of(read_stable, path) == "source_changing"
