"""Base of every Celery task on tenant rows: called as task(tenant_id, row_id), ids only (GOV-T7)."""

from __future__ import annotations

from typing import Any

import structlog
from celery import Task

from rag4c.kernel.grant import system_actor
from rag4c.scope.manager import scope

log = structlog.get_logger()


class ScopedTask(Task[..., Any]):
    """`model` must hold row_id inside that tenant; a foreign pair reads as absent, and so does a suspended tenant. The body opens its own scopes."""

    abstract = True
    model: Any = None

    def __call__(self, tenant_id: str, row_id: str, *args: Any, **kwargs: Any) -> Any:
        with scope(system_actor(tenant_id).grant):
            if not self.model.objects.filter(pk=row_id, tenant__is_active=True).exists():
                log.warning("task.row_absent", task=self.name, tenant=tenant_id, row=row_id)
                return "absent"
        return super().__call__(tenant_id, row_id, *args, **kwargs)
