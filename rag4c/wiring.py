"""The only place that connects lower apps to higher ones: event -> handler, port -> implementation."""

from __future__ import annotations

from django.db import connection

from approvals import api as approvals
from documents import api as documents
from rag4c.kernel import failpoints
from rag4c.ledger import api as ledger
from rag4c.ledger import handlers
from rag4c.scope import admin_parts, gate
from retrieval import api as retrieval
from tenants import api as tenants


def connect() -> None:
    gate.install(approvals.PolicyGate())
    tenants.install_seeder(approvals.seed_policies)
    tenants.install_subject_finder("document", documents.find_document_by_name)
    handlers.subscribe("support.visit_approved", "tenants.visit", tenants.open_approved_visit)
    handlers.subscribe("approval.approved", "approvals.execute", approvals.execute_approved)
    handlers.subscribe("revision.split", "retrieval.index", retrieval.index_job)
    admin_parts.install_history(ledger.events_of)
    failpoints.on_dropconn(connection.close)
