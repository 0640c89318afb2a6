"""Knowledge bases and their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from documents.models import DataSource, KnowledgeBase
from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from pathlib import Path

    from rag4c.kernel.grant import Actor

__all__ = [
    "BaseInfo",
    "create_folder_source",
    "create_knowledge_base",
    "find_knowledge_base",
    "find_source",
    "list_knowledge_bases",
]


@dataclass(frozen=True, slots=True)
class BaseInfo:
    """A knowledge base as other apps see it."""

    id: uuid.UUID
    slug: str
    name: str
    workspace_id: uuid.UUID


def create_knowledge_base(*, actor: Actor, slug: str, name: str, workspace: str = "main") -> uuid.UUID:
    """A place for documents inside a workspace. Raises: Denied("not_allowed"), Absent("workspace"), Conflict("knowledge_base_taken")."""
    check_permission(actor, "kb.manage")
    workspace_id = tenants.find_workspace(actor=actor, key=workspace)
    with scope(actor.grant), transaction.atomic():
        base, is_new = KnowledgeBase.objects.get_or_create(
            tenant_id=actor.tenant_id, slug=slug, defaults={"name": name or slug, "workspace_id": workspace_id}
        )
        if not is_new:
            raise Conflict("knowledge_base_taken", "A knowledge base of this name exists.")
        ledger.record(actor, "knowledge_base.created", subject=("knowledge_base", base.pk), data={"workspace": str(workspace_id)})
    return base.pk


def find_knowledge_base(*, actor: Actor, slug: str) -> BaseInfo:
    """Raises: Absent("knowledge_base")."""
    with scope(actor.grant):
        base = KnowledgeBase.objects.filter(slug=slug).first()
    if base is None:
        raise Absent("knowledge_base", "There is no such knowledge base.")
    return BaseInfo(base.pk, base.slug, base.name, base.workspace_id)


def list_knowledge_bases(*, actor: Actor, workspace_id: uuid.UUID | None = None) -> list[BaseInfo]:
    """All bases of the tenant, or of one workspace, by slug."""
    with scope(actor.grant):
        rows = KnowledgeBase.objects.visible_to(actor.grant).order_by("slug")
        if workspace_id is not None:
            rows = rows.filter(workspace_id=workspace_id)
        return [BaseInfo(row.pk, row.slug, row.name, row.workspace_id) for row in rows]


def create_folder_source(
    *, actor: Actor, knowledge_base_id: uuid.UUID, root: Path, acl: tenants.AclSpec | None = None, freshness: str = "snapshot", key: str = ""
) -> uuid.UUID:
    """A folder as a source. Its documents are readable under `acl`; without one nobody may read them (GOV-B6).

    Args: key: names the source in document ids; the folder's absolute path when empty. freshness: `snapshot` or `live`.
    Raises: Denied("not_allowed"), Invalid("source_root_invalid" | "freshness_invalid"), Absent("knowledge_base"), Conflict("source_taken").
    """
    check_permission(actor, "source.manage")
    if not root.is_absolute() or root.is_symlink() or not root.is_dir():
        raise Invalid("source_root_invalid", "A source is an existing folder, given by its absolute path and not through a link.")
    if freshness not in {"snapshot", "live"}:
        raise Invalid("freshness_invalid", "Freshness is `snapshot` or `live`.")
    with scope(actor.grant), transaction.atomic():
        if not KnowledgeBase.objects.filter(pk=knowledge_base_id).exists():
            raise Absent("knowledge_base", "There is no such knowledge base.")
        readers = tenants.intern_acl(actor.tenant_id, acl or tenants.DENY_ALL)
        source, is_new = DataSource.objects.get_or_create(
            tenant_id=actor.tenant_id,
            knowledge_base_id=knowledge_base_id,
            key=key or str(root),
            defaults={"kind": "folder", "root": str(root), "acl_id": readers.pk, "freshness": freshness},
        )
        if not is_new:
            raise Conflict("source_taken", "This knowledge base has a source of this name already.")
        tenants.assign_acl_to_many(actor.tenant_id, subject_kind="source", subject_ids=[source.pk], acl_id=readers.pk, origin="set")
        ledger.record(actor, "source.created", subject=("source", source.pk), data={"knowledge_base": str(knowledge_base_id), "acl": readers.digest})
    return source.pk


def find_source(*, actor: Actor, knowledge_base_id: uuid.UUID, key: str) -> uuid.UUID:
    """Raises: Absent("source")."""
    with scope(actor.grant):
        source = DataSource.objects.filter(knowledge_base_id=knowledge_base_id, key=key).first()
    if source is None:
        raise Absent("source", "There is no such source.")
    return source.pk
