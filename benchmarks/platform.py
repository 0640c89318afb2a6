"""A throw-away platform for benchmarks: own services in a temporary folder, one tenant, everything gone at the end."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag4c import bootstrap
from rag4c.kernel import env

if TYPE_CHECKING:
    from collections.abc import Iterator


class Kit:
    """The tenant `demo` of the throw-away platform."""

    def __init__(self, passwords: dict[str, str] | None) -> None:
        from rag4c.demo.seed import PEOPLE, seed_tenant
        from tenants import api as tenants

        self.host = seed_tenant(passwords or {name: secrets.token_urlsafe(12) for name in PEOPLE})
        user_id = tenants.find_user(actor=self.host, username="charlie")
        self.asker = tenants.actor_for_user(tenant_id=self.host.tenant_id, user_id=user_id, channel="cli")
        self.base_id: Any = None

    def publish(self, folder: Path, questions: list[dict[str, Any]], slug: str = "bench") -> list[dict[str, Any]]:
        """Sync through real workers and release; gives the questions back."""
        from rag4c.commands.services import service_programs
        from rag4c.demo.publish import publish_folder
        from rag4c.embedded.supervisor import Supervisor

        supervisor = Supervisor(service_programs(None), say=lambda _line: None)
        supervisor.start()
        try:
            self.base_id = publish_folder(self.host, slug, folder)
        finally:
            supervisor.stop()
        return questions

    def ask(self, question: str) -> Any:
        from verification import api as verification

        return verification.answer_question(actor=self.asker, question=question, knowledge_bases=[self.base_id])


@contextlib.contextmanager
def temporary_platform(passwords: dict[str, str] | None = None) -> Iterator[Kit]:
    models = os.environ.get("RAG4C_MODEL_DIR") or str(env.home_dir() / "models")
    home = Path(tempfile.mkdtemp(prefix="rag4c-bench-"))
    os.environ.update(RAG4C_HOME=str(home), RAG4C_MODEL_DIR=models)
    platform = bootstrap.start_platform()
    try:
        bootstrap.convert_model()
        bootstrap.init_database(platform)
        bootstrap.open_django()
        yield Kit(passwords)
    finally:
        platform.stop()
        shutil.rmtree(home, ignore_errors=True)
