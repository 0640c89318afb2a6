"""People, groups, units, tenants and questions about access by the command line, against one real start."""

from __future__ import annotations

import json

import pytest

from tests.commands.test_up import Running


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    running = Running(tmp_path_factory.mktemp("cli") / "home")
    try:
        running.wait_ready()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(60)


def done(platform, *words, code=0):
    result = platform.command(*words)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_a_tenant_is_made_filled_asked_about_suspended_and_exported(platform, tmp_path):
    assert "can sign in at /t/acme/login/" in done(platform, "tenant", "create", "acme", "--admin", "alice")
    tenant = ("--tenant", "acme")
    done(platform, "user", "create", "bob", *tenant)
    done(platform, "group", "create", "payroll", *tenant)
    done(platform, "group", "create", "finance", "--name", "Finance", *tenant)
    done(platform, "group", "nest", "payroll", "finance", *tenant)
    assert "group_cycle" in done(platform, "group", "nest", "finance", "payroll", *tenant, code=3)
    done(platform, "unit", "create", "sales", *tenant)
    done(platform, "user", "place", "bob", "--unit", "sales", *tenant)
    (tmp_path / "pay").mkdir()
    (tmp_path / "pay" / "grades.md").write_text("# Grades\n\nGrade 4 begins at 4000 euros.\n")
    done(platform, "sync", str(tmp_path / "pay"), "--kb", "pay", "--readers", "group:finance,unit:sales", "--no-wait", *tenant)
    assert "bob may read grades.md." in done(platform, "access", "why", "bob", "grades.md", *tenant)
    assert done(platform, "access", "who", "grades.md", *tenant).startswith("bob → ")
    assert "could not read" in done(platform, "access", "why", "bob", "grades.md", "--at", "2020-01-01", *tenant, code=1)
    assert "Warning:" in done(platform, "user", "grant", "alice", "--role", "approver", *tenant)
    done(platform, "tenant", "suspend", "acme", "--reason", "the contract has ended")
    assert "no tenant acme" in done(platform, "status", *tenant, code=3)
    report = json.loads(done(platform, "tenant", "export", "acme", "--to", str(tmp_path / "out"), "--json"))
    assert report["rows"] > 10
    done(platform, "tenant", "resume", "acme")
