"""`up`, `init-db`, `demo`: the platform itself."""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag4c import bootstrap
from rag4c.commands.base import add_command, open_platform, say
from rag4c.embedded.ports import check_port_free, find_free_port
from rag4c.embedded.supervisor import Program, Supervisor
from rag4c.kernel import env
from rag4c.kernel.errors import Conflict, DomainError

if TYPE_CHECKING:
    import argparse

CREDENTIALS = "demo-credentials.json"


def add_commands(commands: Any) -> None:
    add_command(commands, "up", run_up, "start everything and serve until Ctrl-C", tenant=False)
    serve = add_command(commands, "serve", run_serve, "one process in the foreground, for a platform of containers", tenant=False)
    serve.add_argument("program", choices=("web", "worker", "system", "beat"))
    add_command(commands, "init-db", run_init_db, "create or bring up to date roles, database and tables", tenant=False)
    demo = add_command(commands, "demo", run_demo, "ingest documents, ask questions, and compare with what is expected", tenant=False)
    demo.add_argument("--docs", type=Path, help="folder of documents (default: the demo corpus)")
    demo.add_argument("--questions", type=Path, help="JSON lines with questions and what is expected (default: the demo's)")
    demo.add_argument("--output-dir", type=Path, help="write answers.jsonl there")


def run_init_db(arguments: argparse.Namespace) -> int:
    platform = bootstrap.start_platform()
    try:
        bootstrap.convert_model()
        bootstrap.init_database(platform)
    finally:
        platform.stop()
    say("The database is up to date.")
    return 0


def run_serve(arguments: argparse.Namespace) -> int:
    """Becomes the program: signals reach it directly, and the other logins' passwords are not in its environment."""
    bootstrap.attach_platform()
    bootstrap.forget_powers()
    program = next(row for row in service_programs(env.read_int("RAG4C_PORT") or 8080) if row.name == arguments.program)
    os.environ.update(program.env)
    os.execvpe(program.argv[0], list(program.argv), os.environ)  # noqa: S606  # our own argv, no shell


def run_up(arguments: argparse.Namespace) -> int:
    """Services, model, database, demo data, then web, workers and beat under one supervisor."""
    started = time.monotonic()
    port = env.read_int("RAG4C_PORT") or find_free_port()
    check_port_free(port, setting="RAG4C_PORT")
    say("Starting Postgres and Redis …")
    platform = bootstrap.start_platform()
    try:
        if platform.services is not None and not platform.is_owner:
            raise Conflict(
                "already_running",
                "RAG4C is running from this folder already. Stop it with Ctrl-C in its terminal, wait for it to end, then start again.",
            )
        if platform.statement:
            say(platform.statement)
        say("Checking the embedding model …")
        bootstrap.convert_model()
        say("Bringing the database up to date …")
        bootstrap.init_database(platform)
        bootstrap.forget_powers()
        bootstrap.open_django()
        _check_login()
        credentials = seed_demo()
        supervisor = Supervisor(service_programs(port), guard=platform.services.guard if platform.services else None)
        _announce(port, credentials, time.monotonic() - started)
        threading.Thread(target=_publish_demo, daemon=True).start()
        return supervisor.run()
    finally:
        platform.stop()


def _check_login() -> None:
    from rag4c.scope.startcheck import check_login

    check_login()


def _announce(port: int, credentials: dict[str, str], seconds: float) -> None:
    host = env.read_str("RAG4C_HOST")
    say(f"\nRAG4C is starting at http://{host}:{port}/ (prepared in {seconds:.0f} s). Ctrl-C stops it; nothing is lost.")
    say("Sign in at the tenant `demo`:")
    for name, password in credentials.items():
        say(f"  {name:8} {password}")
    say(f"These passwords were made at the first start and are kept in {env.home_dir() / CREDENTIALS}.")
    say("The demo handbook is read in the background; `rag4c status` shows how far it is.\n")


def _publish_demo() -> None:
    """The demo handbook, read and released beside the running server; cut short by Ctrl-C, it goes on at the next start."""
    from django.db import OperationalError

    from rag4c.demo import CORPUS
    from rag4c.demo.publish import publish_folder
    from rag4c.demo.seed import demo_actor

    try:
        publish_folder(demo_actor(), "handbook", CORPUS)
    except DomainError as error:
        say(f"The demo handbook is not live: {error.message or error.code} ({error.code})")
    except OperationalError:
        return  # the database was stopped under us: Ctrl-C
    else:
        say("The demo handbook is live: ask away.")


def service_programs(port: int | None) -> list[Program]:
    """Workers, beat and, with a port, the web server; each with its own log and database login."""
    logs = env.home_dir() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    (env.home_dir() / "static").mkdir(exist_ok=True)
    celery = [sys.executable, "-m", "celery", "-A", "rag4c", "worker", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
    schedule_env = {"RAG4C_DB_ROLE": "system", "RAG4C_DB_PASSWORD_APP": ""}
    app_env = {"RAG4C_DB_PASSWORD_SYSTEM": ""}
    programs = [
        Program(
            "worker",
            [*celery, "--concurrency", str(env.read_int("RAG4C_WORKERS")), "-Q", "celery", "-n", "worker@%h"],
            logs / "worker.log",
            env=app_env,
        ),
        Program("system", [*celery, "--pool", "solo", "-Q", "system", "-n", "system@%h"], logs / "system.log", env=schedule_env),
        Program(
            "beat",
            [sys.executable, "-m", "celery", "-A", "rag4c", "beat", "--loglevel", "WARNING", "--pidfile="],
            logs / "beat.log",
            env=schedule_env,
        ),
    ]
    if port is not None:
        web = [sys.executable, "-m", "uvicorn", "rag4c.asgi:application", "--host", env.read_str("RAG4C_HOST"), "--port", str(port)]
        web += ["--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "5", "--lifespan", "off", "--no-server-header"]
        programs.append(Program("web", web, logs / "web.log", env=app_env))
    return programs


def seed_demo() -> dict[str, str]:
    """The demo tenant with three people, made at the first start; passwords are generated then. Returns them."""
    from rag4c.demo.seed import seed_tenant

    path = env.home_dir() / CREDENTIALS
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    credentials = known or {name: secrets.token_urlsafe(12) for name in ("alice", "bob", "charlie")}
    if not known:
        bootstrap.write_private(path, credentials)
    seed_tenant(credentials)
    return credentials


def run_demo(arguments: argparse.Namespace) -> int:
    os.environ.setdefault("RAG4C_WORKERS", "2")
    with open_platform() as platform:
        from rag4c.demo.run import run

        credentials = seed_demo()
        supervisor = Supervisor(service_programs(None), say=lambda _line: None) if platform.is_owner else None
        try:
            if supervisor is not None:
                supervisor.start()
            return run(arguments, sorted(credentials))
        finally:
            if supervisor is not None:
                supervisor.stop()
