from __future__ import annotations

import pytest

from rag4c.kernel.grant import system_actor
from rag4c.scope.manager import scope
from tenants.models import Tenant
from tests.scope.support import ACME, GLOBEX


@pytest.fixture(params=["db", "real_db"])
def two_tenants(request):
    """Acme and Globex as bare rows, once inside a test's transaction and once with real commits."""
    request.getfixturevalue(request.param)
    for grant, slug in ((ACME, "acme"), (GLOBEX, "globex")):
        with scope(system_actor(grant.tenant_id).grant):
            Tenant.objects.create(id=grant.tenant_id, slug=slug, name=slug.title())
    return request.param


@pytest.fixture
def real_tenants(real_db):
    for grant, slug in ((ACME, "acme"), (GLOBEX, "globex")):
        with scope(grant):
            Tenant.objects.create(id=grant.tenant_id, slug=slug, name=slug.title())
    return real_db
