"""Celery application; a forked child forgets the parent's connections."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_process_init

from rag4c.kernel import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
app = Celery("rag4c")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def forget_inherited_pool(**_: Any) -> None:
    """Forget, do not close: closing in the child says goodbye on sockets that are the parent's too (tried)."""
    from django.db import connections
    from django.db.backends.postgresql.base import DatabaseWrapper

    pools: dict[str, Any] = getattr(DatabaseWrapper, "_connection_pools")  # noqa: B009  # private, untyped attribute
    pools.clear()
    for connection in connections.all(initialized_only=True):
        connection.connection = None


@setup_logging.connect
def use_our_logging(**_: Any) -> None:
    from rag4c.scope.logs import configure_logging

    configure_logging(env.read_str("RAG4C_LOG_LEVEL"))
