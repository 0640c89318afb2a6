"""The demo tenant: three people, the demo handbook, its channels. Idempotent; passwords are handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from approvals.api import seed_policies
from documents import api as documents
from rag4c.kernel.errors import Absent, Conflict
from rag4c.kernel.grant import EVERYONE, PLATFORM_TENANT, system_actor
from retrieval import api as retrieval
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping
    from pathlib import Path

    from rag4c.kernel.grant import Actor

PEOPLE: Final = {"alice": "tenant_admin", "bob": "approver", "charlie": "compliance_officer"}


def seed_tenant(passwords: Mapping[str, str], slug: str = "demo") -> Actor:
    """The tenant and its people; who exists stays as they are. Returns the actor of the host inside the tenant."""
    tenant_id = tenants.find_tenant_id(slug)
    if tenant_id is None:
        tenant_id = tenants.create_tenant(actor=system_actor(PLATFORM_TENANT, channel="cli"), slug=slug, name=slug.title())
    seed_policies(tenant_id=tenant_id)
    actor = system_actor(tenant_id, channel="cli")
    for name, role in PEOPLE.items():
        try:
            tenants.create_user(actor=actor, username=name, password=passwords[name], display_name=name.title(), role=role)
        except Conflict:
            continue
    return actor


def demo_actor(slug: str = "demo") -> Actor:
    """The host inside the demo tenant. Raises: Absent("tenant")."""
    tenant_id = tenants.find_tenant_id(slug)
    if tenant_id is None:
        raise Absent("tenant", "The demo tenant is not there; run `rag4c init-db` and try again.")
    return system_actor(tenant_id, channel="cli")


def ensure_base(actor: Actor, slug: str, name: str, folder: Path, readers: frozenset[str] | None = None) -> tuple[uuid.UUID, uuid.UUID]:
    """A knowledge base with channels and one folder source; returns (base, source)."""
    try:
        base_id = documents.create_knowledge_base(actor=actor, slug=slug, name=name)
    except Conflict:
        base_id = documents.find_knowledge_base(actor=actor, slug=slug).id
    retrieval.create_channels(actor=actor, knowledge_base_id=base_id)
    key = "folder"
    try:
        source_id = documents.find_source(actor=actor, knowledge_base_id=base_id, key=key)
    except Absent:
        acl = tenants.AclSpec(readers if readers is not None else frozenset({EVERYONE}))
        source_id = documents.create_folder_source(actor=actor, knowledge_base_id=base_id, root=folder, acl=acl, key=key)
    return base_id, source_id
