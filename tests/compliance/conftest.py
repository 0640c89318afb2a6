"""Acme with a sealed ledger, in a database and folders of the test's own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from compliance import api as compliance
from compliance.verify_export import main as verify_main
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.ledger import keys
from rag4c.scope.manager import scope
from tests import cluster
from tests.builders import make_tenant, make_user

if TYPE_CHECKING:
    from tests.builders import TenantKit

VERIFIER = Path(verify_main.__code__.co_filename)


own_cluster, real_db = cluster.own_cluster, cluster.real_db  # fixtures of this package


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch, settings):
    monkeypatch.setenv("RAG4C_HOME", str(tmp_path))
    keys.ensure_signing_key()
    location = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path / "sink")}}
    settings.STORAGES = {**settings.STORAGES, "checkpoints": location}
    settings.EXPORT_DIR = tmp_path / "exports"
    return tmp_path


@dataclass
class Audit:
    """Acme, and what its auditor does."""

    kit: TenantKit
    auditor: Any
    system_dsn: str

    def record(self, count: int = 1, code: str = "thing.happened", **data: Any) -> None:
        actor = system_actor(self.kit.id)
        for number in range(count):
            with scope(actor.grant):
                ledger.record(actor, code, subject=("thing", number), data=data)

    def seal(self) -> None:
        with psycopg.connect(self.system_dsn, autocommit=True) as conn:
            while conn.execute("SELECT rag4c_seal(%s, 5000)", [self.kit.id]).fetchone()[0]:
                pass

    def export(self, **options: Any) -> Path:
        """The finished folder."""
        job_id = compliance.request_export(actor=self.auditor, **options)
        compliance.run_export(str(self.kit.id), str(job_id))
        return compliance.read_export(actor=self.auditor, job_id=job_id).folder


@pytest.fixture
def audit(real_db, own_cluster):
    kit = make_tenant("acme")
    return Audit(kit, make_user(kit.id, "charlie", "auditor"), own_cluster.dsn("rag4c_system", real_db))


@pytest.fixture
def verify(tmp_path):
    """Exit code of the verifier, in this process."""

    def run(folder, *words, key=None):
        return verify_main([str(folder), "--key", str(key or keys.public_key_path()), *map(str, words)])

    return run


@pytest.fixture
def verify_alone(tmp_path):
    """The verifier of the folder itself, isolated, from an empty folder."""

    def run(folder, *words):
        empty = tmp_path / "empty"
        empty.mkdir(exist_ok=True)
        command = [sys.executable, "-I", str(folder / "verify_export.py"), str(folder), "--key", str(keys.public_key_path()), *map(str, words)]
        return subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False, env={})

    return run
