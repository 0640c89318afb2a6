from django.apps import AppConfig


class ScopeConfig(AppConfig):
    name = "rag4c.scope"
    label = "scope"

    def ready(self) -> None:
        from rag4c.kernel import env
        from rag4c.scope import logs, manager

        logs.configure_logging(env.read_str("RAG4C_LOG_LEVEL"))
        manager.install()
