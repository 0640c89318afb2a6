from __future__ import annotations

import os

from django.test import Client

from rag4c import probes


def test_healthz_needs_no_database():
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_readyz_checks_login_migrations_broker_and_model(db, settings):
    settings.CELERY_BROKER_URL = os.environ["RAG4C_BROKER_URL"]
    response = Client().get("/readyz")
    assert response.json()["checks"] == {"database": "ok", "migrations": "ok", "broker": "ok", "model": "ok"}
    assert response.status_code == 200
    assert set(response.json()["metrics"]) == {"seal_lag_s", "seal_waiting_tenants", "oldest_transaction_s", "seal_holder_pid"}


def test_readyz_says_what_is_missing(db, settings, monkeypatch, tmp_path):
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setenv("RAG4C_MODEL_DIR", str(tmp_path))
    response = Client().get("/readyz")
    assert (response.status_code, response.json()["code"]) == (503, "not_ready")
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["checks"] == {"database": "ok", "migrations": "ok", "broker": "broker_unavailable", "model": "model_missing"}


def test_a_broker_address_that_is_none_reads_as_unavailable(settings):
    settings.CELERY_BROKER_URL = ""
    assert probes.check_broker() == "broker_unavailable"
