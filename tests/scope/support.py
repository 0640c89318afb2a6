"""Small helpers of the scope tests."""

from __future__ import annotations

import uuid

from django.db import connection

from rag4c.kernel.grant import Grant
from rag4c.scope.manager import outside_scope, scope
from tenants.models import Group

ACME, GLOBEX = Grant(uuid.UUID(int=0xAC)), Grant(uuid.UUID(int=0x610))


def tenant_setting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('rag4c.tenant', true)")
        return cursor.fetchone()[0]


def setting_outside():
    with outside_scope("probe"):
        return tenant_setting()


def make_groups(grant, count=1, prefix="team"):
    with scope(grant):
        return [Group.objects.create(tenant_id=grant.tenant_id, slug=f"{prefix}-{number}", name=prefix) for number in range(count)]
