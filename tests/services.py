"""Loaded before everything else (`-p tests.services`): real Postgres and Redis, and the environment that the settings will read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest

from rag4c.embedded import initdb
from rag4c.embedded.services import Services, start_services
from rag4c.kernel import env as kernel_env

TEMPLATE, STATE, SHM = "rag4c_template", "RAG4C_TEST_STATE", Path("/dev/shm")
ROLES = {"owner": "rag4c_owner", "app": "rag4c_app", "system": "rag4c_system"}
_started: list[tuple[Services, Path]] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before pytest-django loads the settings. An xdist worker inherits the state from the controller."""
    os.environ.setdefault("RAG4C_MODEL_DIR", str(kernel_env.PROJECT_DIR / ".local" / "models"))
    if STATE in os.environ:
        return
    # a clone costs 16 ms in memory, 20 to 400 ms on a busy disk
    root = Path(tempfile.mkdtemp(prefix="rag4c-test-", dir=SHM if SHM.is_dir() and shutil.disk_usage(SHM).free > 2**30 else None))
    services = start_services(root, durable=False)
    _started.append((services, root))
    server = services.postgres
    initdb.init_database(server.dsn("postgres", "postgres"), server.passwords, TEMPLATE)
    state = {"host": server.host, "port": server.port, "passwords": server.passwords, "broker": services.redis.url(), "home": str(root / "home")}
    os.environ[STATE] = json.dumps(state)
    _export(state, server.passwords)
    (root / "home" / "static").mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "rag4c.providers.e5.convert"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "rag4c.initialise"], check=True)
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as conn:  # nobody may be connected to a template while it is cloned
        conn.execute(f"ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")


def _export(state: dict[str, object], passwords: dict[str, str]) -> None:
    os.environ.update(
        RAG4C_DB_HOST=str(state["host"]),
        RAG4C_DB_PORT=str(state["port"]),
        RAG4C_DB_NAME=TEMPLATE,
        RAG4C_HOME=str(state["home"]),
        RAG4C_BROKER_URL=str(state["broker"]),
        RAG4C_SECRET_KEY="test-only-" + "x" * 50,
        **{f"RAG4C_DB_PASSWORD_{name.upper()}": passwords[role] for name, role in ROLES.items()},
    )


def pytest_unconfigure() -> None:
    for services, root in _started:
        services.stop()
        shutil.rmtree(root, ignore_errors=True)
