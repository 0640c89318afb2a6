"""Tenants and their workspaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db import IntegrityError, connection, transaction

from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope.manager import outside_scope, scope
from rag4c.scope.models import new_id
from rag4c.scope.permissions import check_permission
from tenants.models import AclRevision, Tenant, Workspace

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from rag4c.kernel.grant import Actor

__all__ = ["create_tenant", "create_workspace", "find_tenant_id", "find_workspace", "install_seeder", "list_workspaces"]
_seeders: list[Callable[..., object]] = []
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")


def create_tenant(*, actor: Actor, slug: str, name: str, tenant_id: uuid.UUID | None = None) -> uuid.UUID:
    """A new tenant with one workspace `main`; its first event opens its own ledger chain.

    Raises: Denied("not_allowed"), Invalid("slug_invalid"), Conflict("tenant_taken").
    """
    if actor.kind != "system" and "tenant.create" not in actor.grant.permissions:
        raise Denied("not_allowed", "Only a platform operator creates tenants.")
    if not SLUG.fullmatch(slug):
        raise Invalid("slug_invalid", "A slug is 1 to 50 of a-z, 0-9 and hyphens.")
    own = system_actor(tenant_id or new_id(), channel=actor.channel)
    with scope(own.grant), transaction.atomic():
        try:
            with transaction.atomic():
                Tenant.objects.create(id=own.tenant_id, slug=slug, name=name)
        except IntegrityError as error:
            raise Conflict("tenant_taken", "A tenant of this slug exists.") from error
        AclRevision.objects.create(tenant_id=own.tenant_id)
        ledger.record(own, "tenant.created", subject=("tenant", own.tenant_id), data={"by": actor.ref})
        create_workspace(actor=own, slug="main", name="Main")
        for seed in _seeders:
            seed(tenant_id=own.tenant_id)
    return own.tenant_id


def install_seeder(seed: Callable[..., object]) -> None:
    """What a higher app puts into every new tenant, in the same transaction; wiring hands it over. Args: seed: takes `tenant_id`, idempotent."""
    if seed not in _seeders:
        _seeders.append(seed)


def create_workspace(*, actor: Actor, slug: str, name: str) -> uuid.UUID:
    """A workspace of the actor's tenant. Raises: Denied("not_allowed"), Invalid("slug_invalid"), Conflict("workspace_taken")."""
    check_permission(actor, "user.manage")
    if not SLUG.fullmatch(slug):
        raise Invalid("slug_invalid", "A slug is 1 to 50 of a-z, 0-9 and hyphens.")
    with scope(actor.grant), transaction.atomic():
        workspace, is_new = Workspace.objects.get_or_create(tenant_id=actor.tenant_id, slug=slug, defaults={"name": name})
        if not is_new:
            raise Conflict("workspace_taken", "A workspace of this name exists.")
        ledger.record(actor, "workspace.created", subject=("workspace", workspace.pk))
    return workspace.pk


def find_tenant_id(slug: str) -> uuid.UUID | None:
    """The active tenant of a slug, before anybody is signed in; ids only, by a listed function."""
    with outside_scope("login_slug"), connection.cursor() as cursor:
        cursor.execute("SELECT rag4c_tenant_by_slug(%s)", [slug])
        row = cursor.fetchone()
    return row[0] if row else None


def find_workspace(*, actor: Actor, key: str = "main") -> uuid.UUID:
    """The workspace of a slug. Raises: Absent("workspace")."""
    with scope(actor.grant):
        workspace = Workspace.objects.filter(slug=key).first()
    if workspace is None:
        raise Absent("workspace", "There is no such workspace.")
    return workspace.pk


def list_workspaces(*, actor: Actor) -> list[tuple[uuid.UUID, str]]:
    """(id, name) of the workspaces, by name."""
    with scope(actor.grant):
        return list(Workspace.objects.order_by("name").values_list("id", "name"))
