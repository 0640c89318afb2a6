"""`rag4c acl …`: words in, doors called, sentences out. The platform is the tests' own."""

from __future__ import annotations

import contextlib
import json

import pytest

from rag4c import cli
from rag4c.commands import access
from tests.builders import make_library
from tests.tenants.support import ask_for_approval

LEAVE = "# Leave\n\nLeave is 25 days.\n"


@pytest.fixture
def run(acme, monkeypatch, capsys):
    """Runs a command inside Acme; returns exit code and output."""
    monkeypatch.setattr(access, "open_platform", contextlib.nullcontext)
    library = make_library(acme, {"hr/leave.md": LEAVE}, readers=frozenset())
    library.sync()

    def call(*words):
        code = cli.main(["acl", words[0], "--tenant", "acme", *words[1:]])
        seen = capsys.readouterr()
        return code, seen.out + seen.err

    return call


def test_show_and_set_readers_of_a_document_and_of_its_source(run):
    kb = ("--kb", "handbook")
    code, out = run("show", *kb, "hr/leave.md")
    assert (code, "hr/leave.md: nobody" in out) == (0, True)
    code, out = run("set", *kb, "hr/leave.md", "--readers", "user:bob", "--dry-run")
    assert (code, "Gains by name: Bob." in out) == (0, True)
    assert "nobody" in run("show", *kb, "hr/leave.md")[1]
    code, out = run("set", *kb, "--readers", "everyone")
    assert (code, "state=applied narrowed=0 widened=2" in out) == (0, True)
    code, out = run("set", *kb, "hr/leave.md", "--readers", "user:bob", "--sensitivity", "confidential")
    assert (code, "narrowed=1 widened=0" in out) == (0, True)
    assert "Bob (confidential)" in run("show", *kb, "hr/leave.md")[1]
    assert run("set", *kb, "hr/leave.md", "--readers", "user:nobody-here")[0] == 3


def test_what_waits_is_told_by_code_and_listed(acme, run):
    ask_for_approval(acme)
    code, out = run("set", "--kb", "handbook", "--readers", "everyone")
    assert (code, "blocked=approval_required" in out) == (1, True)
    code, out = run("changes", "--state", "waiting", "--json")
    change = json.loads(out)[0]["id"]
    assert run("apply", change)[0] == 3
    assert run("withdraw", change)[0] == 0
    assert run("apply", change)[0] == 3
    assert change in run("changes")[1]


def test_templates_modes_and_mappings(run):
    kb = ("--kb", "handbook")
    assert run("mode", *kb, "template")[0] == 0
    assert run("mode", *kb, "template")[0] == 3
    assert run("template", *kb, "list")[1] == "No template is in force.\n"
    assert "leave.md" in run("template", *kb, "set", "hr", "--readers", "user:bob", "--dry-run")[1]
    assert run("template", *kb, "set", "hr", "--readers", "user:bob")[0] == 0
    assert run("template", *kb, "list")[1] == "hr/: Bob\n"
    assert run("template", *kb, "set", "../hr", "--readers", "everyone")[0] == 3
    assert run("template", *kb, "end", "hr")[0] == 0
    assert run("mapping", "list")[1] == "Nothing is mapped.\n"
    assert run("mapping", "set", "user", "1000", "user:bob")[0] == 0
    assert run("mapping", "list")[1].startswith("user 1000 -> user:")
    assert run("mapping", "set")[0] == 3
    assert run("mapping", "end", "user", "1000")[0] == 0
