"""App configs of the project package: the admin site, and the wiring that runs last."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AdminConfig(DjangoAdminConfig):
    default_site = "rag4c.admin_site.TenantAdminSite"


class WiringConfig(AppConfig):
    name = "rag4c"
    label = "rag4c"

    def ready(self) -> None:
        from rag4c import celery, wiring

        celery.app.finalize()
        wiring.connect()
