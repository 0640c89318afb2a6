from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis as client_library

from rag4c.embedded import processes
from rag4c.embedded.redis import Server, start_redis
from rag4c.kernel.errors import DomainError
from tests.embedded.places import temporary_root

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def root() -> Iterator[Path]:
    with temporary_root(suffix=' a"b') as folder:
        yield folder


def put(server: Server, value: str) -> None:
    with client_library.Redis.from_url(server.url()) as client:
        client.set("k", value)


def get(server: Server) -> bytes | None:
    with client_library.Redis.from_url(server.url()) as client:
        return client.get("k")


def test_a_durable_restart_loses_nothing(root):
    server = start_redis(root, durable=True)
    put(server, "kept")
    server.stop()
    assert not processes.is_running(server.pid)
    again = start_redis(root, durable=True)
    assert get(again) == b"kept"
    again.stop()


def test_after_kill_9_every_answered_write_is_there(root):
    server = start_redis(root, durable=True)
    for number in range(500):
        put(server, str(number))
    os.kill(server.pid, signal.SIGKILL)
    server.process.wait(5)
    again = start_redis(root, durable=True)
    assert get(again) == b"499"
    again.stop()


def test_for_tests_nothing_is_written(root):
    server = start_redis(root, durable=False)
    put(server, "gone")
    server.stop()
    assert {path.name for path in (root / "redis").iterdir()} == {"redis.log"}


def test_a_second_start_attaches_and_its_stop_leaves_the_server_running(root):
    server = start_redis(root, durable=False)
    second = start_redis(root, durable=False)
    assert (second.pid, second.is_owner) == (server.pid, False)
    second.stop()
    put(server, "still here")
    server.stop()


def test_it_wants_the_password_and_shows_it_in_no_argument_list(root):
    server = start_redis(root, durable=False)
    with client_library.Redis(port=server.port, retry=None) as client, pytest.raises(client_library.AuthenticationError):
        client.ping()
    assert server.password not in Path(f"/proc/{server.pid}/cmdline").read_text()
    server.stop()


def test_a_taken_port_and_a_full_disk_are_said(root):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(DomainError, match="port_taken"):
        start_redis(root, durable=True, port=taken.getsockname()[1])
    with pytest.raises(DomainError, match="disk_full"):
        start_redis(root, durable=True, free_bytes=lambda folder: 2**20)


def test_a_damaged_file_is_an_error_with_the_place_of_the_log(root):
    (root / "redis").mkdir()
    (root / "redis" / "appendonly.aof").write_bytes(b"this is no append-only file\n" * 10)
    with pytest.raises(DomainError, match=r"redis_not_started.*redis.log"):
        start_redis(root, durable=True)
