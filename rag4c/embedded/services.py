"""Postgres and Redis together: one process owns them, others attach, and they end with their owner however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag4c.embedded import postgres, redis
from rag4c.embedded.guard import Guard
from rag4c.embedded.processes import is_running
from rag4c.embedded.storage import prepare_root, read_credentials
from rag4c.kernel.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

LOCK = "services.lock"
ATTACH_TIMEOUT_S = 60.0
POLL_S = 0.05


@dataclass(slots=True)
class Services:
    """What runs. Args: is_owner: whether `stop` ends them; a process that found them running only uses them.

    guard: ends them should the owner be killed; the owner's other children can be given to it too.
    """

    postgres: postgres.Server
    redis: redis.Server
    is_owner: bool
    guard: Guard | None = None
    _lock: int | None = field(default=None, repr=False)

    def stop(self) -> None:
        """Redis first, then Postgres, then the lock; may be called twice."""
        for server in (self.redis, self.postgres):
            server.stop()
        if self.guard is not None:
            self.guard.close()
            self.guard = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def start_services(root: Path, *, durable: bool, postgres_port: int | None = None, redis_port: int | None = None) -> Services:
    """Start what does not run yet in this folder, or attach to what another process runs there.

    Args: durable: False for tests: nothing is kept over a crash of the machine. Ports: as `start_postgres` and `start_redis`.
    Raises: DomainError as `start_postgres` and `start_redis`, `services_busy`.
    """
    root = prepare_root(root)
    deadline = time.monotonic() + ATTACH_TIMEOUT_S
    while True:
        lock = _take_lock(root)
        if lock is not None:
            return _own(root, lock, durable=durable, ports=(postgres_port, redis_port))
        if services := _attach(root):
            return services
        if time.monotonic() > deadline:
            raise Unavailable("services_busy", f"Another process has been starting or stopping the services of {root} for a minute; end it first.")
        time.sleep(POLL_S)


def _take_lock(root: Path) -> int | None:
    handle = os.open(root / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    os.truncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


def _is_owner_alive(root: Path) -> bool:
    """False while the guard of a killed owner still ends the servers, and holds the lock: those are not to be used any more."""
    pid = (root / LOCK).read_text()
    return pid.isdigit() and is_running(int(pid))


def _own(root: Path, lock: int, *, durable: bool, ports: tuple[int | None, int | None]) -> Services:
    guard = Guard(keep_open=lock)
    with contextlib.ExitStack() as undo:
        undo.callback(os.close, lock)
        undo.callback(guard.close)
        database = postgres.start_postgres(root, port=ports[0], settings=None if durable else postgres.TEST_SETTINGS)
        database.is_owner = True  # also when it was left over by an owner that was killed together with its guard
        undo.callback(database.stop)
        guard.watch(database.pid, signal.SIGINT)
        queue = redis.start_redis(root, durable=durable, port=ports[1])
        queue.is_owner = True
        guard.watch(queue.pid)
        undo.pop_all()
    return Services(database, queue, is_owner=True, guard=guard, _lock=lock)


def _attach(root: Path) -> Services | None:
    passwords = read_credentials(root)
    if not _is_owner_alive(root):
        return None
    if redis.USER not in passwords:
        return None  # the owner is at its very start
    database = postgres.find_running(root / "postgres", passwords)
    queue = redis.find_running(root / "redis", passwords[redis.USER]) if database else None
    return Services(database, queue, is_owner=False) if database and queue and _is_owner_alive(root) else None
