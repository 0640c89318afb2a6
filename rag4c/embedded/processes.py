"""Looking at and ending processes by id, whoever started them. Standard library only: the guard process imports this alone."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL_S = 0.02


def is_running(pid: int) -> bool:
    """True while the process does something; a zombie that nobody has collected yet is gone for us."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError):
        # the name in brackets may itself hold brackets and spaces: the state is the first word after the last one
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    return True


def is_running_in(pid: int, folder: Path) -> bool:
    """True when the process runs with `folder` as its working folder: an id from an old lock file may be somebody else's by now."""
    if not is_running(pid):
        return False
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == folder.resolve()
    except FileNotFoundError:
        return not Path("/proc/self/cwd").exists()  # no /proc here: the id is all we have
    except PermissionError:  # its uid is another's and we lack CAP_SYS_PTRACE, as in many containers; the arguments are open to all
        return os.fsencode(folder.absolute()) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def has_members(group: int) -> bool:
    """True while any process of the group runs."""
    if not Path("/proc/self/stat").exists():
        return is_running(group)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            state, _parent, found = stat.read_text().rpartition(")")[2].split()[:3]
            if int(found) == group and state not in {"Z", "X"}:
                return True
    return False


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def end_process(pid: int, steps: Sequence[tuple[signal.Signals, float]]) -> bool:
    """Send each signal in turn and wait its seconds; False when the process outlived them all."""
    for sig, wait_s in steps:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)
        if wait_until(lambda: not is_running(pid), wait_s):
            return True
    return False


def end_group(group: int, *, grace_s: float, first: signal.Signals = signal.SIGTERM) -> None:
    """Ask the leader to end, so that it can let its own children finish; kill what is left of the group after the grace."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(group, first)
    wait_until(lambda: not is_running(group), grace_s)
    for sig, wait_s in ((signal.SIGTERM, 0.5), (signal.SIGKILL, 5.0)):
        if not has_members(group):
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, sig)
        wait_until(lambda: not has_members(group), wait_s)
