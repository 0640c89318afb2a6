"""One row of every kind for a tenant, and signed-in clients. Rows that no api makes in one call are written with the ORM inside the scope."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.test import Client

from approvals import api as approvals
from approvals.models import Absence, ApprovalRequest, BreakGlass, Delegation
from compliance.models import ExportJob, SavedSearch, Task
from documents import api as documents
from documents.models import (
    Blob,
    ChunkVersion,
    DataSource,
    Document,
    Element,
    Fact,
    FactMapping,
    IngestJob,
    IngestPolicy,
    KnowledgeBase,
    ParseAttempt,
    RefusedFile,
    Revision,
    RevisionChunk,
    SyncRun,
)
from rag4c.kernel import clock
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.grant import Grant
from rag4c.ledger import api as ledger
from rag4c.ledger.models import Delivery, Event
from rag4c.scope.manager import scope
from rag4c.scope.models import new_id
from retrieval import api as retrieval
from retrieval.models import Channel, Manifest, Release, RetrievalPolicy, Takedown
from tenants import api as tenants
from tenants.api.access import AclSpec
from tenants.middleware import TENANT_KEY
from tenants.models import SupportSession, User
from verification.models import AnswerClaim, AnswerPolicy, AnswerRecord, Citation, EvidenceRow, FindingRow

if TYPE_CHECKING:
    from django.db import models

    from tests.builders import TenantKit

TEXT = "Leave is 25 days."
DIGEST = sha256_hex(TEXT)


def sign_in(slug: str, username: str) -> Client:
    """A browser with a session, as the log-in page leaves it, without the slow hash."""
    tenant_id = tenants.find_tenant_id(slug)
    assert tenant_id is not None
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore()
    with scope(Grant(tenant_id)):
        login(request, User.objects.get(username_norm=username), backend=settings.AUTHENTICATION_BACKENDS[0])
    request.session[TENANT_KEY] = str(tenant_id)
    request.session.save()
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = request.session.session_key
    return client


@dataclass
class Rows:
    """What was made, by model label."""

    kit: TenantKit
    by_label: dict[str, models.Model] = field(default_factory=dict)

    def make(self, model: type[Any], **values: Any) -> Any:
        row = model.objects.create(tenant_id=self.kit.id, **values)
        self.by_label[model._meta.label] = row
        return row

    def __getitem__(self, label: str) -> Any:
        return self.by_label[label]


def fill_tenant(kit: TenantKit) -> Rows:
    rows = Rows(kit)
    base_id = documents.create_knowledge_base(actor=kit.alice, slug="handbook", name=f"{kit.slug} handbook")
    retrieval.create_channels(actor=kit.alice, knowledge_base_id=base_id)
    with scope(kit.system.grant):
        rows.by_label["documents.KnowledgeBase"] = KnowledgeBase.objects.get(pk=base_id)
        rows.by_label["retrieval.Channel"] = Channel.objects.get(name="live")
        acl = tenants.intern_acl(kit.id, AclSpec(frozenset({"tenant:*"})))
        add_knowledge(rows, base_id, acl)
        add_publication(rows, base_id)
        add_answer(rows)
        event_id = ledger.record(kit.alice, "source.synced", subject=("source", rows["documents.DataSource"].pk))
        rows.make(
            SupportSession, kind="support", operator_id=kit.bob.user_id, reason="search finds nothing", expires_at=clock.now() + timedelta(hours=1)
        )
        rows.make(
            Delivery,
            event_id=event_id,
            event_at=Event.objects.get(pk=event_id).at,
            code="revision.split",
            handler="retrieval.index",
            subject_id="1",
            state="attention",
        )
        rows.make(Task, kind="delivery.given_up", subject_kind="delivery", subject_id="1")
        rows.make(SavedSearch, user_id=kit.alice.user_id, name="roles", filters={"code": "role.*"})
        rows.make(
            ExportJob, requested_by=kit.alice.ref, permit="policy:1", query_sha256=DIGEST, from_seq=1, to_seq=9, next_seq=10, prev_export_sha256="0" * 64,
            state="done", count=9,
        )  # fmt: skip
    tenants.create_token(actor=kit.alice, user_id=kit.alice.user_id, name="script")
    tenants.map_principal(actor=kit.alice, kind="user", external="1000", word="user:bob")
    change = {
        "source_id": rows["documents.DataSource"].pk,
        "acl": AclSpec(frozenset({f"user:{kit.alice.user_id}"})),
        "reason": "only the owner reads",
    }
    documents.set_acl_template(actor=kit.alice, path_prefix="pay", **change)
    group = tenants.create_group(actor=kit.alice, slug="hr", name="HR")
    tenants.add_to_group(actor=kit.alice, group_id=group, user_id=kit.bob.user_id)
    tenants.nest_group(actor=kit.alice, child_id=group, parent_id=tenants.create_group(actor=kit.alice, slug="staff", name="Staff"))
    unit = tenants.create_unit(actor=kit.alice, slug="sales", name="Sales")
    tenants.place_in_unit(actor=kit.alice, user_id=kit.bob.user_id, unit_id=unit)
    tenants.set_clearance(actor=kit.alice, user_id=kit.bob.user_id, level=tenants.Sensitivity.CONFIDENTIAL)
    add_approvals(rows)
    return rows


def add_approvals(rows: Rows) -> None:
    """A request of Alice that is open, one done behind broken glass, a delegation and an absence."""
    kit = rows.kit
    stage = approvals.StageSpec(("role:approver",))
    approvals.set_policy(actor=kit.alice, action="channel.rollback", stages=[stage])
    channel = rows["retrieval.Channel"]
    with scope(kit.system.grant):
        older = Manifest.objects.get(seq=1)
        person = {"tenant_id": kit.id, "valid_to": clock.now() + timedelta(days=2), "valid_from": clock.now()}
        rows.by_label["approvals.Delegation"] = Delegation.objects.create(delegator_id=kit.alice.user_id, delegate_id=kit.bob.user_id, **person)
        rows.by_label["approvals.Absence"] = Absence.objects.create(user_id=kit.alice.user_id, **person)
    payload = {"channel": str(channel.pk), "rev": 2, "manifest": older.sha256, "reason": "back to the first"}
    asked = approvals.submit_request(actor=kit.alice, action="channel.rollback", payload=payload, reason="the new figures are wrong")
    approvals.set_policy(actor=kit.alice, action="channel.rollback", stages=[])
    with scope(kit.system.grant):
        rows.by_label["approvals.ApprovalRequest"] = row = ApprovalRequest.objects.get(pk=asked)
        row.pk, row.state, row._state.adding = None, "executed", True
        row.id = new_id()
        row.save(force_insert=True)
        rows.make(BreakGlass, request=row, review_by=clock.now() + timedelta(hours=3))


def add_knowledge(rows: Rows, base_id: Any, acl: Any) -> None:
    source = rows.make(DataSource, knowledge_base_id=base_id, key="folder", kind="folder", root="/nowhere", acl=acl)
    run = rows.make(SyncRun, source=source, state="done", files_seen=2, added=1, refused=1, started_by=rows.kit.alice.ref)
    rows.make(RefusedFile, run=run, path="big.md", code="too_large", message="The file is too large.")
    add_document(rows, source, acl, f"{rows.kit.slug}-leave.md")
    rows.make(IngestPolicy, version=1)
    rows.make(FactMapping, version=1)


def add_document(rows: Rows, source: Any, acl: Any, path: str, job_state: str = "error") -> Any:
    document = rows.make(Document, knowledge_base_id=source.knowledge_base_id, source=source, path=path)
    tenants.assign_acl(rows.kit.id, subject_kind="document", subject_id=document.pk, acl_id=acl.pk)
    blob, _ = Blob.objects.get_or_create(tenant_id=rows.kit.id, sha256=DIGEST, defaults={"size_bytes": 17, "storage_key": "x"})
    revision = rows.make(Revision, document=document, number=1, blob=blob, content_sha256=DIGEST, added_by=rows.kit.alice.ref)
    parse = rows.make(
        ParseAttempt, revision=revision, parser="markdown", parser_version="1", media_type="text/markdown", text=TEXT, text_sha256=DIGEST
    )
    place = {"parse": parse, "locator": "L1", "span_start": 0, "span_end": len(TEXT)}
    rows.make(Element, seq=0, kind="paragraph", **place)
    chunk = rows.make(ChunkVersion, document=document, content_sha256=DIGEST, index_text_sha256=DIGEST, text=TEXT, index_text=TEXT)
    rows.make(RevisionChunk, revision=revision, chunk_version=chunk, ordinal=0, settings_digest=DIGEST, **place)
    rows.make(
        Fact, document=document, revision=revision, subject="Leave", field="days", subject_key="leave", field_key="days", value_text="25", value=25,
        origin="line", source_sha256=DIGEST, extractor_version="1", mapping_version="0", **place,
    )  # fmt: skip
    add_job(rows, revision, job_state)
    return document


def add_job(rows: Rows, revision: Any, state: str) -> Any:
    told = {"error_reason": "failed", "error_code": "parser_failed", "error_message": "The parser gave up."} if state == "error" else {}
    lease = {"lease_until": clock.now() - timedelta(minutes=5)} if state == "parsing" else {}
    return rows.make(IngestJob, revision=revision, settings_digest=f"{state:0<64}", state=state, **told, **lease)


def add_publication(rows: Rows, base_id: Any) -> None:
    common = {
        "knowledge_base_id": base_id,
        "body": b"{}",
        "item_count": 0,
        "space": "e5",
        "settings_digest": DIGEST,
        "segment_ids": [],
        "created_by": "system",
    }
    older = rows.make(Manifest, seq=1, sha256=sha256_hex("1"), **common)
    newer = rows.make(Manifest, seq=2, sha256=sha256_hex("2"), prev_sha256=older.sha256, **common)
    channel = rows["retrieval.Channel"]
    for rev, (previous, manifest) in enumerate([(None, older), (older, newer)], start=1):
        rows.make(
            Release, channel=channel, channel_rev=rev, manifest=manifest, previous=previous, kind="release", permit="policy:1", reason="first figures",
            released_by=rows.kit.alice.ref,
        )  # fmt: skip
    Channel.objects.filter(pk=channel.pk).update(manifest=newer, rev=2)
    rows.make(Takedown, document=rows["documents.Document"], reason="wrong figures in it", started_by=rows.kit.alice.ref, ended_at=clock.now())
    rows.make(RetrievalPolicy, version=1)


def add_answer(rows: Rows) -> None:
    answer = rows.make(
        AnswerRecord, asked_by_id=rows.kit.bob.user_id, channel_name="live", question="How many days of leave?", status="answered", answer=f"{TEXT} [1]",
        support_scope="visible", policy_rev=DIGEST, visible_sha256=DIGEST,
    )  # fmt: skip
    claim = rows.make(AnswerClaim, answer=answer, ordinal=0, text=TEXT, markers=[1], state="ok")
    place = {"revision_chunk": rows["documents.RevisionChunk"], "document": rows["documents.Document"]}
    rows.make(EvidenceRow, answer=answer, n=1, text_sha256=DIGEST, **place)
    rows.make(
        Citation, answer=answer, n=1, claim=claim, locator="L1", span_start=0, span_end=len(TEXT), text_sha256=DIGEST, chunk_sha256=DIGEST,
        support_type="verbatim", state="ok", quote=TEXT, **place,
    )  # fmt: skip
    rows.make(FindingRow, answer=answer, claim_ordinal=0, n=1, layer="L1", outcome="ok")
    rows.make(AnswerPolicy, version=1)
