"""What the ledger costs and how fast it is verified: one governed change a transaction with fsync on, then 100,000 events; prints name=value lines."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import psycopg

from benchmarks.platform import temporary_platform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHANGES = 300  # of one run
RUNS = 5
EVENTS = 100_000
BATCH = 1_000
SEAL_EVERY_S = 0.5  # ten times as often as the schedule says
VERIFIER = Path(__file__).parent.parent / "compliance" / "verify_export.py"


def system_connection() -> psycopg.Connection[Any]:
    from rag4c.kernel import env

    return psycopg.connect(
        host=env.read_str("RAG4C_DB_HOST"),
        port=env.read_int("RAG4C_DB_PORT"),
        dbname=env.read_str("RAG4C_DB_NAME"),
        user="rag4c_system",
        password=os.environ["RAG4C_DB_PASSWORD_SYSTEM"],
        autocommit=True,
    )


def seal(conn: psycopg.Connection[Any], tenant_id: Any) -> int:
    total = 0
    while sealed := conn.execute("SELECT rag4c_seal(%s, 2000)", [tenant_id]).fetchone()[0]:  # type: ignore[index]  # a function has one row
        total += sealed
    return total


def time_changes(host: Any, names: Iterator[int]) -> float:
    """Milliseconds of one governed change, each in its own transaction."""
    from tenants import api as tenants

    started = time.perf_counter()
    for _ in range(CHANGES):
        tenants.create_group(actor=host, slug=f"group-{next(names)}", name="Bench")
    return (time.perf_counter() - started) * 1000 / CHANGES


def run_with(host: Any, names: Iterator[int]) -> float:
    """As in service: the event in the same transaction, and a sealer beside it."""
    stop = threading.Event()

    def keep_sealing() -> None:
        with system_connection() as conn:
            while not stop.wait(SEAL_EVERY_S):
                seal(conn, host.tenant_id)

    sealer = threading.Thread(target=keep_sealing)
    sealer.start()
    try:
        return time_changes(host, names)
    finally:
        stop.set()
        sealer.join()


def run_without(host: Any, names: Iterator[int]) -> float:
    with mock.patch("rag4c.ledger.api.record"):
        return time_changes(host, names)


def measure_cost(host: Any) -> None:
    names = iter(range(10**6))
    runs: dict[str, tuple[Callable[..., float], list[float]]] = {"with": (run_with, []), "without": (run_without, [])}
    time_changes(host, names)
    for _ in range(RUNS):
        for run, times in runs.values():
            times.append(run(host, names))
    medians = {name: statistics.median(times) for name, (_, times) in runs.items()}
    for name, (_, times) in runs.items():
        print(f"change_ms_{name}_ledger={medians[name]:.3f} runs={','.join(f'{value:.3f}' for value in times)}")
    print(f"ledger_cost_ratio={medians['with'] / medians['without']:.3f} target=1.5")


def add_events(host: Any) -> None:
    from rag4c.ledger import api as ledger
    from rag4c.scope.manager import scope

    for start in range(0, EVENTS, BATCH):
        with scope(host.grant):
            for number in range(start, start + BATCH):
                ledger.record(host, "thing.happened", subject=("thing", number), data={"n": number})


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def measure_verifying(host: Any) -> None:
    from compliance import api as compliance
    from rag4c.ledger import api as ledger

    add_events(host)
    with system_connection() as conn:
        sealed, seal_s = timed(lambda: seal(conn, host.tenant_id))
    print(f"sealed={sealed} seal_events_per_s={sealed / seal_s:.0f}")
    job_id = compliance.request_export(actor=host)
    _, export_s = timed(lambda: compliance.run_export(str(host.tenant_id), str(job_id)))
    verdict, verify_s = timed(lambda: ledger.verify_audit(tenant_id=str(host.tenant_id)))
    assert verdict.is_whole, verdict.faults
    print(f"verify_audit_events={verdict.events} verify_audit_events_per_s={verdict.events / verify_s:.0f}")
    info = compliance.read_export(actor=host, job_id=job_id)
    size_bytes = sum(path.stat().st_size for path in info.folder.rglob("*") if path.is_file())
    archive_bytes = info.folder.with_suffix(".zip").stat().st_size
    print(f"export_events={info.count} export_events_per_s={info.count / export_s:.0f} export_bytes={size_bytes} archive_bytes={archive_bytes}")
    command = [sys.executable, "-I", str(VERIFIER), str(info.folder), "--key", str(ledger.public_key_path())]
    done, alone_s = timed(lambda: subprocess.run(command, capture_output=True, check=False))  # noqa: S603  # our own file
    assert done.returncode == 0, done.stderr
    print(f"verify_export_events_per_s={info.count / alone_s:.0f}")


def main() -> int:
    os.environ.setdefault("RAG4C_LOG_LEVEL", "WARNING")
    with temporary_platform() as kit:
        measure_cost(kit.host)
        measure_verifying(kit.host)
    return 0


if __name__ == "__main__":
    sys.exit(main())
