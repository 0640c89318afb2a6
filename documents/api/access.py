"""Doors for who reads: readers of a source, of single documents, templates by path, and where a source's own lists are read from."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003
from typing import TYPE_CHECKING

from django.db import transaction

from documents.access_rules import ACL_MODES, USES_READERS, USES_TEMPLATES, normalize_prefix
from documents.api.sync_access import SourceReaders, load_readers
from documents.models import AclTemplate, DataSource, Document
from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag4c.kernel.grant import Actor

__all__ = [
    "DocumentAccess",
    "TemplateInfo",
    "end_acl_template",
    "follow_source",
    "list_acl_templates",
    "preview_acl_template",
    "preview_document_readers",
    "preview_source_readers",
    "set_acl_mode",
    "set_acl_template",
    "set_document_readers",
    "set_source_readers",
    "show_document_access",
]


@dataclass(frozen=True, slots=True)
class TemplateInfo:
    """A template in force. readers: names as people know them."""

    id: uuid.UUID
    source_id: uuid.UUID
    path_prefix: str
    acl: tenants.AclSpec
    readers: tuple[str, ...]
    since: datetime


@dataclass(frozen=True, slots=True)
class DocumentAccess:
    """Who may read one document now. origin: where that is from; people: by name, at most 50; everyone: all whose clearance suffices."""

    document_id: uuid.UUID
    path: str
    acl_mode: str
    origin: str
    since: datetime | None
    acl: tenants.AclSpec
    readers: tuple[str, ...]
    people: tuple[str, ...]
    people_count: int
    everyone: bool


def set_source_readers(*, actor: Actor, source_id: uuid.UUID, acl: tenants.AclSpec, reason: str) -> tenants.AclChange:
    """Who reads what a source holds, for files that neither a list of their own nor a template covers; its documents follow at once.

    Raises: as `tenants.propose_acl_change`, and Absent("source").
    """
    check_permission(actor, "acl.manage")
    with scope(actor.grant), transaction.atomic():
        source = _lock_source(actor, source_id)
        change_id = tenants.draft_acl_change(actor=actor, lines=_source_lines(source, acl), reason=reason)
    return tenants.settle_acl_change(actor, change_id)


def preview_source_readers(*, actor: Actor, source_id: uuid.UUID, acl: tenants.AclSpec) -> list[str]:
    """What `set_source_readers` would do, in sentences; nothing is written. Raises: Denied("not_allowed"), Absent("source")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        lines = _source_lines(_find_source(source_id), acl)
        return tenants.tell_change(tenants.preview_acl_change(actor=actor, lines=lines))


def _source_lines(source: DataSource, acl: tenants.AclSpec) -> list[tenants.AclLine]:
    line = tenants.AclLine("source", source.pk, f"source {source.key}", acl)
    if source.acl_mode not in USES_READERS:
        return [line]
    followers = [document for document, held in _documents_of(source) if held is None or held.origin == "readers"]
    return [line, *(tenants.AclLine("document", document.pk, document.path, acl, "readers") for document in followers)]


def set_document_readers(*, actor: Actor, document_ids: Sequence[uuid.UUID], acl: tenants.AclSpec, reason: str) -> tenants.AclChange:
    """Who reads these documents, whatever their source says. A later sync narrows that where the source does, and never widens it.

    Raises: as `tenants.propose_acl_change`, and Absent("document").
    """
    return tenants.propose_acl_change(actor=actor, lines=_document_lines(actor, document_ids, acl), reason=reason)


def preview_document_readers(*, actor: Actor, document_ids: Sequence[uuid.UUID], acl: tenants.AclSpec) -> list[str]:
    """What `set_document_readers` would do, in sentences; nothing is written. Raises: Denied("not_allowed"), Absent("document")."""
    lines = _document_lines(actor, document_ids, acl)
    with scope(actor.grant):
        return tenants.tell_change(tenants.preview_acl_change(actor=actor, lines=lines))


def _document_lines(actor: Actor, document_ids: Sequence[uuid.UUID], acl: tenants.AclSpec) -> list[tenants.AclLine]:
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        paths = dict(Document.objects.filter(pk__in=document_ids).values_list("pk", "path"))
    if len(paths) != len(set(document_ids)) or not paths:
        raise Absent("document", "There is no such document.")
    return [tenants.AclLine("document", key, path, acl) for key, path in paths.items()]


