"""A Postgres of a test package's own: sealing waits for the oldest open transaction of the whole cluster, so other tests' would hold it up."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag4c.embedded import initdb
from rag4c.embedded.services import start_services
from tests.conftest import Clones
from tests.services import ROLES, SHM, TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoDbBlocker


@contextlib.contextmanager
def start_cluster() -> Iterator[Clones]:
    root = Path(tempfile.mkdtemp(prefix="rag4c-test-", dir=SHM if SHM.is_dir() else None))
    services = start_services(root, durable=False)
    try:
        server = services.postgres
        initdb.init_database(server.dsn("postgres", "postgres"), server.passwords, TEMPLATE)
        where = {"RAG4C_DB_HOST": server.host, "RAG4C_DB_PORT": str(server.port), "RAG4C_DB_NAME": TEMPLATE, "RAG4C_HOME": str(root / "home")}
        logins = {f"RAG4C_DB_PASSWORD_{name.upper()}": server.passwords[role] for name, role in ROLES.items()}
        subprocess.run([sys.executable, "-m", "rag4c.initialise"], check=True, env=os.environ | where | logins)
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as conn:
            conn.execute(f"ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")
        yield Clones(server.host, server.port, server.passwords)
    finally:
        services.stop()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def own_cluster() -> Iterator[Clones]:
    with start_cluster() as clones:
        yield clones


@pytest.fixture
def real_db(
    own_cluster: Clones, postgres_clones: Clones, worker_name: str, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[str]:
    """As the fixture of all tests, in the package's own cluster."""
    name = f"rag4c_real_{uuid.uuid4().hex[:8]}"
    own_cluster.admin(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE} OWNER rag4c_owner STRATEGY FILE_COPY')
    with django_db_blocker.unblock():
        own_cluster.use(name)
        yield name
        postgres_clones.use(f"rag4c_test_{worker_name}")
    own_cluster.admin(f'DROP DATABASE "{name}" WITH (FORCE)')
