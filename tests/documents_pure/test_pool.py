"""The parser pool: same result as in process, hard limits, nothing left running."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from documents.parsing import pool as module
from documents.parsing.contract import ParseLimits
from documents.parsing.pool import ParserPool
from documents.parsing.registry import parse_bytes
from documents.parsing.wire import dump_extract, load_extract
from documents.parsing.worker import ProcessLimits
from rag4c.kernel.errors import Permanent

PAGE = "# Leave\n\nUp to **25** days. 年假\n\n<!-- no -->\n\n| a | b |\n|--|--|\n| x | 1 |\n".encode()
SLOW = b"a\n\n- b\n  - c\n\n" * 400_000  # seconds of computing, far more memory than its bytes


@pytest.fixture
def pool():
    with ParserPool() as made:
        yield made


def pid_of(pool: ParserPool) -> int:
    return pool._child._process.pid


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def code_of(pool: ParserPool, data: bytes, name: str = "a.md") -> str:
    with pytest.raises(Permanent) as refusal:
        pool.parse(data, name)
    return refusal.value.code


def test_an_extract_comes_back_as_it_was(pool):
    for name in ("a.md", "dir/b.txt", "c.html"):
        assert pool.parse(PAGE, name) == parse_bytes(PAGE, name)


def test_the_wire_loses_nothing():
    extract = parse_bytes(PAGE, "a.md")
    assert load_extract(json.loads(dump_extract(extract))) == extract


def test_R12_a_refusal_keeps_the_child_and_the_rest_proceeds(pool):
    pool.parse(PAGE, "a.md")
    first = pid_of(pool)
    assert code_of(pool, b"") == "empty_file"
    assert code_of(pool, b"%PDF-1.7", "a.pdf") == "unsupported_format"
    pool.parse(PAGE, "a.md")
    assert pid_of(pool) == first


def test_a_child_serves_so_many_files_and_is_replaced():
    with ParserPool(process_limits=ProcessLimits(files_per_child=2)) as pool:
        pool.parse(PAGE, "a.md")
        first = pid_of(pool)
        pool.parse(PAGE, "a.md")
        assert not is_running(first)
        pool.parse(PAGE, "a.md")
        assert pid_of(pool) != first


@pytest.mark.parametrize(
    ("limits", "code"),
    [(ProcessLimits(wall_s=0.8), "timeout"), (ProcessLimits(cpu_s=1), "resource_limit"), (ProcessLimits(memory_bytes=160 << 20), "resource_limit")],
)
def test_R12_a_breach_ends_the_child_and_the_next_file_gets_a_new_one(limits, code):
    with ParserPool(ParseLimits(max_elements=10**9), limits) as pool:
        pool.parse(PAGE, "a.md")
        first = pid_of(pool)
        assert code_of(pool, SLOW) == code
        assert not is_running(first)
        assert pool.parse(PAGE, "a.md").text


def test_cpu_is_counted_for_each_file():
    busy = b"a *b* `c` [d](e)\n\n" * 4_000
    with ParserPool(process_limits=ProcessLimits(cpu_s=2)) as pool:
        pool.parse(busy, "a.md")
        first = pid_of(pool)
        for _ in range(8):
            pool.parse(busy, "a.md")
        assert pid_of(pool) == first


def test_a_child_that_dies_is_a_crash_of_that_file_only(pool):
    pool.parse(PAGE, "a.md")
    os.kill(pid_of(pool), 11)
    pool._child._process.wait()
    assert pool.parse(PAGE, "a.md").text


def test_the_child_has_an_empty_environment_and_its_own_folder(pool):
    pool.parse(PAGE, "a.md")
    pid = pid_of(pool)
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    folder = Path(f"/proc/{pid}/cwd").readlink()
    assert list(folder.iterdir()) == []
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert "Max core file size        0 " in limits
    assert f"Max address space         {1 << 30} " in limits
    assert "Max open files            64 " in limits
    assert f"Max file size             {1 << 20} " in limits
    pool.close()
    assert not is_running(pid)
    assert not folder.exists()


def test_the_child_loads_no_django(pool):
    pool.parse(PAGE, "a.md")
    pool.parse(PAGE, "a.html")
    assert "django" not in Path(f"/proc/{pid_of(pool)}/maps").read_text()
    source = module._START.replace(
        "main(sys.argv[2])",
        "import documents.parsing.html, documents.parsing.markdown, documents.chunking; assert not any('django' in n for n in sys.modules)",
    )
    assert subprocess.run([sys.executable, "-I", "-c", source, str(module._ROOT)], env={}, check=False).returncode == 0


def test_threads_may_share_a_pool(pool):
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda n: pool.parse(f"# {n}\n\ntext {n}".encode(), "a.md").text, range(40)))
    assert results == [f"# {n}\n\ntext {n}" for n in range(40)]


def _parse_in_fork(inherited: ParserPool, answers) -> None:
    answers.put(inherited.parse(PAGE, "a.md").sha256)
    inherited.close()


def test_a_daemonic_forked_worker_gets_a_child_of_its_own(pool):
    expected = pool.parse(PAGE, "a.md").sha256
    first = pid_of(pool)
    folder = Path(f"/proc/{first}/cwd").readlink()
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    worker = fork.Process(target=_parse_in_fork, args=(pool, answers), daemon=True)
    worker.start()
    assert answers.get(timeout=20) == expected
    worker.join(20)
    assert worker.exitcode == 0
    assert is_running(first)
    assert folder.exists()
    assert pool.parse(PAGE, "a.md").sha256 == expected
    assert pid_of(pool) == first


def test_closing_leaves_nothing_and_the_pool_may_be_used_again(pool):
    before = threading.active_count()
    pool.parse(PAGE, "a.md")
    pool.close()
    pool.close()
    assert pool.parse(PAGE, "a.md").text
    assert threading.active_count() == before


def test_a_parent_that_is_killed_leaves_no_child_and_no_folder():
    script = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from documents.parsing.pool import ParserPool; p = ParserPool(); "
        "p.parse(b'x', 'a.md'); print(p._child._process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-I", "-c", script, str(module._ROOT)], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        folder = Path(f"/proc/{child}/cwd").readlink()
        parent.kill()
    for _ in range(100):
        if not folder.exists() and not is_running(child):
            break
        time.sleep(0.05)
    assert not folder.exists()
    assert not is_running(child)
