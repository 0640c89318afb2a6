from __future__ import annotations

import os

import pytest
from celery import current_app
from django.db import connection, connections
from kombu import pools

from rag4c.kernel.grant import Grant, system_actor
from rag4c.ledger import handlers
from rag4c.scope.manager import scope
from tenants.models import Tenant
from tests import cluster
from tests.scope.support import ACME, GLOBEX

own_cluster, real_db = cluster.own_cluster, cluster.real_db  # fixtures of this package


@pytest.fixture
def real_tenants(real_db):
    """Acme and Globex as bare rows, committed; the name of the database."""
    for grant, slug in ((ACME, "acme"), (GLOBEX, "globex")):
        with scope(Grant(grant.tenant_id)):
            Tenant.objects.create(id=grant.tenant_id, slug=slug, name=slug.title())
    return real_db


@pytest.fixture
def as_login(real_tenants, own_cluster):
    """Django's default alias under another login until the test ends. The SQL wall is for the app's connections; the others run in processes without it."""
    settings, before = connections.settings["default"], dict(connections.settings["default"])

    def switch(user):
        connection.close()
        connection.close_pool()
        settings.update(before, USER=user, PASSWORD=own_cluster.passwords[user])
        connection.execute_wrappers.clear()

    yield switch
    switch("rag4c_app")


@pytest.fixture(scope="session")
def broker():
    """The test run's Redis, whatever the settings held when they were first read."""
    current_app.conf.broker_url = os.environ["RAG4C_BROKER_URL"]
    pools.reset()
    current_app._pool = current_app.amqp._producer_pool = None


@pytest.fixture
def alice():
    return system_actor(ACME.tenant_id, channel="api")


@pytest.fixture
def subscribed():
    """Subscribe handlers to `thing.happened` for one test."""

    def subscribe(handler, name="tests.handler"):
        handlers.subscribe("thing.happened", name, handler)
        return handler

    yield subscribe
    handlers._HANDLERS.pop("thing.happened", None)
