"""A small process that outlives a killed parent just long enough to end what the parent had started.

The parent holds the writing end of a pipe and never closes it by itself: end of file without `done` means that it was killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from rag4c.embedded.processes import end_group

GRACE_S = 8.0
PROJECT = Path(__file__).parents[2]


class Guard:
    """The parent's side: which process groups end with us. They end last in, first out."""

    def __init__(self, *, keep_open: int | None = None) -> None:
        """Args: keep_open: a file descriptor that the guard holds until it has finished, such as a lock."""
        # -S: it needs the standard library only; a session of its own: Ctrl-C is not for it
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-m", "rag4c.embedded.guard"],
            stdin=subprocess.PIPE,
            cwd=PROJECT,
            env={"PATH": os.defpath},
            pass_fds=() if keep_open is None else (keep_open,),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The process that watches."""
        return self._process.pid

    def watch(self, group: int, first: signal.Signals = signal.SIGTERM) -> None:
        """End this group, asking with `first`, should we be killed."""
        self._tell(f"watch {group} {int(first)}")

    def forget(self, group: int) -> None:
        """The group has ended: its number may be given to others."""
        self._tell(f"forget {group}")

    def close(self) -> None:
        """An orderly end; returns when the guard has gone."""
        self._tell("done")
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait(5)

    def _tell(self, line: str) -> None:
        if self._process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):  # somebody ended the guard: we go on without
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


def run_guard() -> None:
    """Read what to watch until the parent is gone, then end what is left."""
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, signal.SIG_IGN)
    watched: dict[int, signal.Signals] = {}
    for line in sys.stdin:
        verb, *numbers = line.split()
        if verb == "done":
            return
        if verb == "watch":
            watched[int(numbers[0])] = signal.Signals(int(numbers[1]))
        else:
            watched.pop(int(numbers[0]), None)
    for group, first in reversed(watched.items()):
        end_group(group, grace_s=GRACE_S, first=first)


if __name__ == "__main__":
    run_guard()