def follow_source(*, actor: Actor, document_ids: Sequence[uuid.UUID]) -> int:
    """Let documents whose readers a person set follow their source again, from its next sync on. Returns how many. Raises: Denied("not_allowed")."""
    return tenants.unpin_readers(actor=actor, subject_kind="document", subject_ids=document_ids)


def set_acl_template(*, actor: Actor, source_id: uuid.UUID, path_prefix: str, acl: tenants.AclSpec, reason: str) -> tenants.AclChange:
    """Who reads what lies below a path and has no list of its own; the longest prefix counts. Documents that are covered follow at once.

    Raises: as `tenants.propose_acl_change`, Absent("source"), and Invalid as `documents.access_rules.normalize_prefix`.
    """
    check_permission(actor, "acl.manage")
    prefix = normalize_prefix(path_prefix)
    with scope(actor.grant), transaction.atomic():
        source = _lock_source(actor, source_id)
        template, _ = AclTemplate.objects.get_or_create(tenant_id=actor.tenant_id, source=source, path_prefix=prefix)
        change_id = tenants.draft_acl_change(actor=actor, lines=_template_lines(source, template.pk, prefix, acl), reason=reason)
    return tenants.settle_acl_change(actor, change_id)


def preview_acl_template(*, actor: Actor, source_id: uuid.UUID, path_prefix: str, acl: tenants.AclSpec) -> list[str]:
    """What `set_acl_template` would do, in sentences; nothing is written. Raises: as that door."""
    check_permission(actor, "acl.manage")
    prefix = normalize_prefix(path_prefix)
    with scope(actor.grant):
        source = _find_source(source_id)
        template = AclTemplate.objects.filter(source=source, path_prefix=prefix).first()
        lines = _template_lines(source, template.pk if template else uuid.UUID(int=0), prefix, acl)
        return tenants.tell_change(tenants.preview_acl_change(actor=actor, lines=lines))


def _template_lines(source: DataSource, template_id: uuid.UUID, prefix: str, acl: tenants.AclSpec) -> list[tenants.AclLine]:
    before = load_readers(source)
    after = SourceReaders(before.mode, before.readers, {**before.templates, prefix: acl})
    line = tenants.AclLine("template", template_id, f"template {source.key}: {prefix}/", acl, old=before.choose(prefix).acl)
    return [line, *_follow_templates(source, after, prefix)]


def end_acl_template(*, actor: Actor, source_id: uuid.UUID, path_prefix: str, reason: str) -> tenants.AclChange:
    """Take a template away: its files get what the next shorter prefix says, or the source's readers. Where that is wider it waits as any grant does.

    Raises: as `tenants.propose_acl_change`, and Absent("source" | "acl_template").
    """
    check_permission(actor, "acl.manage")
    prefix = normalize_prefix(path_prefix)
    with scope(actor.grant), transaction.atomic():
        source = _lock_source(actor, source_id)
        before = load_readers(source)
        template = AclTemplate.objects.filter(source=source, path_prefix=prefix).first()
        if template is None or prefix not in before.templates:
            raise Absent("acl_template", "There is no such template.")
        after = SourceReaders(before.mode, before.readers, {key: acl for key, acl in before.templates.items() if key != prefix})
        left = after.choose(prefix).acl or tenants.DENY_ALL
        line = tenants.AclLine("template", template.pk, f"template {source.key}: {prefix}/", left, ends=True)
        change_id = tenants.draft_acl_change(actor=actor, lines=[line, *_follow_templates(source, after, prefix)], reason=reason)
    return tenants.settle_acl_change(actor, change_id)


def _follow_templates(source: DataSource, after: SourceReaders, prefix: str) -> list[tenants.AclLine]:
    """Documents below the prefix that have no list of their own. One whose list is unknown keeps nobody until the next sync knows it."""
    if source.acl_mode not in USES_TEMPLATES:
        return []
    lines = []
    for document, held in _documents_of(source, prefix):
        if held is None or held.origin in {"readers", "template"}:
            choice = after.choose(document.path)
            lines.append(tenants.AclLine("document", document.pk, document.path, choice.acl or tenants.DENY_ALL, choice.origin))
    return lines


