"""The commands of auditors and operators, against a platform of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEED = (
    "from rag4c.commands.base import open_platform\n"
    "with open_platform():\n"
    "    from rag4c.kernel.grant import PLATFORM_TENANT, system_actor\n"
    "    from tenants import api\n"
    "    api.create_tenant(actor=system_actor(PLATFORM_TENANT, channel='cli'), slug='acme', name='Acme')\n"
    "    from approvals.api import seed_policies\n"
    "    seed_policies(tenant_id=api.find_tenant_id('acme'))\n"
    "    print('ready', flush=True)\n"
    "    input()\n"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    home = tmp_path_factory.mktemp("audit-home")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAG4C_")}
    environment = clean | {"RAG4C_HOME": str(home), "RAG4C_MODEL_DIR": os.environ["RAG4C_MODEL_DIR"]}

    def call(*words):
        command = [sys.executable, "-m", "rag4c.cli", *map(str, words)]
        return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=180)

    call.home = home
    command = [sys.executable, "-c", SEED]
    with subprocess.Popen(command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        while (line := host.stdout.readline()) != "ready\n":
            assert line, "the platform did not start"
        yield call
        host.communicate("\n", timeout=60)


def test_an_export_is_written_verified_and_its_tampering_told_by_the_exit_code(run, tmp_path):
    folder, key = tmp_path / "export", json.loads(run("maintain", "public-key", "--json").stdout)["public_key"]
    done = run("export-audit", "--tenant", "acme", "--output", folder, "--view", "csv")
    assert done.returncode == 0, done.stderr
    kept = max(path for path in (folder / "checkpoints").iterdir() if not path.name.startswith(("rotation", "stub")))
    checked = run("verify-export", folder, "--key", key, "--checkpoint", kept)
    assert (checked.returncode, checked.stdout.splitlines()[0]) == (0, "WHOLE")
    assert run("export-audit", "--tenant", "acme", "--output", folder).returncode == 3  # nothing is written over
    events = folder / "events-00001.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join(lines[1:]))
    assert run("verify-export", folder, "--key", key).returncode == 3
    events.write_bytes(b"".join([lines[0].replace(b"tenant", b"tenanT", 1), *lines[1:]]))
    said = run("verify-export", folder, "--key", key, "--json")
    assert (said.returncode, json.loads(said.stdout)["verdict"]) == (2, "altered")


def test_every_chain_is_verified_and_the_claim_is_told(run):
    done = run("verify-audit")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    acme:" in done.stdout
    assert "ok    platform:" in done.stdout
    assert done.stdout.splitlines()[0].endswith("; tamper-evident")
    assert run("verify-audit", "--tenant", "nowhere").returncode == 3


def test_a_tenant_of_which_only_checkpoints_are_left_is_missed(run):
    stray = run.home / "checkpoints" / "01920000-0000-7000-8000-000000000000"
    stray.mkdir(parents=True)
    try:
        done = run("verify-audit", "--json")
        assert (done.returncode, json.loads(done.stdout)["missing_tenants"]) == (1, [stray.name])
    finally:
        stray.rmdir()


def test_the_operator_begins_incarnations_rotates_the_key_and_prunes_only_what_may_go(run):
    assert run("maintain", "new-incarnation").stdout == "incarnation: 2\n"
    before = run("maintain", "public-key").stdout
    rotated = run("maintain", "rotate-key", "--json")
    assert rotated.returncode == 0, rotated.stderr
    assert json.loads(rotated.stdout)["public_key"] not in before
    assert run("maintain", "partitions").stdout == "partitions: []\n"
    for words, code in ((("prune",), "month_missing"), (("prune", "1999-01"), "partition"), (("prune", "2999-01"), "month_not_over")):
        done = run("maintain", *words)
        assert (done.returncode, code in done.stderr) == (3, True)
    assert run("verify-audit").returncode == 0


def test_doctor_tells_how_far_the_seals_are_behind(run):
    said = json.loads(run("doctor", "--json").stdout)
    assert said["sealing"] == "ok"
    assert set(said["metrics"]) == {"seal_lag_s", "seal_waiting_tenants", "oldest_transaction_s", "seal_holder_pid"}


def test_who_read_needs_an_id(run):
    assert run("who-read", "leave.md", "--tenant", "acme").returncode == 3
    nobody = run("who-read", "01920000-0000-7000-8000-000000000000", "--tenant", "acme")
    assert (nobody.returncode, nobody.stdout) == (0, "Nobody.\n")


def test_GOV_U5_a_refused_command_is_recorded_with_its_code(run, tmp_path):
    assert run("user", "create", "alice", "--role", "tenant_admin", "--tenant", "acme").returncode == 0
    refused = run("user", "revoke", "alice", "--role", "tenant_admin", "--tenant", "acme")
    assert (refused.returncode, "last_admin" in refused.stderr) == (3, True)
    folder = tmp_path / "refused"
    assert run("export-audit", "--tenant", "acme", "--code", "user.refused", "--output", folder).returncode == 0
    (line,) = (folder / "events-00001.jsonl").read_bytes().splitlines()
    event = json.loads(json.loads(line)["canonical"])
    assert (event["channel"], event["subject"], event["data"]) == ("cli", ["action", "user"], {"code": "last_admin"})
