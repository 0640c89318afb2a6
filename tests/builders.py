"""Plain builders that walk the real doors. People are Alice, Bob and Charlie; tenants are Acme and Globex."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from approvals.api import seed_policies
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

PASSWORD = "a long pass phrase"


@dataclass
class TenantKit:
    """A tenant with one admin, Alice, and one member, Bob."""

    id: uuid.UUID
    slug: str
    alice: Actor
    bob: Actor

    @property
    def system(self) -> Actor:
        return system_actor(self.id)


def make_tenant(slug: str) -> TenantKit:
    tenant_id = tenants.create_tenant(actor=system_actor(PLATFORM_TENANT, channel="cli"), slug=slug, name=slug.title())
    seed_policies(tenant_id=tenant_id)
    alice = make_user(tenant_id, "alice", "tenant_admin")
    bob = make_user(tenant_id, "bob", "member")
    return TenantKit(tenant_id, slug, alice, bob)


def make_user(tenant_id: uuid.UUID, name: str, role: str) -> Actor:
    user_id = tenants.create_user(actor=system_actor(tenant_id), username=name, password=PASSWORD, display_name=name.title(), role=role)
    return tenants.actor_for_user(tenant_id=tenant_id, user_id=user_id)
