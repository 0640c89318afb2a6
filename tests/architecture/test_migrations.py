"""Migrations are linted for zero downtime and go back to nothing and forth again, as the owner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
APPS = ("compliance", "verification", "retrieval", "documents", "approvals", "ledger", "tenants")


def run_as_owner(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        cwd=ROOT,
        env={**os.environ, "RAG4C_DB_ROLE": "owner"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_migrations_pass_the_lint(real_db):
    done = run_as_owner(".ci/lint_migrations.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Valid migrations" in done.stdout


def test_migrations_are_reversible(real_db):
    for app in APPS:
        done = run_as_owner("manage.py", "migrate", app, "zero", "-v0")
        assert done.returncode == 0, f"{app}: {done.stderr[-2000:]}"
    done = run_as_owner("manage.py", "migrate", "-v0")
    assert done.returncode == 0, done.stderr[-2000:]
