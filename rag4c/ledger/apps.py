from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "rag4c.ledger"
    label = "ledger"
