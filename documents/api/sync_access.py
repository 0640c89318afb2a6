"""Readers within a sync: chosen for every file that is there, narrowed at once, widened through the gate (GOV-B1, B6, B7)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from documents.access_rules import Choice, OwnAcl, choose_readers, find_template
from documents.models import AclTemplate
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Mapping

    from documents.models import DataSource, Document
    from rag4c.kernel.grant import Actor

__all__ = ["NO_LIST", "SourceReaders", "assign_new", "change_known", "load_readers"]
NO_LIST: OwnAcl[tenants.AclSpec] = OwnAcl()


@dataclass(frozen=True, slots=True)
class SourceReaders:
    """What a source says of its files now. templates: prefix -> set."""

    mode: str
    readers: tenants.AclSpec
    templates: dict[str, tenants.AclSpec]

    def choose(self, path: str, own: OwnAcl[tenants.AclSpec] = NO_LIST) -> Choice[tenants.AclSpec]:
        """Who reads the file at a path."""
        return choose_readers(self.mode, own, find_template(path, self.templates), self.readers)


def load_readers(source: DataSource) -> SourceReaders:
    """Inside a scope; under `tenants.lock_acl_rev` when something is changed by it. A source without readers has none."""
    held = tenants.read_assigned("source", [source.pk]).get(source.pk)
    places = dict(AclTemplate.objects.filter(source=source).values_list("pk", "path_prefix"))
    sets = tenants.read_assigned("template", places)
    templates = {places[key]: row.acl for key, row in sets.items()}
    return SourceReaders(source.acl_mode, held.acl if held else tenants.DENY_ALL, templates)


def assign_new(actor: Actor, found: Mapping[uuid.UUID, Choice[tenants.AclSpec]]) -> None:
    """New documents get their first set: nobody could read them before, and nothing of them is published yet."""
    groups: dict[tuple[tenants.AclSpec, str], list[uuid.UUID]] = defaultdict(list)
    for key, choice in found.items():
        groups[choice.acl or tenants.DENY_ALL, choice.origin].append(key)
    for (acl, origin), keys in groups.items():
        row = tenants.intern_acl(actor.tenant_id, tenants.simplify(acl))
        tenants.assign_acl_to_many(actor.tenant_id, subject_kind="document", subject_ids=keys, acl_id=row.pk, origin=origin)


def change_known(actor: Actor, source_id: uuid.UUID, found: Iterable[tuple[Document, Choice[tenants.AclSpec]]]) -> uuid.UUID | None:
    """Bring documents that are known in line with their source. Returns the change set, None when nothing changed.

    What a person set is only ever narrowed: a sync never brings back what was taken away (GOV-B7).
    """
    rows = list(found)
    held = tenants.read_assigned("document", [document.pk for document, _ in rows])
    lines = [line for document, choice in rows if (line := _line_for(document, choice, held.get(document.pk)))]
    reason = "what the source says has changed"
    return tenants.submit_acl_lines(actor, lines, reason=reason, source_id=source_id)


def _line_for(document: Document, choice: Choice[tenants.AclSpec], held: tenants.AssignedAcl | None) -> tenants.AclLine | None:
    wanted = tenants.simplify(choice.acl or tenants.DENY_ALL)
    if held is None:
        return tenants.AclLine("document", document.pk, document.path, wanted, choice.origin)
    if held.origin == "set":
        narrower = tenants.meet(held.acl, wanted)
        return None if narrower == tenants.simplify(held.acl) else tenants.AclLine("document", document.pk, document.path, narrower, "set")
    if tenants.simplify(held.acl) == wanted and held.origin == choice.origin:
        return None
    return tenants.AclLine("document", document.pk, document.path, wanted, choice.origin)
