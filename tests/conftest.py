"""Tests run as rag4c_app on a clone of a migrated template, one clone per worker; the app never truncates. Postgres and Redis are real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from rag4c.embedded import initdb, postgres, redis
from rag4c.kernel import env as kernel_env

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoDbBlocker

TEMPLATE, STATE, SHM = "rag4c_template", "RAG4C_TEST_STATE", Path("/dev/shm")
ROLES = {"owner": "rag4c_owner", "app": "rag4c_app", "system": "rag4c_system"}
_started: list[object] = []


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("RAG4C_MODEL_DIR", str(kernel_env.PROJECT_DIR / ".local" / "models"))
    if hasattr(config, "workerinput") or os.environ.get("RAG4C_TEST_NO_SERVICES"):
        return  # an xdist worker inherits the state from the controller
    # a clone costs 16 ms in memory, 20 to 400 ms on a busy disk
    root = Path(tempfile.mkdtemp(prefix="rag4c-test-", dir=SHM if SHM.is_dir() and shutil.disk_usage(SHM).free > 2**30 else None))
    server = postgres.start_postgres(root, settings=postgres.TEST_SETTINGS)
    broker = redis.start_redis(root, durable=False)
    _started.extend([broker, server, root])
    initdb.init_database(server.dsn("postgres", "postgres"), server.passwords, TEMPLATE)
    state = {"host": server.host, "port": server.port, "passwords": server.passwords, "broker": broker.url(), "home": str(root / "home")}
    os.environ[STATE] = json.dumps(state)
    _export(state, TEMPLATE)
    subprocess.run([sys.executable, "-m", "rag4c.providers.e5.convert"], check=True, cwd=config.rootpath, capture_output=True)
    subprocess.run([sys.executable, "-m", "rag4c.initialise"], check=True, cwd=config.rootpath)
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as conn:  # nobody may be connected to a template while it is cloned
        conn.execute(f"ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")


def _export(state: dict[str, object], dbname: str) -> None:
    passwords = state["passwords"]
    assert isinstance(passwords, dict)
    os.environ.update(
        RAG4C_DB_HOST=str(state["host"]),
        RAG4C_DB_PORT=str(state["port"]),
        RAG4C_DB_NAME=dbname,
        RAG4C_HOME=str(state["home"]),
        RAG4C_BROKER_URL=str(state["broker"]),
        RAG4C_SECRET_KEY="test-only-" + "x" * 50,
        **{f"RAG4C_DB_PASSWORD_{name.upper()}": passwords[role] for name, role in ROLES.items()},
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    for item in _started:
        if isinstance(item, Path):
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.stop()  # type: ignore[attr-defined]


@dataclass
class Clones:
    """Clones of the template, and which one the default alias uses."""

    host: str
    port: int
    passwords: dict[str, str]

    def dsn(self, role: str, dbname: str) -> str:
        return make_conninfo(host=self.host, port=self.port, user=role, password=self.passwords[role], dbname=dbname)

    def admin(self, statement: str) -> None:
        with psycopg.connect(self.dsn("postgres", "postgres"), autocommit=True) as conn:
            conn.execute(statement)

    def use(self, name: str) -> None:
        """In place: the connection of every thread reads this one dict."""
        from django.db import connections

        connections["default"].close()
        connections["default"].close_pool()  # type: ignore[attr-defined]
        connections.settings["default"].update(HOST=self.host, PORT=str(self.port), NAME=name, PASSWORD=self.passwords["rag4c_app"])
        os.environ["RAG4C_DB_NAME"] = name  # for processes that a test starts


@pytest.fixture(scope="session")
def postgres_clones() -> Clones:
    state = json.loads(os.environ[STATE])
    return Clones(state["host"], state["port"], state["passwords"])


@pytest.fixture(scope="session")
def worker_name(request: pytest.FixtureRequest) -> str:
    return getattr(request.config, "workerinput", {}).get("workerid", "main")


@pytest.fixture(scope="session")
def django_db_setup(postgres_clones: Clones, worker_name: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Replaces pytest-django's: no create_test_db, no migrate, no flush."""
    name = f"rag4c_test_{worker_name}"
    postgres_clones.admin(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE} OWNER rag4c_owner STRATEGY FILE_COPY')
    with django_db_blocker.unblock():
        postgres_clones.use(name)
        yield
        postgres_clones.use("closed")


@pytest.fixture
def real_db(postgres_clones: Clones, worker_name: str, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """Real transactions: an own clone per test instead of TransactionTestCase, whose flush needs TRUNCATE."""
    from django.db import connections

    name = f"rag4c_real_{worker_name}_{uuid.uuid4().hex[:8]}"
    postgres_clones.admin(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE} OWNER rag4c_owner STRATEGY FILE_COPY')
    with django_db_blocker.unblock():
        postgres_clones.use(name)
        yield name
        connections.close_all()
        postgres_clones.use(f"rag4c_test_{worker_name}")
    postgres_clones.admin(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(autouse=True, scope="session")
def quick_hashes() -> None:
    """Real hashing costs 0.2 s a person; the slow hasher has its own test."""
    from django.conf import settings

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]


@pytest.fixture
def acme(db):
    from tests.builders import make_tenant

    return make_tenant("acme")


@pytest.fixture
def globex(db):
    from tests.builders import make_tenant

    return make_tenant("globex")
