"""Sync of a folder: add, update, reuse, delete; everything or nothing becomes visible in one transaction (SYS-A4, SYS-A5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Max

from documents.access_rules import OwnAcl
from documents.api.blobs import StoredBlob, store_bytes
from documents.api.policies import chunk_settings_of, ingest_policy_in_force
from documents.api.revisions import add_document, add_revision, queue_job
from documents.api.source_lists import open_lists
from documents.api.sync_access import NO_LIST, assign_new, change_known, load_readers
from documents.identity import read_stable, walk_folder
from documents.models import DataSource, Document, IngestJob, RefusedFile, Revision, SyncRun
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent, Conflict, DomainError, Invalid
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.scope.dbtime import ClockTimestamp
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from documents.access_rules import Choice
    from documents.api.source_lists import SourceLists
    from documents.api.sync_access import SourceReaders
    from documents.identity import FolderEntry
    from rag4c.kernel.grant import Actor

__all__ = ["Refusal", "SyncReport", "sync_source"]

UNMAPPED: Final = "Files name it as a reader, but it is mapped to nobody here, so nobody reads through it. Map it, or leave it so."
IGNORED: Final = "ignored_name"  # dot files and lock files are no documents and no failures
WALK_MESSAGES: Final = {
    "symlink": "Links are not followed. Put the file itself into the folder.",
    "not_regular_file": "Only regular files can be documents.",
    "permission_denied": "The server may not read it. Check its permissions.",
    "unreadable": "The server cannot read it.",
    "name_not_utf8": "The name is not UTF-8. Rename the file.",
    "name_too_long": "The name is too long. Shorten it.",
    "name_collision_nfc": "Another file has the same name in another Unicode form. Rename one of them.",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that was not taken, and what to do about it."""

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Counts of documents. generation: of the source after this run; unchanged when nothing changed.

    Args: denied: files whose readers are unknown, so that nobody may read them. access: what became of changed readers, None when none changed.
    """

    run_id: uuid.UUID
    files_seen: int
    documents_added: int
    documents_updated: int
    documents_reused: int
    documents_deleted: int
    generation: int
    refused: tuple[Refusal, ...]
    denied: tuple[Refusal, ...] = ()
    access: tenants.AclChange | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """A document of the source as the last sync left it."""

    document: Document
    revision_id: uuid.UUID
    sha256: str
    has_job: bool  # for the chunk settings now in force


@dataclass(slots=True)
class _Plan:
    """What to do, found before the transaction opens: bytes are stored already, nothing is visible yet."""

    settings_digest: str
    generation: int
    added: list[tuple[str, StoredBlob]] = field(default_factory=list)
    updated: list[tuple[_Known, StoredBlob]] = field(default_factory=list)
    rechunked: list[_Known] = field(default_factory=list)
    deleted: list[_Known] = field(default_factory=list)
    reused: int = 0
    refused: list[Refusal] = field(default_factory=list)
    denied: list[Refusal] = field(default_factory=list)
    own: dict[str, OwnAcl[tenants.AclSpec]] = field(default_factory=dict)  # what the source says of files, by path
    known: list[_Known] = field(default_factory=list)  # documents whose file is there, readable or not
    access_id: uuid.UUID | None = None

    @property
    def changes_something(self) -> bool:
        return bool(self.added or self.updated or self.rechunked or self.deleted)


def sync_source(*, actor: Actor, source_id: uuid.UUID, root: Path | None = None) -> SyncReport:
    """Read the folder and bring documents, revisions and jobs in line with it. Refused files stop nobody else (R12).

    Args: root: must be the source's own folder when given; another one is refused, so that a mistyped folder deletes nothing.
    Raises: Denied("not_allowed"), Absent("source"), Invalid("source_root_changed" | "source_root_missing" | "source_empty"),
    Conflict("sync_overtaken").
    """
    check_permission(actor, "source.sync")
    with scope(actor.grant):
        source = DataSource.objects.filter(pk=source_id).first()
        if source is None:
            raise Absent("source", "There is no such source.")
        policy = ingest_policy_in_force(actor.tenant_id)
        plan = _Plan(chunk_settings_of(policy).digest(), source.generation)
        known = _load_known(source, plan.settings_digest)
    _check_root(source, root)
    entries = walk_folder(Path(source.root))
    lists = open_lists(actor, source, Path(source.root), entries)
    seen = _compare(actor, [entry for entry in entries if entry.code != IGNORED], lists, known, plan, policy.max_file_bytes)
    plan.denied.extend(Refusal(name, "acl_unmapped", UNMAPPED) for name in sorted(lists.unmapped))
    if known and not seen:
        raise Invalid("source_empty", "The folder holds no readable file any more. Nothing was deleted; delete the source if that is meant.")
    return _apply(actor, source_id, plan, seen)


def _check_root(source: DataSource, root: Path | None) -> None:
    folder = Path(source.root)
    if root is not None and root != folder:
        raise Invalid("source_root_changed", "This source reads another folder. Make a new source for a new folder.")
    if folder.is_symlink() or not folder.is_dir():
        raise Invalid("source_root_missing", "The source's folder is gone or is a link now. Nothing was changed.")


def _load_known(source: DataSource, settings_digest: str) -> dict[str, _Known]:
    newest = Revision.objects.filter(document__source=source).order_by("document_id", "-number").distinct("document_id")
    revisions = {row.document_id: row for row in newest}
    with_job = set(IngestJob.objects.filter(revision__document__source=source, settings_digest=settings_digest).values_list("revision_id", flat=True))
    return {
        document.path: _Known(document, revisions[document.pk].pk, revisions[document.pk].content_sha256, revisions[document.pk].pk in with_job)
        for document in Document.objects.filter(source=source)
        if document.pk in revisions
    }


def _compare(actor: Actor, entries: Sequence[FolderEntry], lists: SourceLists, known: dict[str, _Known], plan: _Plan, max_bytes: int) -> int:
    """Fills the plan; returns how many files were seen. Unreadable files are refused and their last good state stays, under the readers of now."""
    present = {entry.relative_path for entry in entries}
    for entry in entries:
        own = lists.read(entry)
        if not entry.code or entry.relative_path not in plan.own:  # a refused twin of a file says nothing about that file
            plan.own[entry.relative_path] = own
        try:
            if entry.code:
                raise Invalid(entry.code, WALK_MESSAGES.get(entry.code, "The file cannot be a document as it is."))
            if entry.size_bytes > max_bytes:
                raise Invalid("too_large", f"The file has {entry.size_bytes} bytes; {max_bytes} are allowed.")
            data = read_stable(entry.path)
            if not data:
                raise Invalid("empty_file", "The file has no bytes.")
        except DomainError as error:
            plan.refused.append(Refusal(entry.relative_path, error.code, error.message))
            continue
        if lists.read(entry) != own:
            plan.own[entry.relative_path] = OwnAcl(
                fault="acl_changing", sentence="Who may read it changed while it was read; the next sync tries again."
            )
        _place(actor, entry.relative_path, data, known.get(entry.relative_path), plan)
    plan.known.extend(row for path, row in known.items() if path in present)
    plan.deleted.extend(row for path, row in known.items() if path not in present and row.document.state == "live")
    return sum(not entry.code for entry in entries)


def _place(actor: Actor, path: str, data: bytes, row: _Known | None, plan: _Plan) -> None:
    digest = sha256_hex(data)
    if row is None:
        plan.added.append((path, store_bytes(actor.tenant_id, data, digest)))
    elif row.sha256 != digest or row.document.state != "live":
        plan.updated.append((row, store_bytes(actor.tenant_id, data, digest)))
    elif not row.has_job:
        plan.rechunked.append(row)
    else:
        plan.reused += 1


def _apply(actor: Actor, source_id: uuid.UUID, plan: _Plan, seen: int) -> SyncReport:
    with scope(actor.grant), transaction.atomic():
        source = DataSource.objects.select_for_update().get(pk=source_id)
        if source.generation != plan.generation:
            raise Conflict("sync_overtaken", "Another sync of this source finished meanwhile; run it again.")
        generation = plan.generation + 1 if plan.changes_something else plan.generation
        _write_documents(actor, source, plan, generation)
        if plan.changes_something:
            DataSource.objects.filter(pk=source_id).update(generation=generation)
        run = _write_run(actor, source_id, plan, seen, generation)
        ledger.record(
            actor,
            "source.synced",
            subject=("source", source_id),
            data={
                "run": str(run.pk),
                "generation": generation,
                "added": run.added,
                "updated": run.updated,
                "deleted": run.deleted,
                "refused": run.refused,
            },
        )
        fp("sync.commit.before")
    fp("sync.commit.after")
    access = tenants.settle_acl_change(actor, plan.access_id) if plan.access_id else None
    counts = (run.added, run.updated, run.reused, run.deleted)
    return SyncReport(run.pk, seen, *counts, generation, tuple(plan.refused), tuple(plan.denied), access)


def _write_documents(actor: Actor, source: DataSource, plan: _Plan, generation: int) -> None:
    tenants.lock_acl_rev(actor.tenant_id)
    readers = load_readers(source)
    found = {}
    for path, stored in plan.added:
        document = add_document(actor, source, path)
        add_revision(actor, document, stored, plan.settings_digest)
        found[document.pk] = _choose(readers, path, plan)
    for row, stored in plan.updated:
        if row.document.state != "live":
            _bring_back(actor, row.document)
        add_revision(actor, row.document, stored, plan.settings_digest)
    for row in plan.rechunked:
        queue_job(actor, row.revision_id, plan.settings_digest)
    for row in plan.deleted:
        Document.objects.filter(pk=row.document.pk).update(state="tombstoned", tombstone_generation=generation, rev=row.document.rev + 1)
        ledger.record(actor, "document.tombstoned", subject=("document", row.document.pk), data={"generation": generation})
    assign_new(actor, found)
    plan.access_id = change_known(actor, source.pk, [(row.document, _choose(readers, row.document.path, plan)) for row in plan.known])
    if plan.deleted:
        tenants.bump_acl_rev(actor.tenant_id)  # caches of the visible set end with the commit


def _choose(readers: SourceReaders, path: str, plan: _Plan) -> Choice[tenants.AclSpec]:
    choice = readers.choose(path, plan.own.get(path, NO_LIST))
    if choice.code:
        plan.denied.append(Refusal(path, choice.code, choice.sentence))
    return choice


def _bring_back(actor: Actor, document: Document) -> None:
    """A path that returned is served from its new revision on, never by an older one through an old manifest."""
    highest = Revision.objects.filter(document=document).aggregate(highest=Max("number"))["highest"] or 0
    Document.objects.filter(pk=document.pk).update(state="live", tombstone_generation=None, served_from_number=highest + 1, rev=document.rev + 1)
    ledger.record(actor, "document.returned", subject=("document", document.pk))


def _write_run(actor: Actor, source_id: uuid.UUID, plan: _Plan, seen: int, generation: int) -> SyncRun:
    run = SyncRun.objects.create(
        tenant_id=actor.tenant_id,
        source_id=source_id,
        state="done",
        generation=generation,
        files_seen=seen,
        added=len(plan.added),
        updated=len(plan.updated) + len(plan.rechunked),
        reused=plan.reused,
        deleted=len(plan.deleted),
        refused=len(plan.refused),
        started_by=actor.ref,
        finished_at=ClockTimestamp(),
    )
    RefusedFile.objects.bulk_create(
        [
            RefusedFile(tenant_id=actor.tenant_id, run=run, path=row.path[:1024], code=row.code, message=row.message[:300])
            for row in [*plan.refused, *plan.denied]
        ]
    )
    return run
