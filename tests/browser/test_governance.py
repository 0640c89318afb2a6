"""A compliance officer's walk in a real browser: a policy, a release that others decide, readers, tasks, and an audit export that verifies elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("RAG4C_") or name == "RAG4C_MODEL_DIR"}


def run(*words):
    done = subprocess.run([sys.executable, *map(str, words)], env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, check=False, timeout=480)
    return done.returncode, done.stdout, done.stderr[-3000:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("walk")


@pytest.fixture(scope="module")
def said(folder):
    code, out, err = run("-m", "tests.browser.governance", folder)
    assert code == 0, err
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def export(said, folder):
    with zipfile.ZipFile(folder / "export.zip") as archive:
        archive.extractall(folder / "export")
    (manifest,) = (folder / "export").rglob("manifest.json")
    return manifest.parent


def test_GOV_A6_simulation_names_who_would_decide_and_who_is_away(said):
    assert "no approval needed → 1: 2 of role:approver, role:compliance_officer" in said["policy rehearsed"]
    assert "the policy has revision 2 now" in said["policy"]
    assert "A newer revision is in force" in said["policy"]
    assert "alice may vote in your place now" in said["delegated"]
    assert "Those who wait for you see it now" in said["away"]
    for words in ("2 of these", "Bob (away until", "Charlie"):
        assert words in said["simulation"], words
    assert "ended." in said["ended delegations"]
    assert "ended." in said["ended absences"]


def test_GOV_A2_requester_is_refused_with_a_sentence(said):
    assert "This needs an approval" in said["offered"]
    assert "Request approval" in said["offered"]
    assert "an approval is asked for" in said["asked"]
    assert "You asked for this" in said["own vote"]
    assert "Nobody has voted yet" in said["own vote"]


def test_GOV_A1_two_others_decide_and_it_runs_once(said):
    for words in ("Badges / live", "#1, 2 documents", "#2, 3 documents", "keys.md"):
        assert words in said["diff"], words
    assert "waits for others" in said["first vote"]
    assert "it is approved and runs now" in said["second vote"]
    assert "✓ done" in said["executed"]
    assert "Read it; the rule is the one that was agreed." in said["executed"]
    assert "live of Badges serves manifest #2 with 3 documents" in said["channel"]


def test_GOV_B3_change_of_readers_shows_the_diff_that_is_hashed(said):
    assert "exactly this will happen" in said["rehearsed"]
    for words in ("parking.md", "Bob"):
        assert words in said["rehearsed"], words
        assert words in said["reader diff"], words


def test_SYS_G1_access_is_explained_by_the_page(said):
    assert "Alice" in said["why"]
    assert "✕" in said["why"]
    assert "2 people may read" in said["who"]
    for words in ("compliance_officer", "approval.vote", "Roles that do not go together"):
        assert words in said["matrix"], words


def test_a_task_is_claimed_and_resolved(said):
    assert "is yours" in said["claimed"]
    assert "is resolved" in said["resolved"]


def test_GOV_U13_search_of_the_audit_is_kept_and_finds(said):
    for words in ("approval.requested", "approval.executed"):
        assert words in said["found"], words
    assert "policy.changed" not in said["found"]


def test_GOV_U9_downloaded_export_verifies_by_the_command_and_by_itself(export, folder):
    key = ("--key", folder / "public.pem")
    assert run("-m", "rag4c.cli", "verify-export", export, *key)[0] == 0
    assert run("-I", export / "verify_export.py", export, *key)[0] == 0
    events = export / "events-00001.jsonl"
    events.write_text(events.read_text().replace("approval.requested", "approval.cancelled", 1))
    assert run("-I", export / "verify_export.py", export, *key)[0] == 2
