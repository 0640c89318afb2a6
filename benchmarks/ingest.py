"""Processor time that a chunk costs without the model: parse, split, facts and store; prints name=value lines.

The steps run inline in this process, as a worker runs them; the time of the parser's child process and that of Postgres are told apart.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.platform import temporary_platform
from benchmarks.sync import make_text

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from benchmarks.platform import Kit
    from documents.api import Claim

FILES = 60
PARTS = 12  # guides a file: pages of a usual length, about 50 chunks
SEED = 30_000
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
TABLE = "| Item | Price | Stock |\n| --- | --- | --- |\n"


def write_files(folder: Path) -> int:
    """Prose and, in each file, one table and some field lines, so that facts are read too. Returns the bytes written."""
    random, size_bytes = Random(SEED), 0  # noqa: S311  # made-up text, nothing secret
    for number in range(FILES):
        prose = "\n".join(make_text(number * PARTS + part, random) for part in range(PARTS))
        rows = "".join(f"| Part {number}-{row} | {random.randint(1, 900)} EUR | {random.randint(0, 50)} |\n" for row in range(20))
        text = f"{prose}\n# Prices {number}\n\n{TABLE}{rows}\n## Contact {number}\n\nPhone: {number:04}\nRoom: {number}\n"
        (folder / f"guide-{number:03}.md").write_text(text, encoding="utf-8")
        size_bytes += len(text.encode())
    return size_bytes


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds of user and system time of this process, its parser children, and the Postgres that serves it."""

    own_s: float
    child_s: float
    postgres_s: float

    def since(self, earlier: Cpu) -> Cpu:
        return Cpu(self.own_s - earlier.own_s, self.child_s - earlier.child_s, self.postgres_s - earlier.postgres_s)


class Meter:
    """Reads processor times. Children that are there at its making are services, those that come later are parsers."""

    def __init__(self, postmaster: int) -> None:
        self.postmaster, self.services = postmaster, set(children_of(os.getpid()))

    def read(self) -> Cpu:
        usage, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        parsers = [pid for pid in children_of(os.getpid()) if pid not in self.services]
        servers = [self.postmaster, *children_of(self.postmaster)]
        return Cpu(
            usage.ru_utime + usage.ru_stime,
            ended.ru_utime + ended.ru_stime + sum(map(process_cpu_s, parsers)),
            sum(map(process_cpu_s, servers)),
        )


def process_cpu_s(pid: int) -> float:
    """With the children that have ended; 0 for a process that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) * TICK_S


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run_steps(kit: Kit, jobs: list[uuid.UUID], step: str, work: Callable[[Claim], None], meter: Meter) -> tuple[Cpu, float]:
    from documents.api.steps import run_step

    before, started = meter.read(), time.monotonic()
    for job in jobs:
        outcome = run_step(tenant_id=str(kit.host.tenant_id), job_id=str(job), step=step, work=work)
        assert outcome == "done", outcome
    return meter.read().since(before), time.monotonic() - started


def measure(kit: Kit, folder: Path, size_bytes: int) -> None:
    from documents import api as documents
    from documents.api.ingest import parse_revision, split_revision
    from documents.models import Fact, IngestJob, RevisionChunk
    from rag4c.demo.seed import ensure_base
    from rag4c.embedded.postgres import find_running
    from rag4c.embedded.storage import read_credentials
    from rag4c.kernel import env
    from rag4c.scope.manager import scope

    server = find_running(env.home_dir() / "postgres", read_credentials(env.home_dir()))
    assert server is not None
    source_id = ensure_base(kit.host, "bench", "Bench", folder)[1]
    meter = Meter(server.pid)
    before, started = meter.read(), time.monotonic()
    documents.sync_source(actor=kit.host, source_id=source_id)
    costs = {"sync": (meter.read().since(before), time.monotonic() - started)}
    with scope(kit.host.grant):
        jobs = list(IngestJob.objects.values_list("pk", flat=True))
    costs["parse"] = run_steps(kit, jobs, "parsing", parse_revision, meter)
    costs["split"] = run_steps(kit, jobs, "splitting", split_revision, meter)
    with scope(kit.host.grant):
        chunks, facts = RevisionChunk.objects.count(), Fact.objects.count()
    print(f"files={len(jobs)} bytes={size_bytes} chunks={chunks} facts={facts}")
    for name, (cpu, wall_s) in costs.items():
        print(
            f"{name}_worker_cpu_ms_per_chunk={cpu.own_s * 1000 / chunks:.3f} {name}_parser_cpu_ms_per_chunk={cpu.child_s * 1000 / chunks:.3f} "
            f"{name}_postgres_cpu_ms_per_chunk={cpu.postgres_s * 1000 / chunks:.3f} {name}_wall_ms_per_chunk={wall_s * 1000 / chunks:.3f}"
        )
    total = [cpu for cpu, _ in costs.values()]
    worker_ms = sum(cpu.own_s + cpu.child_s for cpu in total) * 1000 / chunks
    print(f"ingest_cpu_ms_per_chunk_without_model={worker_ms:.3f}")
    print(f"ingest_cpu_ms_per_chunk_with_postgres={worker_ms + sum(cpu.postgres_s for cpu in total) * 1000 / chunks:.3f}")


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="rag4c-bench-files-"))
    os.environ.setdefault("RAG4C_LOG_LEVEL", "WARNING")
    try:
        size_bytes = write_files(folder)
        with temporary_platform() as kit:
            measure(kit, folder, size_bytes)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
