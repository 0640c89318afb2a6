from __future__ import annotations

import os
import pwd
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag4c.embedded import launcher, ports, processes
from rag4c.embedded.postgres import ROLES, TEST_SETTINGS, Server, start_postgres
from rag4c.kernel.errors import DomainError
from tests.embedded.places import needs_root, temporary_root

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = {"fsync": "off", "dynamic_shared_memory_type": "mmap"}


@pytest.fixture
def root() -> Iterator[Path]:
    with temporary_root() as folder:
        yield folder


def ask(server: Server, statement: str) -> object:
    with psycopg.connect(server.dsn("postgres", "postgres")) as conn:
        row = conn.execute(statement).fetchone()
        return row[0] if row else None


def write(server: Server, statement: str) -> None:
    with psycopg.connect(server.dsn("postgres", "postgres")) as conn:
        conn.execute(statement)


def code_of_start(root: Path, **options: object) -> str:
    with pytest.raises(DomainError) as caught:
        start_postgres(root, **options)
    assert caught.value.message.endswith(".")
    return caught.value.code


def test_a_cold_start_makes_a_cluster_and_a_warm_start_keeps_its_rows(root):
    server = start_postgres(root, settings=SHORT)
    assert ask(server, "SHOW server_version").startswith("18.")
    assert ask(server, "SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = 'template1'") == "bC.UTF-8"
    assert ask(server, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == 1
    write(server, "CREATE TABLE kept AS SELECT 1")
    server.stop()
    assert not processes.is_running(server.pid)
    again = start_postgres(root, settings=SHORT)
    assert ask(again, "SELECT count(*) FROM kept") == 1
    again.stop()


def test_a_second_start_attaches_and_its_stop_leaves_the_server_running(root):
    server = start_postgres(root, settings=TEST_SETTINGS)
    second = start_postgres(root)
    assert (second.pid, second.is_owner) == (server.pid, False)
    second.stop()
    assert ask(server, "SELECT 1") == 1
    server.stop()


def test_after_kill_9_committed_rows_are_there(root):
    server = start_postgres(root)
    write(server, "CREATE TABLE kept AS SELECT 1")
    os.kill(server.pid, signal.SIGKILL)
    server.process.wait(5)
    again = start_postgres(root)
    assert again.is_owner
    assert ask(again, "SELECT count(*) FROM kept") == 1
    again.stop()


def test_a_lock_file_whose_process_id_is_another_programs_does_not_count(root):
    start_postgres(root, settings=SHORT).stop()
    lock = root / "postgres" / "data" / "postmaster.pid"
    lock.write_text(f"{os.getppid()}\n{lock.parent}\n1\n5432\n{root}\n\n0 0\nready\n")
    again = start_postgres(root, settings=SHORT)
    assert again.is_owner
    again.stop()


def test_an_interrupted_first_start_is_begun_anew(root):
    half = root / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    server = start_postgres(root, settings=SHORT)
    assert not half.exists()
    server.stop()


def test_a_folder_of_another_major_version_is_refused_and_not_touched(root):
    data = root / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    assert code_of_start(root) == "data_folder_version"
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]


def test_a_taken_port_is_said_before_anything_is_made(root):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert code_of_start(root, port=taken.getsockname()[1]) == "port_taken"
    assert not (root / "postgres" / "data").exists()


def test_a_configured_port_is_listened_on_and_on_loopback_alone(root):
    port = ports.find_free_port()
    server = start_postgres(root, port=port, settings=SHORT)
    assert ask(server, "SHOW listen_addresses") == "127.0.0.1"
    with pytest.raises(DomainError, match="port_taken"):
        ports.check_port_free(port)
    server.stop()


def test_a_full_disk_is_said_before_anything_is_made(root):
    assert code_of_start(root, free_bytes=lambda folder: 2**20) == "disk_full"
    assert not (root / "postgres" / "data").exists()


def test_a_path_too_long_for_a_socket_gives_loopback():
    with temporary_root(suffix="x" * 90) as root:
        server = start_postgres(root, settings=SHORT)
        assert server.host == "127.0.0.1"
        assert ask(server, "SHOW unix_socket_directories") == ""
        server.stop()


