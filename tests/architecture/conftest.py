"""Connections of all three logins, and of the superuser, to the database of the test run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def owner(postgres_clones, worker_name, django_db_setup) -> Iterator[psycopg.Connection]:
    """The owner on the worker's clone, for reading the catalogue."""
    with psycopg.connect(postgres_clones.dsn("rag4c_owner", f"rag4c_test_{worker_name}")) as conn:
        yield conn