def _documents_of(source: DataSource, prefix: str = "") -> Iterable[tuple[Document, tenants.AssignedAcl | None]]:
    rows = Document.objects.filter(source=source).only("pk", "path", "tenant_id")
    found = [row for row in rows if not prefix or row.path == prefix or row.path.startswith(f"{prefix}/")]
    held = tenants.read_assigned("document", [row.pk for row in found])
    return [(row, held.get(row.pk)) for row in found]


def _find_source(source_id: uuid.UUID) -> DataSource:
    source = DataSource.objects.filter(pk=source_id).first()
    if source is None:
        raise Absent("source", "There is no such source.")
    return source


def _lock_source(actor: Actor, source_id: uuid.UUID) -> DataSource:
    """The source before the access revision, in the order of a sync."""
    source = DataSource.objects.select_for_update().filter(pk=source_id).first()
    if source is None:
        raise Absent("source", "There is no such source.")
    tenants.lock_acl_rev(actor.tenant_id)
    return source


def list_acl_templates(*, actor: Actor, source_id: uuid.UUID | None = None) -> list[TemplateInfo]:
    """Templates in force, by source and prefix. Raises: Denied("not_allowed")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        rows = AclTemplate.objects.visible_to(actor.grant).order_by("source_id", "path_prefix")
        found = list(rows if source_id is None else rows.filter(source_id=source_id))
        held = tenants.read_assigned("template", [row.pk for row in found])
        names = tenants.name_principals(tenant_id=actor.tenant_id, principals={name for row in held.values() for name in row.acl.principals})
        return [
            TemplateInfo(row.pk, row.source_id, row.path_prefix, acl.acl, tuple(sorted(names[name] for name in acl.acl.principals)), acl.since)
            for row in found
            if (acl := held.get(row.pk))
        ]


def set_acl_mode(*, actor: Actor, source_id: uuid.UUID, mode: str) -> None:
    """Where a source's files have their readers from, beginning with its next sync; what that widens waits as any grant does.

    Args: mode: `none` (the source's readers), `template`, `posix` (owner, group, mode and POSIX ACL) or `manifest` (`.rag4c-acl.json`).
    Raises: Denied("not_allowed"), Absent("source"), Invalid("acl_mode_invalid"), Conflict("acl_mode_unchanged").
    """
    check_permission(actor, "acl.manage")
    if mode not in ACL_MODES:
        raise Invalid("acl_mode_invalid", f"A mode is one of: {', '.join(ACL_MODES)}.")
    with scope(actor.grant), transaction.atomic():
        source = _lock_source(actor, source_id)
        if source.acl_mode == mode:
            raise Conflict("acl_mode_unchanged", "The source has this mode already.")
        DataSource.objects.filter(pk=source_id).update(acl_mode=mode)
        ledger.record(actor, "source.acl_mode_changed", subject=("source", source_id), data={"from": source.acl_mode, "to": mode})


def show_document_access(*, actor: Actor, document_id: uuid.UUID) -> DocumentAccess:
    """Who may read a document now, and why. Raises: Denied("not_allowed"), Absent("document")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        document = Document.objects.filter(pk=document_id).select_related("source").first()
        if document is None:
            raise Absent("document", "There is no such document.")
        held = tenants.read_assigned("document", [document_id]).get(document_id)
        acl = held.acl if held else tenants.DENY_ALL
        names = tenants.name_principals(tenant_id=actor.tenant_id, principals=acl.principals)
        people = sorted(
            tenants.name_people(tenant_id=actor.tenant_id, user_ids=tenants.people_under(acl, tenants.load_directory(acl.principals))).values()
        )
    return DocumentAccess(
        document_id=document_id,
        path=document.path,
        acl_mode=document.source.acl_mode,
        origin=held.origin if held else "denied",
        since=held.since if held else None,
        acl=acl,
        readers=tuple(sorted(names[name] for name in acl.principals)),
        people=tuple(people[:50]),
        people_count=len(people),
        everyone="tenant:*" in acl.principals,
    )