def test_credentials_are_for_their_owner_only_and_in_no_argument_list(root):
    server = start_postgres(root, settings=SHORT)
    assert stat.S_IMODE((root / "credentials.json").stat().st_mode) == 0o600
    assert set(ROLES) <= set(server.passwords)
    arguments = Path(f"/proc/{server.pid}/cmdline").read_text()
    assert not any(password in arguments for password in server.passwords.values())
    assert not (root / "postgres" / "password").exists()
    server.stop()


def test_the_socket_asks_for_a_password_too(root):
    server = start_postgres(root, settings=SHORT)
    server.passwords["postgres"] = "wrong"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        ask(server, "SELECT 1")
    server.stop()


def test_lost_credentials_are_said_and_nothing_stays_running(root):
    server = start_postgres(root, settings=SHORT)
    server.stop()
    (root / "credentials.json").unlink()
    assert code_of_start(root, settings=SHORT) == "credentials_lost"
    assert not (root / "postgres" / "data" / "postmaster.pid").exists()


@needs_root
@pytest.mark.parametrize("way", launcher.FOR_ROOT, ids=lambda way: way.name)
def test_root_starts_it_in_every_way_and_can_change_the_way(root, way):
    start_postgres(root, settings=SHORT).stop()
    server = start_postgres(root, settings=SHORT, launcher=way)
    assert (root / "postgres" / "data").stat().st_uid == way.uid
    assert Path(f"/proc/{server.pid}").stat().st_uid == way.uid
    assert server.statement.startswith("Started by root")
    server.stop()
    start_postgres(root, settings=SHORT).stop()


@needs_root
def test_without_the_right_to_look_into_other_processes_it_attaches_and_stops_all_the_same(root):
    script = (
        "import sys; from pathlib import Path; from rag4c.embedded.launcher import AS_NOBODY; from rag4c.embedded.postgres import start_postgres\n"
        "server = start_postgres(Path(sys.argv[1]), launcher=AS_NOBODY); found = start_postgres(Path(sys.argv[1]))\n"
        "found.is_owner = True; found.stop(); print(server.process.wait(5), found.pid == server.pid)"
    )
    command = ["setpriv", "--bounding-set=-sys_ptrace", sys.executable, "-c", script, str(root)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0 True\n"


@needs_root
def test_nobody_passes_folders_that_are_closed_to_others(root):
    inner = root / "closed" / "project"
    inner.mkdir(parents=True)
    (root / "closed").chmod(0o700)
    assert code_of_start(inner, launcher=launcher.AS_NOBODY) == "root_refused"
    server = start_postgres(inner, settings=SHORT, launcher=launcher.AS_NOBODY_PASSING)
    assert ask(server, "SELECT 1") == 1
    server.stop()
    assert stat.S_IMODE((root / "closed").stat().st_mode) == 0o700


@needs_root
def test_an_unprivileged_user_starts_it_and_is_told_when_the_folder_is_roots(root):
    script = (
        "import sys; from pathlib import Path; from rag4c.embedded.postgres import start_postgres; from rag4c.kernel.errors import DomainError\n"
        "try: server = start_postgres(Path(sys.argv[1])); print(server.statement or 'plain'); server.stop()\n"
        "except DomainError as exc: print(exc.code)"
    )
    (root / "theirs").mkdir()
    os.chown(root / "theirs", launcher.NOBODY, launcher.NOBODY)
    root.chmod(0o711)
    start_postgres(root / "ours", settings=SHORT).stop()
    command = [*launcher.AS_NOBODY.prefix, sys.executable, "-c", script]
    for folder, said in (("theirs", "plain"), ("ours", "data_folder_owner")):
        done = subprocess.run([*command, str(root / folder)], capture_output=True, text=True, check=False)
        if "Permission denied" in done.stderr:
            pytest.skip("this Python is closed to other users")
        assert done.stdout.strip() == said, done.stderr


def test_a_launcher_names_a_user_that_this_machine_knows():
    """initdb refuses an id without a name, so the mapped one is looked up, not assumed."""
    mapped = next(int(part.partition("=")[2]) for part in launcher.NAMESPACE.prefix if part.startswith("--map-user="))
    assert pwd.getpwuid(mapped).pw_name
    assert mapped != 0
    assert launcher._has_name(0)
    assert not launcher._has_name(2**31 - 7)
