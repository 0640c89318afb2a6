"""The product's own worker, system worker and beat as processes of a test, to be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rag4c.commands.services import service_programs
from rag4c.embedded.processes import end_group
from rag4c.kernel.env import PROJECT_DIR

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reliability.lab import Lab

POLL_S = 0.1
OPEN = "SELECT count(*) FILTER (WHERE state = 'completed'), count(*) FROM documents_ingestjob"


@dataclass
class Workers:
    """Processes over one database, each the leader of its own group."""

    lab: Lab
    database: str
    env: dict[str, str] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, *names: str) -> None:
        programs = {program.name: program for program in service_programs(None)}
        for name in names:
            program = programs[name]
            env = self.lab.environment(RAG4C_DB_NAME=self.database, RAG4C_WORKERS="2", **self.env, **program.env)
            with (self.lab.root / f"{name}.log").open("ab") as log:
                self.running[name] = subprocess.Popen(program.argv, cwd=PROJECT_DIR, env=env, stdout=log, stderr=log, start_new_session=True)

    def kill_pool_child(self) -> None:
        """kill -9 of one of the processes that do the work; its parent starts another."""
        pid = self.running["worker"].pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)

    def kill_group(self, name: str) -> None:
        """kill -9 of a process with everything below it, as when the machine goes."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def freeze(self, name: str) -> subprocess.Popen[bytes]:
        """SIGSTOP of a process with everything below it: alive, and silent. It is still stopped at the end."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGSTOP)
        self.running[f"{name} frozen"] = process
        return process

    def stop(self) -> None:
        for process in self.running.values():
            os.killpg(process.pid, signal.SIGCONT)  # nothing that is frozen can end in order
            end_group(process.pid, grace_s=10)
            process.wait()
        self.running.clear()

    def wait_for(self, condition: Callable[[int, int], bool], *, timeout_s: float, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Until the condition holds of (completed, all) jobs."""
        deadline = time.monotonic() + timeout_s
        while not condition(*(found := self.lab.query(self.database, OPEN)[0])):
            assert time.monotonic() < deadline, f"{found[0]} of {found[1]} completed in time; {self.explain()}"
            meanwhile()
            time.sleep(POLL_S)

    def explain(self) -> str:
        jobs = self.lab.query(self.database, "SELECT state, error_code, attempts, lease_until, count(*) FROM documents_ingestjob GROUP BY 1, 2, 3, 4")
        owed = self.lab.query(self.database, "SELECT state, attempts, due_at, count(*) FROM ledger_delivery GROUP BY 1, 2, 3")
        logs = {
            name: (self.lab.root / f"{name}.log").read_text()[-1500:] for name in ("worker", "system") if (self.lab.root / f"{name}.log").exists()
        }
        return f"jobs {jobs}, deliveries {owed}, logs {logs}"
