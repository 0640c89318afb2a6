"""`status`, `doctor`, `config`: what is there and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_command, emit, host_actor, open_platform
from rag4c.kernel import env

if TYPE_CHECKING:
    import argparse


def add_commands(commands: Any) -> None:
    add_command(commands, "status", run_status, "jobs, sources and failures of a tenant")
    add_command(commands, "doctor", run_doctor, "check services, logins, model and tables; exit code 1 when something is wrong", tenant=False)
    add_command(commands, "config", run_config, "all settings with their values, secrets masked", tenant=False)


def run_status(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents

        actor = host_actor(arguments)
        counts = documents.count_jobs(actor=actor)
        sources = documents.list_sources(actor=actor)
        failures = documents.list_failures(actor=actor)
    lines = [" ".join(f"{name}={count}" for name, count in counts.items())]
    lines += [
        f"{row.knowledge_base}/{row.key}: generation {row.generation}, last read {row.last_sync_at or 'never'}, {row.last_refused} refused"
        for row in sources
    ]
    lines += [f"  {path}: {message} ({code})" for path, code, message in failures]
    emit(arguments, {"jobs": counts, "sources": sources, "failures": failures}, lines)
    return 1 if failures or counts["stuck"] else 0


def run_doctor(arguments: argparse.Namespace) -> int:
    with open_platform():
        from rag4c import probes

        checks, metrics = probes.run_checks(), {}
        if checks["database"] == probes.OK and checks["migrations"] == probes.OK:
            checks["sealing"], metrics = probes.check_sealing(), probes.read_metrics()
    lines = [f"{'ok   ' if code == probes.OK else 'WRONG'} {name}: {code}" for name, code in checks.items()]
    emit(arguments, {**checks, "metrics": metrics}, [*lines, *(f"      {name}={value}" for name, value in metrics.items())])
    return 0 if set(checks.values()) == {probes.OK} else 1


def run_config(arguments: argparse.Namespace) -> int:
    rows = env.describe()
    emit(arguments, rows, [f"{row['name']}={row['value']}  ({row['source']}; {row['help']})" for row in rows])
    return 0
