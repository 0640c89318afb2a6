"""`python -m rag4c.initialise`, as the owner: migrations, partitions, the default embedding space, the platform tenant, grants. Idempotent."""

from __future__ import annotations

import os

import django
from psycopg.conninfo import make_conninfo


def main() -> None:
    os.environ["RAG4C_DB_ROLE"] = "owner"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    _fill()
    db = settings.DATABASES["default"]
    _grant(make_conninfo(host=str(db["HOST"]), port=str(db["PORT"]), dbname=str(db["NAME"]), user=str(db["USER"]), password=str(db["PASSWORD"])))


def _fill() -> None:
    from approvals.api import seed_policies
    from rag4c.kernel import clock, env
    from rag4c.kernel.grant import PLATFORM_TENANT
    from rag4c.ledger.keys import ensure_signing_key
    from rag4c.ledger.partitions import ensure_event_partitions
    from rag4c.providers.registry import get_embedder
    from retrieval.spaces import ensure_space
    from tenants.models import Tenant

    ensure_signing_key()
    ensure_event_partitions(clock.now().date())
    ensure_space(get_embedder(env.read_str("RAG4C_EMBEDDER")).space)
    Tenant.objects.get_or_create(id=PLATFORM_TENANT, defaults={"slug": "platform", "name": "Platform"})
    seed_policies(tenant_id=PLATFORM_TENANT)


def _grant(owner_dsn: str) -> None:
    from rag4c.embedded.initdb import grant_platform_tables
    from rag4c.platform_tables import PLATFORM_TABLES

    grant_platform_tables(owner_dsn, PLATFORM_TABLES)
    import psycopg

    with psycopg.connect(owner_dsn) as conn:
        conn.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO rag4c_system")  # beat's identity columns


if __name__ == "__main__":
    main()
