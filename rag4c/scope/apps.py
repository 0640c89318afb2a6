from django.apps import AppConfig


class ScopeConfig(AppConfig):
    name = "rag4c.scope"
    label = "scope"

    def ready(self) -> None:
        from rag4c.scope import manager

        manager.install()
