"""Tests run as rag4c_app on a clone of a migrated template, one clone per worker; the app never truncates. Postgres and Redis are real."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.services import ROLES, STATE, TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoDbBlocker


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
        logins = {f"RAG4C_DB_PASSWORD_{login.upper()}": self.passwords[role] for login, role in ROLES.items()}
        os.environ.update(logins, RAG4C_DB_NAME=name, RAG4C_DB_HOST=self.host, RAG4C_DB_PORT=str(self.port))  # for processes that a test starts


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
