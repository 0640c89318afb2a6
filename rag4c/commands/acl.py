"""`acl`: who reads, by document, source, template and mapping, and the changes that wait."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from rag4c.commands.base import add_command, emit, host_actor, open_platform
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    import argparse

    from rag4c.kernel.grant import Actor
    from tenants.api import AclChange, AclSpec

READERS: Final = "everyone, user:NAME, group:SLUG, unit:SLUG, role:CODE, several with commas; `nobody` for nobody"
LEVELS: Final = ("public", "internal", "confidential", "restricted")
MODES: Final = ("none", "template", "posix", "manifest")


def add_commands(commands: Any) -> None:
    acl = commands.add_parser(
        "acl", help="who reads documents", description="Who reads documents; what gives waits for an approval if a policy asks."
    )
    verbs = acl.add_subparsers(dest="verb", required=True, metavar="VERB")
    show = add_command(verbs, "show", run_show, "who may read a document, and why")
    show.add_argument("path")
    change = add_command(verbs, "set", run_set, "set who reads a document, or what a source holds")
    change.add_argument("path", nargs="?", help="a document; without it the readers of the source")
    template = add_command(verbs, "template", run_template, "readers of files below a path that have no list of their own")
    template.add_argument("action", choices=["set", "end", "list"])
    template.add_argument("prefix", nargs="?", default="")
    mode = add_command(verbs, "mode", run_mode, "where the readers of a source come from, from its next sync on")
    mode.add_argument("mode", choices=MODES)
    for parser in (show, change, template, mode):
        parser.add_argument("--kb", required=True)
        parser.add_argument("--source", default="folder", help="key of the source (default: %(default)s)")
    for parser in (change, template):
        parser.add_argument("--readers", default="nobody", help=READERS)
        parser.add_argument("--sensitivity", choices=LEVELS, default="internal")
        parser.add_argument("--purpose", default="", help="for restricted only: the purpose a reader must state")
        parser.add_argument("--reason", default="by the command line")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen and do nothing")
    mapping = add_command(verbs, "mapping", run_mapping, "who the users and groups of a file system are here")
    mapping.add_argument("action", choices=["set", "end", "list"])
    mapping.add_argument("kind", nargs="?", choices=["user", "group", "other"], default="user")
    mapping.add_argument("external", nargs="?", default="", help="a number or a name; * for other")
    mapping.add_argument("reader", nargs="?", default="", help="everyone, user:NAME, group:SLUG or role:CODE")
    changes = add_command(verbs, "changes", run_changes, "changes of readers, newest first")
    changes.add_argument("--state", choices=["waiting", "applied", "stale", "withdrawn"], default="")
    for verb, help_text in (("apply", "give what a change waits to give"), ("withdraw", "take back what waits")):
        add_command(verbs, verb, run_decide, help_text).add_argument("change", type=uuid.UUID)


def _find(actor: Actor, arguments: argparse.Namespace) -> tuple[uuid.UUID, uuid.UUID]:
    """(knowledge base, source)."""
    from documents import api as documents

    base = documents.find_knowledge_base(actor=actor, slug=arguments.kb)
    return base.id, documents.find_source(actor=actor, knowledge_base_id=base.id, key=arguments.source)


def _spec(actor: Actor, arguments: argparse.Namespace) -> AclSpec:
    from tenants import api as tenants

    principals = tenants.read_readers(actor=actor, text=arguments.readers)
    return tenants.AclSpec(principals, tenants.Sensitivity[arguments.sensitivity.upper()], arguments.purpose)


def _tell(arguments: argparse.Namespace, actor: Actor, change: AclChange) -> int:
    """Exit code 1 when something waits: done, but not as wished."""
    from rag4c.scope.manager import scope
    from tenants import api as tenants

    with scope(actor.grant):
        lines = tenants.tell_change(change.payload)
    head = f"change={change.id} state={change.state} narrowed={change.revoked} widened={change.granted}"
    emit(arguments, change, [head + (f" blocked={change.blocked}" if change.blocked else ""), *(f"  {line}" for line in lines)])
    return 1 if change.blocked else 0


def run_show(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents
        from rag4c.scope.manager import scope
        from tenants import api as tenants

        actor = host_actor(arguments)
        base_id, _source = _find(actor, arguments)
        document_id = documents.find_document_id(actor=actor, knowledge_base_id=base_id, path=arguments.path)
        seen = documents.show_document_access(actor=actor, document_id=document_id)
        with scope(actor.grant):
            readers = tenants.tell_readers(seen.acl)
    lines = [f"{seen.path}: {readers}", f"origin={seen.origin} mode={seen.acl_mode} since={seen.since:%Y-%m-%d %H:%M}" if seen.since else "no list"]
    if seen.people:
        lines.append(f"people={seen.people_count}: {', '.join(seen.people)}")
    emit(arguments, seen, lines)
    return 0


def run_set(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents

        actor = host_actor(arguments)
        (base_id, source_id), acl = _find(actor, arguments), _spec(actor, arguments)
        if arguments.path is None:
            if arguments.dry_run:
                return _say(arguments, documents.preview_source_readers(actor=actor, source_id=source_id, acl=acl))
            return _tell(arguments, actor, documents.set_source_readers(actor=actor, source_id=source_id, acl=acl, reason=arguments.reason))
        ids = [documents.find_document_id(actor=actor, knowledge_base_id=base_id, path=arguments.path)]
        if arguments.dry_run:
            return _say(arguments, documents.preview_document_readers(actor=actor, document_ids=ids, acl=acl))
        return _tell(arguments, actor, documents.set_document_readers(actor=actor, document_ids=ids, acl=acl, reason=arguments.reason))


def _say(arguments: argparse.Namespace, lines: list[str]) -> int:
    emit(arguments, {"would": lines}, lines)
    return 0


def run_template(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents

        actor = host_actor(arguments)
        _base, source_id = _find(actor, arguments)
        if arguments.action == "list":
            rows = documents.list_acl_templates(actor=actor, source_id=source_id)
            emit(arguments, rows, [f"{row.path_prefix}/: {', '.join(row.readers) or 'nobody'}" for row in rows] or ["No template is in force."])
            return 0
        place: dict[str, Any] = {"actor": actor, "source_id": source_id, "path_prefix": arguments.prefix}
        if arguments.action == "end":
            return _tell(arguments, actor, documents.end_acl_template(**place, reason=arguments.reason))
        acl = _spec(actor, arguments)
        if arguments.dry_run:
            return _say(arguments, documents.preview_acl_template(**place, acl=acl))
        return _tell(arguments, actor, documents.set_acl_template(**place, acl=acl, reason=arguments.reason))


def run_mode(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents

        actor = host_actor(arguments)
        _base, source_id = _find(actor, arguments)
        documents.set_acl_mode(actor=actor, source_id=source_id, mode=arguments.mode)
    emit(arguments, {"mode": arguments.mode}, ["Counts from the next sync on; what it widens is asked first."])
    return 0


def run_mapping(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        if arguments.action == "list":
            rows = tenants.list_principal_mappings(actor=actor)
            emit(arguments, rows, [f"{row.kind} {row.external} -> {row.principal}" for row in rows] or ["Nothing is mapped."])
            return 0
        if not arguments.external:
            raise Invalid("mapping_invalid", "Name the user or group of the file system, and for `set` who that is here.")
        if arguments.action == "set":
            tenants.map_principal(actor=actor, kind=arguments.kind, external=arguments.external, word=arguments.reader)
        else:
            tenants.end_principal_mapping(actor=actor, kind=arguments.kind, external=arguments.external)
    emit(arguments, {"kind": arguments.kind, "external": arguments.external}, ["Done; files follow at the next sync of their source."])
    return 0


def run_changes(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        rows = tenants.list_acl_changes(actor=host_actor(arguments), state=arguments.state)
    emit(arguments, rows, [f"{row.id} {row.state} narrowed={row.revoked} widened={row.granted}: {row.reason}" for row in rows] or ["None."])
    return 0


def run_decide(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        if arguments.verb == "apply":
            return _tell(arguments, actor, tenants.apply_acl_grants(actor=actor, change_set_id=arguments.change))
        tenants.withdraw_acl_change(actor=actor, change_set_id=arguments.change)
    emit(arguments, {"state": "withdrawn"}, ["Withdrawn; what it had taken away stays taken away."])
    return 0
