from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import redis as client_library

from rag4c.embedded import ports, processes
from rag4c.embedded.services import start_services
from rag4c.kernel.errors import DomainError
from tests.embedded.places import temporary_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWNER = """
import sys, time
from pathlib import Path
from rag4c.embedded.services import start_services
services = start_services(Path(sys.argv[1]), durable=True)
print(services.postgres.pid, services.redis.pid, services.guard.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def root() -> Iterator[Path]:
    with temporary_root() as folder:
        yield folder


def start_owner(root: Path) -> tuple[subprocess.Popen[str], list[int]]:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(root)], stdout=subprocess.PIPE, text=True)
    return owner, [int(pid) for pid in owner.stdout.readline().split()]


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait(5)
    process.stdout.close()


def all_gone(pids: list[int]) -> bool:
    return processes.wait_until(lambda: not any(processes.is_running(pid) for pid in pids), 10)


def test_stop_leaves_no_process_and_may_be_called_twice(root):
    services = start_services(root, durable=False)
    pids = [services.postgres.pid, services.redis.pid, services.guard.pid]
    services.stop()
    services.stop()
    assert not any(processes.is_running(pid) for pid in pids)


def test_another_process_attaches_and_its_stop_changes_nothing(root):
    owner, pids = start_owner(root)
    attached = start_services(root, durable=True)
    assert ([attached.postgres.pid, attached.redis.pid], attached.is_owner) == (pids[:2], False)
    attached.stop()
    with client_library.Redis.from_url(attached.redis.url()) as client:
        assert client.ping()
    kill(owner)
    assert all_gone(pids)


def test_a_killed_owner_takes_everything_along_and_the_next_start_has_all_rows(root):
    owner, pids = start_owner(root)
    with client_library.Redis.from_url(start_services(root, durable=True).redis.url()) as client:
        client.set("k", "kept")
    kill(owner)
    services = start_services(root, durable=True)  # at once: it waits for the end of the old ones
    assert services.is_owner
    assert not any(processes.is_running(pid) for pid in pids)
    with client_library.Redis.from_url(services.redis.url()) as client:
        assert client.get("k") == b"kept"
    services.stop()


def test_servers_left_without_owner_and_guard_are_taken_over(root):
    owner, pids = start_owner(root)
    os.kill(pids[2], signal.SIGKILL)
    kill(owner)
    services = start_services(root, durable=True)
    assert ([services.postgres.pid, services.redis.pid], services.is_owner) == (pids[:2], True)
    services.stop()
    assert all_gone(pids)


def test_a_failed_start_leaves_nothing_running_and_frees_the_folder(root):
    port = ports.find_free_port()
    with pytest.raises(DomainError, match="port_refused"):
        start_services(root, durable=False, postgres_port=port, redis_port=70_000)
    ports.check_port_free(port)
    start_services(root, durable=False, postgres_port=port).stop()
