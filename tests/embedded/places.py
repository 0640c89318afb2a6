"""Folders in memory for the servers of these tests."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag4c.embedded import processes

if TYPE_CHECKING:
    from collections.abc import Iterator

SHM = Path("/dev/shm")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become others")


@contextmanager
def temporary_root(suffix: str = "") -> Iterator[Path]:
    """A new folder; what a failed test left running from it is ended."""
    place = SHM if SHM.is_dir() and shutil.disk_usage(SHM).free > 2**30 else None
    folder = Path(tempfile.mkdtemp(prefix="rag4c-embedded-", suffix=suffix, dir=place))
    try:
        yield folder
    finally:
        for pid in _find_pids(folder):
            processes.end_process(pid, [(signal.SIGKILL, 5)])
        shutil.rmtree(folder)


def _find_pids(folder: Path) -> list[int]:
    """What runs below the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
    return found
