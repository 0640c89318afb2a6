from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from rag4c.embedded import ports, processes
from rag4c.kernel.errors import DomainError
from tests.embedded.places import temporary_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUPERVISE = """
import json, sys
from pathlib import Path
from rag4c.embedded.supervisor import Program, Supervisor
root, sources = Path(sys.argv[1]), json.loads(sys.argv[2])
programs = [Program(name, [sys.executable, "-c", source], root / f"{name}.log", {"ROOT": str(root), "NAME": name}, restart_delay_s=0.05, restarts=2)
            for name, source in sources.items()]
sys.exit(Supervisor(programs, grace_s=2).run())
"""
# notes its process id, says when it was asked to end, and does so
POLITE = """
import os, signal, sys, time
from pathlib import Path
root, name = Path(os.environ["ROOT"]), os.environ["NAME"]
def end(*_):
    with (root / "ended").open("a") as stream: stream.write(name + " ")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
with (root / f"{name}.pids").open("a") as stream: stream.write(f"{os.getpid()} ")
while True: time.sleep(0.05)
"""
STUBBORN = """
import os, signal, subprocess, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"])
(Path(os.environ["ROOT"]) / "stubborn.pids").write_text(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""
CRASHING = "import sys; sys.exit(3)"


@pytest.fixture
def root() -> Iterator[Path]:
    with temporary_root() as folder:
        yield folder


def supervise(root: Path, **sources: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, str(root), json.dumps(sources)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def pids_of(root: Path, name: str, count: int) -> list[int]:
    path = root / f"{name}.pids"
    assert processes.wait_until(lambda: path.exists() and len(path.read_text().split()) >= count, 10)
    return [int(pid) for pid in path.read_text().split()]


def all_gone(pids: list[int]) -> bool:
    return processes.wait_until(lambda: not any(processes.is_running(pid) for pid in pids), 15)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_in_reverse_order_with_code_0(root, sig):
    supervisor = supervise(root, worker=POLITE, beat=POLITE, web=POLITE)
    pids = [pids_of(root, name, 1)[0] for name in ("worker", "beat", "web")]
    supervisor.send_signal(sig)
    _out, said = supervisor.communicate(timeout=15)
    assert (supervisor.returncode, said) == (0, "Stopping; nothing is lost.\n")
    assert (root / "ended").read_text().split() == ["web", "beat", "worker"]
    assert not any(processes.is_running(pid) for pid in pids)


def test_a_crashed_process_is_started_again_with_a_plain_line(root):
    supervisor = supervise(root, worker=POLITE, web=POLITE)
    first = pids_of(root, "worker", 1)[0]
    pids_of(root, "web", 1)
    subprocess.run(["kill", "-9", str(first)], check=True)
    second = pids_of(root, "worker", 2)[1]
    supervisor.send_signal(signal.SIGINT)
    _out, said = supervisor.communicate(timeout=15)
    assert "worker was ended by SIGKILL; starting it again" in said
    assert "Traceback" not in said
    assert all_gone([first, second])


def test_a_process_that_crashes_again_and_again_ends_everything_with_code_1(root):
    supervisor = supervise(root, worker=POLITE, web=CRASHING)
    worker = pids_of(root, "worker", 1)
    _out, said = supervisor.communicate(timeout=20)
    assert supervisor.returncode == 1
    assert "web ended with code 3 3 times in a row; giving up" in said
    assert all_gone(worker)


def test_what_ignores_the_request_is_killed_with_its_children_within_the_grace(root):
    supervisor = supervise(root, stubborn=STUBBORN)
    pids = pids_of(root, "stubborn", 2)
    began = time.monotonic()
    supervisor.send_signal(signal.SIGINT)
    supervisor.communicate(timeout=15)
    assert time.monotonic() - began < 5
    assert not any(processes.is_running(pid) for pid in pids)


def test_a_killed_supervisor_leaves_nothing_running(root):
    supervisor = supervise(root, worker=POLITE, web=POLITE)
    pids = [*pids_of(root, "worker", 1), *pids_of(root, "web", 1)]
    supervisor.kill()
    supervisor.communicate(timeout=5)
    assert all_gone(pids)


def test_ports_that_cannot_be_used_are_said_with_the_name_of_the_setting():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(DomainError, match=r"port_taken.*RAG4C_PORT"):
        ports.check_port_free(taken.getsockname()[1], setting="RAG4C_PORT")
    with pytest.raises(DomainError, match="port_refused"):
        ports.check_port_free(99_999)
    ports.check_port_free(ports.find_free_port())
