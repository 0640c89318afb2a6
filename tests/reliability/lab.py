"""The parent's side: own Redis and blobs, databases to spoil, calls into forked children, and a superuser's eye on what they left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg

from rag4c.embedded import redis
from rag4c.kernel.env import PROJECT_DIR

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import Clones

# As if the longest lease and the longest pause between deliveries were over; the real-Celery lane waits for the real ones.
TIME_PASSES = """
    UPDATE documents_ingestjob SET lease_until = clock_timestamp() - interval '1 second' WHERE state NOT IN ('completed', 'error') AND lease_until IS NOT NULL;
    UPDATE ledger_delivery SET due_at = clock_timestamp() - interval '1 second' WHERE state = 'pending';
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended: its exit code, negative for a signal, and what it returned."""

    exit: int
    result: Any


@dataclass
class Lab:
    """One zygote, one Redis, one folder for everything that is written."""

    clones: Clones
    root: Path
    broker: redis.Server = field(init=False)
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.broker = redis.start_redis(self.root, durable=False)
        (self.root / "tmp").mkdir()
        with (self.root / "zygote.log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.reliability.zygote"],
                cwd=PROJECT_DIR,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._receive()

    def environment(self, **more: str) -> dict[str, str]:
        """For every process of the lab: nothing of it is written outside the lab's folder."""
        own = {"RAG4C_HOME": str(self.root / "home"), "RAG4C_BROKER_URL": self.broker.url(), "TMPDIR": str(self.root / "tmp")}
        return {**os.environ, "DJANGO_SETTINGS_MODULE": "rag4c.settings", "RAG4C_DB_ROLE": "app", **own, **more}

    def close(self) -> None:
        with self.process:
            self.process.stdin.close()  # type: ignore[union-attr]  # a pipe
        self.broker.stop()

    def new_database(self, template: str) -> str:
        name = f"rag4c_crash_{uuid.uuid4().hex[:10]}"
        self.clones.admin(f'CREATE DATABASE "{name}" TEMPLATE "{template}" OWNER rag4c_owner STRATEGY FILE_COPY')
        return name

    def drop(self, database: str) -> None:
        self.clones.admin(f'DROP DATABASE "{database}" WITH (FORCE)')

    def call(self, database: str, name: str, *, role: str = "app", failpoints: str = "", **arguments: Any) -> Outcome:
        """One function of the story in a child of its own."""
        fired = tempfile.mkdtemp(dir=self.root)
        env = {"RAG4C_FAILPOINTS": failpoints, "RAG4C_FAILPOINT_DIR": fired}
        line = json.dumps({"db": database, "role": role, "name": name, "arguments": arguments, "env": env})
        self.process.stdin.write(line + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        reply = self._receive()
        return Outcome(reply["exit"], reply["result"])

    def ask_for(self, database: str, name: str, **options: Any) -> Any:
        """A call that must end well."""
        outcome = self.call(database, name, **options)
        assert outcome.exit == 0, (
            outcome.result["error"] if outcome.result else f"exit {outcome.exit}: {(self.root / 'zygote.log').read_text()[-2000:]}"
        )
        return outcome.result

    def _receive(self) -> Any:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        assert line, (self.root / "zygote.log").read_text()[-4000:]
        return json.loads(line)

    def query(self, database: str, statement: str) -> list[tuple[Any, ...]]:
        """As the superuser, who sees every row."""
        with psycopg.connect(self.clones.dsn("postgres", database), autocommit=True) as conn:
            return conn.execute(statement).fetchall()

    def let_time_pass(self, database: str) -> None:
        with psycopg.connect(self.clones.dsn("postgres", database), autocommit=True) as conn:
            conn.execute(TIME_PASSES)

    def recover(self, database: str, rounds: int = 8) -> int:
        """Sweep and work until nothing is due; how many rounds had work."""
        for number in range(rounds):
            self.let_time_pass(database)
            due = self.ask_for(database, "find_due", role="system")
            if not any(due.values()):
                return number
            self.ask_for(database, "drive", jobs=due["jobs"], deliveries=due["deliveries"])
        raise AssertionError(f"still something due after {rounds} rounds: {due}")


def declared_points(prefixes: Sequence[str]) -> list[str]:
    """The failpoints of the product by these first words, from its source."""
    from tests.architecture.sources import failpoints

    return sorted({point.name for point in failpoints() if point.name.split(".")[0] in prefixes})
