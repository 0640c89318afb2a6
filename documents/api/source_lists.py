"""The lists of readers that a source itself holds: POSIX owners, groups and modes, or manifests beside the documents (SYS-G5, GOV-B6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from documents import acl_manifest, acl_posix
from documents.access_rules import OwnAcl
from documents.api.sync_access import NO_LIST
from documents.identity import read_stable
from rag4c.kernel.errors import DomainError
from rag4c.kernel.grant import Sensitivity
from rag4c.scope.manager import scope
from tenants import api as tenants

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from documents.identity import FolderEntry
    from documents.models import DataSource
    from rag4c.kernel.grant import Actor

__all__ = ["SourceLists", "open_lists"]
if TYPE_CHECKING:
    Own = OwnAcl[tenants.AclSpec]  # called by its plain name: an alias sets an attribute that slots refuse


class SourceLists(Protocol):
    """What a source says of its files. unmapped: users and groups that may read files but are nobody here."""

    unmapped: set[str]

    def read(self, entry: FolderEntry) -> Own:
        """The file's list as it is now, unknown with a sentence, or none."""
        ...


def open_lists(actor: Actor, source: DataSource, folder: Path, entries: Sequence[FolderEntry]) -> SourceLists:
    """The lists of one sync. Reads manifests and mappings; opens scopes of its own."""
    if source.acl_mode == "manifest":
        return _open_manifests(actor, folder, entries)
    if source.acl_mode == "posix":
        with scope(actor.grant):
            held = tenants.read_assigned("source", [source.pk]).get(source.pk)
            kept = held.acl if held and tenants.simplify(held.acl) != tenants.DENY_ALL else tenants.AclSpec(frozenset())
            return _PosixLists(folder, tenants.load_principal_map(), kept.sensitivity, kept.purpose)
    return _NoLists()


@dataclass(slots=True)
class _NoLists:
    unmapped: set[str] = field(default_factory=set)

    def read(self, entry: FolderEntry) -> Own:
        return NO_LIST


@dataclass(slots=True)
class _PosixLists:
    """Who may read the file and pass every folder down to it. Sensitivity and purpose, which a file system does not know, are the source's."""

    root: Path
    mapping: dict[tuple[str, str], str]
    sensitivity: Sensitivity
    purpose: str
    unmapped: set[str] = field(default_factory=set)
    folders: dict[Path, tenants.AclSpec | None] = field(default_factory=dict)  # None: lets everybody pass

    def read(self, entry: FolderEntry) -> Own:
        try:
            principals, unmapped = acl_posix.find_principals(acl_posix.read_entries(entry.path), acl_posix.READ, self.mapping)
            self.unmapped.update(unmapped)
            acl = tenants.AclSpec(principals, self.sensitivity, self.purpose)
            for folder in self._way_to(entry.path):
                if (passing := self._passing(folder)) is not None:
                    acl = tenants.meet(acl, passing)
        except acl_posix.UnknownListError as error:
            return OwnAcl(fault="acl_unknown", sentence=f"Nobody may read it. {error}")
        if tenants.simplify(acl) == tenants.DENY_ALL and principals:
            return OwnAcl(
                fault="acl_not_provable", sentence="Nobody may read it: who may read the file and who may pass its folders share no user or group."
            )
        if tenants.simplify(acl) == tenants.DENY_ALL and unmapped:
            return OwnAcl(fault="acl_unmapped", sentence=f"Nobody may read it: mapped to nobody here: {', '.join(unmapped)[:200]}.")
        return OwnAcl(acl)

    def _way_to(self, path: Path) -> list[Path]:
        return [parent for parent in path.parents if parent == self.root or self.root in parent.parents]

    def _passing(self, folder: Path) -> tenants.AclSpec | None:
        if folder not in self.folders:
            entries = acl_posix.read_entries(folder)
            if acl_posix.lets_everybody(entries, acl_posix.TRAVERSE):
                self.folders[folder] = None
            else:
                principals, _ = acl_posix.find_principals(entries, acl_posix.TRAVERSE, self.mapping)
                self.folders[folder] = tenants.AclSpec(principals, Sensitivity.PUBLIC)
        return self.folders[folder]


@dataclass(slots=True)
class _ManifestLists:
    """The nearest manifest that says something about a file; one that is broken on the way to it hides what the others say."""

    manifests: dict[str, acl_manifest.AclManifest]  # by folder, "" is the root
    principals: dict[str, str]
    unmapped: set[str] = field(default_factory=set)

    def read(self, entry: FolderEntry) -> Own:
        rule = None
        folder = entry.relative_path
        while folder:
            folder = folder.rpartition("/")[0]
            manifest = self.manifests.get(folder)
            if manifest is None:
                continue
            if manifest.fault:
                place = f"{folder}/{acl_manifest.MANIFEST_NAME}" if folder else acl_manifest.MANIFEST_NAME
                return OwnAcl(fault=acl_manifest.BROKEN, sentence=f"Nobody may read it, because of {place[:100]}. {manifest.fault}")
            rule = rule or manifest.find_rule(entry.relative_path[len(folder) + 1 if folder else 0 :])
        return NO_LIST if rule is None else self._own_of(rule)

    def _own_of(self, rule: acl_manifest.ManifestRule) -> Own:
        if rule.fault:
            return OwnAcl(fault=acl_manifest.RULE_INVALID, sentence=f"Nobody may read it: its rule is wrong. {rule.fault}")
        unknown = [word for word in rule.readers if word not in self.principals]
        if unknown:
            return OwnAcl(
                fault="acl_reader_unknown", sentence=f"Nobody may read it: its rule names a reader who is not known here: {unknown[0][:100]!r}."
            )
        return OwnAcl(tenants.AclSpec(frozenset(self.principals[word] for word in rule.readers), rule.sensitivity, rule.purpose))


def _open_manifests(actor: Actor, folder: Path, entries: Sequence[FolderEntry]) -> _ManifestLists:
    manifests = {}
    for entry in entries:
        if entry.path.name == acl_manifest.MANIFEST_NAME:
            manifests[entry.relative_path.rpartition("/")[0]] = _read_one(entry)
    rules = [rule for manifest in manifests.values() for rule in (*manifest.exact.values(), *(rule for _, rule in manifest.globs))]
    with scope(actor.grant):
        return _ManifestLists(manifests, tenants.resolve_principals({word for rule in rules for word in rule.readers}))


def _read_one(entry: FolderEntry) -> acl_manifest.AclManifest:
    try:
        if entry.path.stat(follow_symlinks=False).st_size > acl_manifest.MAX_BYTES:
            return acl_manifest.AclManifest({}, (), f"It has more than {acl_manifest.MAX_BYTES:,} bytes.")
        return acl_manifest.read_manifest(read_stable(entry.path))
    except (OSError, DomainError):
        return acl_manifest.AclManifest({}, (), "It is a link, changes while it is read, or cannot be read.")
