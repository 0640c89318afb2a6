"""The only place that connects lower apps to higher ones: event -> handler, port -> implementation."""

from __future__ import annotations

from functools import partial

from django.db import connection

from approvals import api as approvals
from compliance import api as compliance
from documents import api as documents
from rag4c.kernel import failpoints
from rag4c.ledger import api as ledger
from rag4c.ledger import handlers
from rag4c.scope import admin_parts, gate, refusals
from retrieval import api as retrieval
from tenants import api as tenants


def connect() -> None:
    gate.install(approvals.PolicyGate())
    tenants.install_seeder(approvals.seed_policies)
    tenants.install_subject_finder("document", documents.find_document_by_name)
    handlers.subscribe("support.visit_approved", "tenants.visit", tenants.open_approved_visit)
    handlers.subscribe("approval.approved", "approvals.execute", approvals.execute_approved)
    handlers.subscribe("revision.split", "retrieval.index", retrieval.index_job)
    handlers.subscribe("audit.export_requested", "compliance.export", compliance.run_export)
    for code in compliance.TASK_SOURCES:
        handlers.subscribe(code, "compliance.task", partial(_open_task, code))
    admin_parts.install_history(ledger.events_of)
    admin_parts.install_readings(ledger.record)
    refusals.install_refusals(ledger.record_refusal)
    failpoints.on_dropconn(connection.close)


def _open_task(code: str, tenant_id: str, subject_id: str) -> None:
    compliance.open_task(tenant_id, code, subject_id)
