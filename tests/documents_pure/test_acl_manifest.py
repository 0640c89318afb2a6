"""Manifests of readers, also those that mean harm: closed where they cannot be understood (SYS-G5, GOV-B6)."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.acl_manifest import FORMAT, MAX_BYTES, matches_glob, read_manifest
from rag4c.kernel.grant import Sensitivity


def written(*rules, **more) -> bytes:
    return json.dumps({"format": FORMAT, "rules": list(rules), **more}).encode()


def rule_for(path, *rules):
    return read_manifest(written(*rules)).find_rule(path)


def test_SYS_G5_exact_path_goes_before_globs_and_the_first_glob_counts():
    rules = (
        {"glob": "pay/*.md", "readers": ["group:hr"]},
        {"glob": "pay/**", "readers": ["group:pay"], "sensitivity": "confidential"},
        {"path": "pay/bonus.md", "readers": ["user:alice"], "sensitivity": "restricted", "purpose": "payroll"},
    )
    bonus = rule_for("pay/bonus.md", *rules)
    assert (bonus.readers, bonus.sensitivity, bonus.purpose) == (("user:alice",), Sensitivity.RESTRICTED, "payroll")
    assert rule_for("pay/x.md", *rules).readers == ("group:hr",)
    assert rule_for("pay/2026/x.md", *rules).readers == ("group:pay",)
    assert rule_for("payroll/x.md", *rules) is None


@pytest.mark.parametrize(
    ("data", "because"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[]", "object"),
        (b"null", "object"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),  # UTF-16
        (b'\xef\xbb\xbf\xef\xbb\xbf{"format": "rag4c-acl/1", "rules": []}', "JSON"),  # a second BOM
        (b"\x00", "JSON"),
        (b'{"format": "rag4c-acl/1", "rules": [], "rules": []}', "twice"),
        (b'{"format": "rag4c-acl/1", "rules": [{"path": "a.md", "readers": ["user:bob"], "readers": ["everyone"]}]}', "twice"),
        (b'{"format": "rag4c-acl/2", "rules": []}', "exactly"),
        (b'{"rules": []}', "exactly"),
        (written(default="everyone"), "exactly"),
        (b'{"format": "rag4c-acl/1", "rules": {}}', "list"),
        (b'{"format": "rag4c-acl/1", "rules": [NaN]}', "number"),
        (b'{"format": "rag4c-acl/1", "rules": [' + b"9" * 5000 + b"]}", "JSON"),
        (b"[" * 100_000, "deep"),
        (b" " * (MAX_BYTES + 1), "bytes"),
        (written(*({"glob": f"{n}/*", "readers": []} for n in range(1001))), "globs"),
        (written(1), "either"),
        (written({"readers": ["everyone"]}), "either"),
        (written({"path": "a.md", "glob": "*", "readers": ["everyone"]}), "either"),
        (written({"path": 7, "readers": []}), "text"),
        (written({"path": "../a.md", "readers": ["everyone"]}), "no path"),
        (written({"path": "/etc/passwd", "readers": ["everyone"]}), "no path"),
        (written({"glob": "a/../../**", "readers": ["everyone"]}), "no path"),
        (written({"path": "", "readers": []}), "no path"),
        (written({"path": "a.md", "readers": []}, {"path": "./a.md", "readers": []}), "one path"),
        (written({"path": "\u00e9.md", "readers": []}, {"path": "e\u0301.md", "readers": []}), "one path"),
    ],
)
def test_GOV_B6_broken_manifest_says_why_and_none_of_it_counts(data, because):
    manifest = read_manifest(data)
    assert because in manifest.fault
    assert (manifest.exact, manifest.globs) == ({}, ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"reader": ["everyone"]},
        {"readers": ["everyone"], "deny": ["user:bob"]},
        {"readers": "everyone"},
        {"readers": [1]},
        {"readers": None},
        {"readers": ["x"] * 501},
        {},
        {"readers": ["everyone"], "sensitivity": "secret"},
        {"readers": ["everyone"], "sensitivity": 3},
        {"readers": ["everyone"], "sensitivity": "RESTRICTED", "purpose": "audit"},
        {"readers": ["everyone"], "sensitivity": "restricted"},
        {"readers": ["everyone"], "sensitivity": "restricted", "purpose": " "},
        {"readers": ["everyone"], "purpose": "audit"},
        {"readers": ["everyone"], "sensitivity": "restricted", "purpose": "x" * 41},
        {"readers": ["everyone"], "sensitivity": "restricted", "purpose": "a\nb"},
    ],
)
def test_GOV_B6_wrong_rule_denies_its_own_files_only(wrong):
    rules = ({"path": "a.md", **wrong}, {"path": "b.md", "readers": ["everyone"]})
    assert rule_for("a.md", *rules).fault
    assert rule_for("b.md", *rules).fault == ""


def test_one_byte_order_mark_of_utf8_is_passed_over():
    assert read_manifest(b"\xef\xbb\xbf" + written({"path": "a.md", "readers": []})).find_rule("a.md").fault == ""


def test_GOV_B6_names_are_compared_letter_by_letter_after_NFC():
    decomposed, lookalike = (
        {"path": "re\u0301sume\u0301.md", "readers": ["user:alice"]},
        {"path": "p\u0430y.md", "readers": ["everyone"]},
    )  # Cyrillic a
    assert rule_for("r\u00e9sum\u00e9.md", decomposed).readers == ("user:alice",)
    assert rule_for("pay.md", lookalike) is None
    assert rule_for("PAY.md", {"path": "pay.md", "readers": ["everyone"]}) is None
    assert rule_for("ﬁle.md", {"path": "file.md", "readers": ["everyone"]}) is None  # a ligature is another name


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*", "a.md", True), ("*", "a/b.md", False), ("**", "a/b/c.md", True), ("**/x.md", "x.md", True), ("**/x.md", "a/b/x.md", True),
        ("a/**", "a", True), ("a/**/b", "a/b", True), ("a/**/b", "a/x/y/b", True), ("a/**/b", "ab", False), ("a?.md", "ab.md", True),
        ("a?.md", "a/.md", False), ("*.md", ".md", True), ("[ab].md", "a.md", False), ("[ab].md", "[ab].md", True), ("hr*", "hr-private", True),
        ("hr/*", "hr-private/x", False),
    ],
)  # fmt: skip
def test_globs(pattern, path, matches):
    assert matches_glob(pattern.split("/"), path.split("/")) is matches


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "ab", "a b"]), min_size=1, max_size=5))
def test_a_path_matches_itself_and_what_covers_it(parts):
    assert matches_glob(parts, parts)
    assert matches_glob(["**"], parts)
    assert matches_glob([*parts[:-1], "*"], parts)
    assert matches_glob(["**", *parts[-1:]], parts)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(["format", "rules", "path", "glob", "readers"]), x, max_size=4), max_leaves=12).map(lambda value: json.dumps({"format": FORMAT, "rules": value}).encode()))  # fmt: skip
def test_GOV_B6_reading_never_raises(data):
    manifest = read_manifest(data)
    assert manifest.fault or manifest.find_rule("a.md") is None or manifest.find_rule("a.md").readers is not None


def test_patterns_cannot_make_it_slow():
    started = time.monotonic()
    for pattern in ("*a" * 100 + "b", "**/" * 100 + "b", "*" * 200):
        rule_for("a" * 200 + "/" + "/".join("a" * 50), {"glob": pattern, "readers": []})
    assert time.monotonic() - started < 1
