"""Plain builders that walk the real doors. People are Alice, Bob and Charlie; tenants are Acme and Globex."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from approvals.api import seed_policies
from documents import api as documents
from rag4c.kernel.grant import EVERYONE, PLATFORM_TENANT, system_actor
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from tenants import api as tenants
from verification import api as verification

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


def work_off(kit: TenantKit) -> None:
    """What the workers would do: every open job and delivery of the tenant, through the same functions as the tasks."""
    from documents.models import IngestJob
    from documents.states import RUNNING
    from documents.tasks import ingest_job
    from rag4c.ledger import api as ledger
    from rag4c.ledger.models import Delivery

    with scope(kit.system.grant):
        jobs = list(IngestJob.objects.filter(state__in=RUNNING).values_list("pk", flat=True))
    for job in jobs:
        ingest_job(str(kit.id), str(job))
    with scope(kit.system.grant):
        owed = list(Delivery.objects.filter(state="pending").values_list("pk", flat=True))
    for delivery in owed:
        ledger.deliver(tenant_id=str(kit.id), delivery_id=str(delivery))


@dataclass
class Library:
    """A knowledge base over a folder of its own."""

    kit: TenantKit
    folder: Path
    base_id: uuid.UUID
    source_id: uuid.UUID

    def write(self, files: dict[str, str | bytes]) -> None:
        for path, content in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def sync(self) -> documents.SyncReport:
        """Read the folder and let the workers finish."""
        report = documents.sync_source(actor=self.kit.alice, source_id=self.source_id)
        work_off(self.kit)
        return report

    def release(self, channel: str = "live") -> int:
        manifest = retrieval.draft_manifest(actor=self.kit.alice, knowledge_base_id=self.base_id)
        return retrieval.release(actor=self.kit.alice, knowledge_base_id=self.base_id, channel=channel, manifest_id=manifest.id)

    def document_id(self, path: str) -> uuid.UUID:
        return documents.find_document_id(actor=self.kit.alice, knowledge_base_id=self.base_id, path=path)


def make_library(
    kit: TenantKit,
    files: dict[str, str | bytes] | None = None,
    *,
    slug: str = "handbook",
    readers: frozenset[str] | None = None,
    freshness: str = "snapshot",
) -> Library:
    """A base with channels and a folder source; nothing is read yet. readers: everyone of the tenant when None."""
    folder = Path(tempfile.mkdtemp(prefix="library-"))
    base_id = documents.create_knowledge_base(actor=kit.alice, slug=slug, name=slug.title())
    retrieval.create_channels(actor=kit.alice, knowledge_base_id=base_id)
    acl = tenants.AclSpec(frozenset({EVERYONE}) if readers is None else readers)
    source_id = documents.create_folder_source(actor=kit.alice, knowledge_base_id=base_id, root=folder, acl=acl, freshness=freshness, key="folder")
    library = Library(kit, folder, base_id, source_id)
    library.write(files or {})
    return library


def publish(kit: TenantKit, files: dict[str, str | bytes], *, channels: tuple[str, ...] = ("live",), **options: Any) -> Library:
    """Files read, indexed and released."""
    library = make_library(kit, files, **options)
    library.sync()
    for channel in channels:
        library.release(channel)
    return library


def ask(actor: Actor, question: str, **options: Any) -> verification.AnswerView:
    return verification.answer_question(actor=actor, question=question, **options)


def event_codes(kit: TenantKit) -> list[str]:
    """Codes of the tenant's ledger, oldest first."""
    from rag4c.ledger.models import Event

    with scope(kit.system.grant):
        return list(Event.objects.order_by("at", "id").values_list("code", flat=True))
