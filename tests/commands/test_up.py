"""`rag4c up` as a newcomer meets it: one real start, every command against it, Ctrl-C, nothing left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from rag4c.embedded.ports import find_free_port
from rag4c.embedded.processes import is_running

ROOT = Path(__file__).parents[2]
RAG4C = [sys.executable, "-m", "rag4c.cli"]
PAGE = "# Badges\n\nVisitors get a yellow badge at the reception desk.\n\n## Lost badges\n\nA lost badge costs 12 euros.\n"


class Running:
    """A platform that runs in a folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home, self.port = home, find_free_port()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RAG4C_")}
        self.env = clean | {
            "RAG4C_HOME": str(home),
            "RAG4C_PORT": str(self.port),
            "RAG4C_MODEL_DIR": os.environ["RAG4C_MODEL_DIR"],
            "RAG4C_WORKERS": "1",
        }
        self.log = home.parent / "up.log"
        with self.log.open("w") as stream:
            self.process = subprocess.Popen([*RAG4C, "up"], env=self.env, cwd=ROOT, stdout=stream, stderr=stream, start_new_session=True)

    def wait_ready(self) -> None:
        for _ in range(600):
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def command(self, *words: str, port: int | None = None) -> subprocess.CompletedProcess[str]:
        env = self.env if port is None else self.env | {"RAG4C_PORT": str(port)}
        return subprocess.run([*RAG4C, *words], env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=180)

    def children(self) -> list[int]:
        rows = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split()
        parents = dict(zip(map(int, rows[::2]), map(int, rows[1::2]), strict=True))
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return sorted(found - {self.process.pid})


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    platform = Running(tmp_path_factory.mktemp("up") / "home")
    platform.wait_ready()
    yield platform
    if platform.process.poll() is None:
        platform.process.send_signal(signal.SIGINT)
        platform.process.wait(60)


@pytest.fixture(scope="module")
def synced(running, tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    (folder / "badges.md").write_text(PAGE)
    (folder / "empty.md").write_text("")
    done = running.command("sync", str(folder), "--kb", "badges", "--readers", "everyone", "--release", "live", "--json")
    return folder, done


def test_start_prints_address_and_the_credentials_it_made(running):
    text = running.log.read_text()
    kept = json.loads((running.home / "demo-credentials.json").read_text())
    assert f"http://127.0.0.1:{running.port}/" in text
    assert set(kept) == {"alice", "bob", "charlie"}
    assert all(password in text for password in kept.values())
    assert (running.home / "demo-credentials.json").stat().st_mode & 0o077 == 0
    assert "Traceback" not in text


def test_sync_reports_what_it_took_and_what_it_refused(synced):
    _, done = synced
    report = json.loads(done.stdout)
    assert done.returncode == 1  # a file was refused: done, but not as wished
    assert (report["sync"]["documents_added"], report["jobs"]["completed"]) == (1, 1)
    assert [(row["path"], row["code"]) for row in report["sync"]["refused"]] == [("empty.md", "empty_file")]
    assert report["release"]["documents"] == 1


def test_ask_by_command_line_and_by_token(running, synced):
    asked = running.command("ask", "--as", "charlie", "--kb", "badges", "How much does a lost badge cost?", "--json")
    answer = json.loads(asked.stdout)
    assert (asked.returncode, answer["status"]) == (0, "answered")
    assert answer["citations"][0]["locator"] == "L7"
    token = json.loads(running.command("token", "charlie", "--json").stdout)["secret"]
    headers = {"Authorization": f"Bearer {token}"}
    question = {"question": "Who gets a yellow badge at the reception desk?"}
    reply = httpx.post(f"http://127.0.0.1:{running.port}/api/query", json=question, headers=headers, timeout=60)
    by_command = json.loads(running.command("ask", "--as", "charlie", question["question"], "--json").stdout)
    assert reply.status_code == 200
    assert [reply.json()[name] for name in ("status", "reason", "answer")] == [by_command[name] for name in ("status", "reason", "answer")]


def test_abstention_is_exit_code_one_and_says_why(running, synced):
    asked = running.command("ask", "--as", "charlie", "--kb", "badges", "What is the phone number of the caterer?")
    assert asked.returncode == 1
    assert "No answer:" in asked.stdout


def test_search_status_and_rollback(running, synced):
    folder, _ = synced
    found = json.loads(running.command("search", "--as", "charlie", "--kb", "badges", "yellow badge", "--json").stdout)
    assert found[0]["document"] == "badges.md"
    (folder / "badges.md").write_text(PAGE.replace("12 euros", "15 euros"))
    assert running.command("sync", str(folder), "--kb", "badges", "--release", "live").returncode == 1
    assert "15 euros" in running.command("ask", "--as", "charlie", "--kb", "badges", "How much does a lost badge cost?").stdout
    assert running.command("rollback", "--kb", "badges").returncode == 0
    assert "12 euros" in running.command("ask", "--as", "charlie", "--kb", "badges", "How much does a lost badge cost?").stdout
    status = running.command("status", "--json")
    assert "badges" in {row["knowledge_base"] for row in json.loads(status.stdout)["sources"]}


def test_takedown_hides_and_shows_again(running, synced):
    question = ("ask", "--as", "charlie", "--kb", "badges", "How much does a lost badge cost?")
    assert running.command("takedown", "--kb", "badges", "badges.md", "--reason", "wrong price, being corrected").returncode == 0
    assert running.command(*question).returncode == 1
    assert running.command("takedown", "--kb", "badges", "badges.md", "--end").returncode == 0
    assert running.command(*question).returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("ask", "--as", "nobody", "Anything?"), "user", 3),
        (("ask", "--as", "charlie", "--tenant", "nowhere", "Anything?"), "tenant", 3),
        (("ask", "--as", "charlie", ""), "question_invalid", 3),
        (("rollback", "--kb", "nothing"), "knowledge_base", 3),
        (("token", "charlie", "--days", "0"), "token_days_invalid", 3),
        (("up",), "port_taken", 3),
    ],
)
def test_errors_are_one_sentence_with_a_code(running, words, code, exit_code):
    done = running.command(*words)
    assert f"({code})" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in {exit_code, 4}


def test_second_start_in_the_same_folder_is_told(running):
    done = running.command("up", port=find_free_port())
    assert (done.returncode, "(already_running)" in done.stderr) == (3, True)


def test_config_masks_secrets_and_doctor_is_content(running):
    done = running.command("config")
    assert done.returncode == 0
    assert "RAG4C_HOME" in done.stdout
    assert running.command("doctor").stdout.count("ok ") == 5


def test_ctrl_c_loses_nothing_and_leaves_nothing(tmp_path):
    platform = Running(tmp_path / "home")
    platform.wait_ready()
    before = platform.children()
    assert len(before) >= 7  # Postgres, Redis, their guard, web, worker and its child, system worker, beat
    platform.process.send_signal(signal.SIGINT)
    assert platform.process.wait(60) == 0
    assert [pid for pid in before if is_running(pid)] == []
    assert "Traceback" not in platform.log.read_text()
    status = platform.command("status", "--json")  # starts what it needs, finds what was kept, stops it again
    assert [row["knowledge_base"] for row in json.loads(status.stdout)["sources"]] == ["handbook"]
