"""The only place that connects lower apps to higher ones: event -> handler, port -> implementation."""

from __future__ import annotations

from django.db import connection

from approvals.api import PolicyGate
from compliance import api as compliance
from rag4c.kernel import failpoints
from rag4c.ledger import api as ledger
from rag4c.ledger import handlers
from rag4c.scope import admin_parts, gate
from retrieval import api as retrieval


def connect() -> None:
    gate.install(PolicyGate())
    handlers.subscribe("revision.split", "retrieval.index", retrieval.index_job)
    handlers.subscribe("audit.export_requested", "compliance.export", compliance.run_export)
    admin_parts.install_history(ledger.events_of)
    failpoints.on_dropconn(connection.close)
