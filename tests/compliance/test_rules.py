"""Cells that a spreadsheet would run, lines that are the same everywhere, and the OCSF view against our schema file."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import rules, verify_export
from rag4c.kernel.canonical import canonical_json
from rag4c.ledger import chain

EVENT = {"id": "i", "tenant": "t", "at": "2026-01-02T03:04:05.678000+00:00", "code": "thing.created", "actor": "user:u", "channel": "api",
         "subject": ["thing", "7"], "data": {"n": 1}}  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_cell_that_would_be_a_formula_begins_with_an_apostrophe(text):
    assert rules.escape_cell(text) == f"'{text}"
    row = next(csv.reader(io.StringIO(rules.csv_line(1, "h", {**EVENT, "subject": ["thing", text]}), newline="")))
    assert row[6] == f"'{text}"


@settings(max_examples=80, deadline=None)
@given(TEXTS, TEXTS)
def test_no_cell_of_any_event_is_a_formula_and_every_cell_comes_back(kind, key):
    line = rules.csv_line(3, "h", {**EVENT, "subject": [kind, key], "actor": kind, "code": key})
    (row,) = csv.reader(io.StringIO(line, newline=""))
    assert len(row) == len(rules.CSV_HEAD)
    assert [cell for cell in row if cell.startswith(rules.RISKY)] == []
    assert row[6].removeprefix("'") == key.removeprefix("'") or row[6] == key


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="ascii"), max_size=8), TEXTS | st.integers(-(2**53) + 1, 2**53 - 1), max_size=5))
def test_the_verifier_writes_canonical_json_as_the_product_does(value):
    assert verify_export.canonical(value) == canonical_json(value)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=40), st.binary(max_size=60))
def test_the_verifier_computes_the_same_hashes_and_roots(leaves, body):
    tree = verify_export.Tree()
    for leaf in leaves:
        tree.add(leaf)
    assert tree.root() == chain.merkle_root(leaves).hex()
    assert verify_export.sha256(verify_export.LEAF + leaves[0] + body) == chain.leaf_hash(leaves[0], body)
    assert verify_export.sha256(verify_export.CHECKPOINT_TAG + body) == chain.checkpoint_digest(body)
    assert verify_export.sha256(verify_export.STATEMENT + body) == chain.statement_digest(body)


def test_lines_are_canonical_and_end_once():
    assert rules.event_line(1, b"\xaa", b'{"a":"\xc3\xa9"}') == '{"canonical":"{\\"a\\":\\"é\\"}","hash":"aa","seq":1}\n'.encode()
    assert rules.seal_line(2, b"\x01", b"\x02") == b'{"hash":"02","prev":"01","seq":2}\n'


@pytest.mark.parametrize("code", ["thing.created", "thing.odd", "user.created", "user.deactivated", "role.granted", "role.revoked", "ask.refused"])
def test_ocsf_events_hold_what_the_schema_asks(code):
    event = rules.ocsf_event(5, {**EVENT, "code": code, "data": {"role": "auditor"}})
    assert rules.find_ocsf_faults(event) == []
    assert event["time"] == 1767323045678
    assert (event["severity_id"], event["status_id"]) == ((3, 2) if code.endswith(".refused") else (1, 1))


def test_ocsf_faults_are_found_one_by_one():
    good = rules.ocsf_event(5, EVENT)
    required = {**rules._SCHEMA["required"], **rules._SCHEMA["classes"]["3004"]["required"]}
    for path in required:
        broken = json.loads(json.dumps(good))
        *parents, last = path.split(".")
        place = broken
        for name in parents:
            place = place[name]
        del place[last]
        assert rules.find_ocsf_faults(broken), path
    for change in ({"class_uid": 1}, {"activity_id": 77}, {"type_uid": 1}, {"category_uid": 6}, {"time": "now"}, {"severity_id": True}):
        assert rules.find_ocsf_faults({**good, **change}), change
