"""`sync`, `release`, `rollback`, `takedown`: what is read and what is served."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_asking, add_command, asking, emit, host_actor, open_platform, plain, say

if TYPE_CHECKING:
    import argparse
    import uuid
    from collections.abc import Iterator

    from rag4c.bootstrap import Platform
    from rag4c.kernel.grant import Actor


def add_commands(commands: Any) -> None:
    sync = add_command(commands, "sync", run_sync, "read a folder into a knowledge base; only what changed is worked on")
    sync.add_argument("folder", type=Path)
    sync.add_argument("--kb", required=True, help="knowledge base; made when new")
    sync.add_argument("--readers", help="for a new source: everyone, user:NAME, group:SLUG, unit:SLUG, role:CODE (comma-separated); default: nobody")
    sync.add_argument("--release", metavar="CHANNEL", help="publish to this channel when indexed")
    sync.add_argument("--no-wait", action="store_true", help="do not wait for the workers")
    release = add_command(commands, "release", run_release, "publish what is ready to a channel")
    rollback = add_command(commands, "rollback", run_rollback, "move a channel back to an earlier manifest")
    rollback.add_argument("--to", type=int, metavar="SEQ", help="manifest number (default: what the channel served before)")
    for parser in (release, rollback):
        parser.add_argument("--kb", required=True)
        parser.add_argument("--channel", default="live")
        parser.add_argument("--reason", default="by the command line")
        add_asking(parser)
    takedown = add_command(commands, "takedown", run_takedown, "hide a document from every channel, now")
    takedown.add_argument("--kb", required=True)
    takedown.add_argument("path")
    takedown.add_argument("--reason", default="", help="10 to 500 characters; not needed with --end")
    takedown.add_argument("--end", action="store_true", help="show it again")


@contextlib.contextmanager
def workers(platform: Platform) -> Iterator[None]:
    """Workers for this command, when it started the platform itself; otherwise those of `rag4c up` do the work."""
    from rag4c.commands.services import service_programs
    from rag4c.embedded.supervisor import Supervisor

    if not platform.is_owner:
        yield
        return
    supervisor = Supervisor(service_programs(None), say=lambda _line: None)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


def run_sync(arguments: argparse.Namespace) -> int:
    with open_platform() as platform:
        from documents import api as documents
        from rag4c.demo.publish import wait_for_jobs
        from rag4c.demo.seed import ensure_base
        from tenants import api as tenants

        actor = host_actor(arguments)
        readers = tenants.read_readers(actor=actor, text=arguments.readers or "")
        base_id, source_id = ensure_base(actor, arguments.kb, arguments.kb, arguments.folder.absolute(), readers)
        report = documents.sync_source(actor=actor, source_id=source_id, root=arguments.folder.absolute())
        result: dict[str, Any] = {"sync": plain(report)}
        if not arguments.no_wait:
            with workers(platform):
                result["jobs"] = wait_for_jobs(actor, base_id)
        if arguments.release:
            result["release"] = _publish(actor, base_id, arguments.release, "release after sync")
    emit(arguments, result, _sync_lines(result))
    return 1 if report.refused or report.denied or result.get("jobs", {}).get("error") else 0


def _sync_lines(result: dict[str, Any]) -> list[str]:
    report = result["sync"]
    lines = [
        f"files={report['files_seen']} added={report['documents_added']} updated={report['documents_updated']} "
        f"reused={report['documents_reused']} deleted={report['documents_deleted']} refused={len(report['refused'])} generation={report['generation']}"
    ]
    lines += [f"  {row['path']}: {row['message']} ({row['code']})" for row in [*report["refused"], *report["denied"]]]
    if access := report["access"]:
        waits = f" waits={access['blocked']}" if access["blocked"] else ""
        lines.append(f"readers: narrowed={access['revoked']} widened={access['granted']} change={access['id']}{waits}")
    if "jobs" in result:
        lines.append(" ".join(f"{name}={count}" for name, count in result["jobs"].items()))
    if "release" in result:
        lines.append("channel={channel} rev={rev} manifest={seq} documents={documents}".format(**result["release"]))
    return lines


def _publish(actor: Actor, base_id: uuid.UUID, channel: str, reason: str) -> dict[str, Any]:
    from retrieval import api as retrieval

    manifest = retrieval.draft_manifest(actor=actor, knowledge_base_id=base_id)
    rev = retrieval.release(actor=actor, knowledge_base_id=base_id, channel=channel, manifest_id=manifest.id, reason=reason)
    return {"channel": channel, "rev": rev, "seq": manifest.seq, "sha256": manifest.sha256, "documents": manifest.item_count}


def run_release(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents

        actor = host_actor(arguments)
        base = documents.find_knowledge_base(actor=actor, slug=arguments.kb)
        with asking(arguments, actor) as asked:
            result = _publish(actor, base.id, arguments.channel, arguments.reason)
            emit(arguments, result, ["channel={channel} rev={rev} manifest={seq} documents={documents}".format(**result)])
    return 1 if asked else 0


def run_rollback(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents
        from retrieval import api as retrieval

        actor = host_actor(arguments)
        base = documents.find_knowledge_base(actor=actor, slug=arguments.kb)
        with asking(arguments, actor) as asked:
            rev = retrieval.rollback(actor=actor, knowledge_base_id=base.id, channel=arguments.channel, seq=arguments.to, reason=arguments.reason)
            emit(arguments, {"channel": arguments.channel, "rev": rev}, [f"channel={arguments.channel} rev={rev}"])
    return 1 if asked else 0


def run_takedown(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents
        from retrieval import api as retrieval

        actor = host_actor(arguments)
        base = documents.find_knowledge_base(actor=actor, slug=arguments.kb)
        document_id = documents.find_document_id(actor=actor, knowledge_base_id=base.id, path=arguments.path)
        if arguments.end:
            retrieval.end_takedown(actor=actor, document_id=document_id)
        else:
            retrieval.take_down(actor=actor, document_id=document_id, reason=arguments.reason)
    say("Shown again." if arguments.end else "Hidden from every channel.")
    return 0
