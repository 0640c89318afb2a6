"""Keeps the processes of `make run` going: starts them, starts a crashed one again, and on Ctrl-C stops them all in reverse order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag4c.embedded.guard import Guard
from rag4c.embedded.processes import end_group

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

WATCH_S = 0.1
STEADY_S = 30.0  # a process that ran this long has recovered: its next crash is a first one again


@dataclass(frozen=True, slots=True)
class Program:
    """A process to keep going.

    Args: env: added to ours. log: its output is appended there. restarts: how often in a row before the supervisor gives up.
    """

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    restart_delay_s: float = 1.0
    restarts: int = 5


@dataclass(slots=True)
class _Child:
    program: Program
    process: subprocess.Popen[bytes]
    started_s: float
    crashes: int = 0
    due_s: float | None = None  # when to start it again; None while it runs


def print_line(line: str) -> None:
    """The default of `Supervisor.say`."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


class Supervisor:
    """Owns child processes, each in a session and process group of its own, so that the terminal's Ctrl-C reaches only us."""

    def __init__(
        self, programs: Sequence[Program], *, guard: Guard | None = None, say: Callable[[str], None] = print_line, grace_s: float = 10.0
    ) -> None:
        """Args: guard: of the services, else one of our own. grace_s: for all processes together, then they are killed."""
        self._programs, self._say, self._grace_s = programs, say, grace_s
        self._owns_guard, self._guard = guard is None, guard or Guard()
        self._children: list[_Child] = []
        self._is_stopping = False

    @property
    def pids(self) -> dict[str, int]:
        """Process ids by name."""
        return {child.program.name: child.process.pid for child in self._children}

    def run(self) -> int:
        """Start all and watch until a signal comes; 0 after a signal, 1 when a program crashed too often. Nothing runs afterwards."""
        before = {sig: signal.signal(sig, self._on_signal) for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            self.start()
            return self._watch()
        finally:
            self.stop()
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def start(self) -> None:
        """Start every program in order, without watching."""
        for program in self._programs:
            if self._is_stopping:
                return
            self._children.append(_Child(program, self._spawn(program), time.monotonic()))

    def stop(self) -> None:
        """Stop all in reverse order within the grace, then kill; may be called twice."""
        self._is_stopping = True
        deadline = time.monotonic() + self._grace_s
        for child in reversed(self._children):
            if child.due_s is None:
                self._end(child, max(0.5, deadline - time.monotonic()))
        self._children.clear()
        if self._owns_guard:
            self._guard.close()

    def check(self) -> bool:
        """One look at the children: note who has ended, start again who is due. False when one of them crashed too often."""
        now_s = time.monotonic()
        for child in self._children:
            if child.due_s is not None and now_s >= child.due_s:
                child.process, child.started_s, child.due_s = self._spawn(child.program), now_s, None
            elif child.due_s is None and child.process.poll() is not None and not self._note_crash(child, now_s):
                return False
        return True

    def _watch(self) -> int:
        while not self._is_stopping:
            if not self.check():
                return 1
            time.sleep(WATCH_S)
        self._say("Stopping; nothing is lost.")
        return 0

    def _note_crash(self, child: _Child, now_s: float) -> bool:
        program = child.program
        self._end(child, 0.5)  # what it left behind in its group
        child.crashes = 1 if now_s - child.started_s > STEADY_S else child.crashes + 1
        how = _describe_end(child.process.returncode)
        if child.crashes > program.restarts:
            self._say(f"{program.name} {how} {child.crashes} times in a row; giving up. The reason is at the end of {program.log}.")
            return False
        child.due_s = now_s + program.restart_delay_s * 2 ** (child.crashes - 1)
        self._say(f"{program.name} {how}; starting it again in {child.due_s - now_s:.0f} s. See {program.log}.")
        return True

    def _end(self, child: _Child, grace_s: float) -> None:
        end_group(child.process.pid, grace_s=grace_s)
        child.process.wait(5)
        self._guard.forget(child.process.pid)

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        program.log.parent.mkdir(parents=True, exist_ok=True)
        with program.log.open("ab") as log:
            process = subprocess.Popen(
                program.argv,
                env={**os.environ, **program.env},
                cwd=program.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._guard.watch(process.pid)
        return process

    def _on_signal(self, _signum: int, _frame: FrameType | None) -> None:
        self._is_stopping = True


def _describe_end(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
