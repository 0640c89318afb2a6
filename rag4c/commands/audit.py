"""`verify-audit`, `export-audit`, `verify-export`, `who-read`, `maintain`: what auditors and operators do with the ledger."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.conninfo import make_conninfo

from rag4c.commands.base import add_command, emit, host_actor, open_platform
from rag4c.kernel import env
from rag4c.kernel.errors import Absent, DomainError, Invalid

if TYPE_CHECKING:
    import argparse

    from rag4c.bootstrap import Platform
    from rag4c.ledger.api import AuditVerdict

SHOWN_FAULTS: Final = 20
MAINTAIN: Final = ("new-incarnation", "rotate-key", "prune", "partitions", "public-key")


def add_commands(commands: Any) -> None:
    audit = add_command(
        commands,
        "verify-audit",
        run_verify_audit,
        "compute every seal again and compare it with the checkpoints; 1 when anything is wrong",
        tenant=False,
    )
    audit.add_argument("--tenant", metavar="SLUG", help="one tenant (default: every chain, the platform's too)")
    export = add_command(commands, "export-audit", run_export_audit, "write an export of a tenant's ledger that anybody can verify")
    export.add_argument("--output", type=Path, required=True, metavar="DIR", help="a folder that is made for it")
    export.add_argument("--from", dest="from_seq", type=int, default=1, metavar="N", help="first number of the chain (default: 1)")
    export.add_argument("--to", dest="to_seq", type=int, metavar="N", help="last number, of a checkpoint (default: the newest event)")
    export.add_argument("--code", default="", help="only events of this code; `role.*` for all that begin so")
    export.add_argument("--view", dest="views", action="append", default=[], choices=["csv", "ocsf"], help="also as a table, or for a SIEM")
    verify = add_command(
        commands, "verify-export", run_verify_export, "check an export: 0 whole, 2 altered, 3 gap, 4 signature, 5 checkpoint", tenant=False
    )
    verify.add_argument("folder", type=Path)
    verify.add_argument("--key", type=Path, required=True, help="the public key, from elsewhere than the folder")
    verify.add_argument("--checkpoint", type=Path, help="a checkpoint that you kept")
    readers = add_command(commands, "who-read", run_who_read, "who read a document, by itself or through an answer")
    readers.add_argument("document", help="id of the document")
    maintain = add_command(commands, "maintain", run_maintain, "what only the operator does; see docs/AUDIT.md", tenant=False)
    maintain.add_argument("what", choices=MAINTAIN)
    maintain.add_argument("month", nargs="?", default="", help="for prune: the month to detach, as 2025-01")


def run_verify_audit(arguments: argparse.Namespace) -> int:
    with open_platform() as platform:
        from rag4c.ledger import api as ledger

        chains = list_chains(platform)
        if arguments.tenant:
            chains = {key: slug for key, slug in chains.items() if slug == arguments.tenant}
            if not chains:
                raise Absent("tenant", f"There is no tenant {arguments.tenant}; name one with --tenant.")
        verdicts = {slug: ledger.verify_audit(tenant_id=tenant_id) for tenant_id, slug in sorted(chains.items(), key=lambda item: item[1])}
        strangers = [] if arguments.tenant else sorted(ledger.find_kept_tenants() - set(chains))
    lines = [line for slug, verdict in verdicts.items() for line in describe(slug, verdict)]
    lines += [f"WRONG {key}: the sink keeps checkpoints of a tenant that is not there (tenant_missing)" for key in strangers]
    emit(arguments, {"chains": verdicts, "missing_tenants": strangers}, lines)
    return 0 if all(verdict.is_whole for verdict in verdicts.values()) and not strangers else 1


def describe(slug: str, verdict: AuditVerdict) -> list[str]:
    """A sentence on a chain, then its faults."""
    confirmed = f"{verdict.checkpoints} checkpoints confirm it up to #{verdict.checked_seq}" if verdict.checkpoints else "no checkpoint yet"
    pruned = f", {verdict.pruned} pruned" if verdict.pruned else ""
    head = (
        f"{'ok   ' if verdict.is_whole else 'WRONG'} {slug}: {verdict.events} events{pruned}, head #{verdict.head_seq}; {confirmed}; {verdict.claim}"
    )
    faults = [f"      #{fault.seq}: {fault.code}" for fault in verdict.faults[:SHOWN_FAULTS]]
    return [head, *faults, *([f"      and {len(verdict.faults) - SHOWN_FAULTS} more"] if len(verdict.faults) > SHOWN_FAULTS else [])]


def system_dsn(platform: Platform) -> str:
    return make_conninfo(
        host=env.read_str("RAG4C_DB_HOST"),
        port=env.read_str("RAG4C_DB_PORT"),
        dbname=env.read_str("RAG4C_DB_NAME"),
        user="rag4c_system",
        password=platform.passwords["rag4c_system"],
    )


def list_chains(platform: Platform) -> dict[str, str]:
    """Tenant id -> slug, of all tenants: under the system login, by its listed function."""
    with psycopg.connect(system_dsn(platform), autocommit=True) as conn:
        return {str(row[0]): str(row[1]) for row in conn.execute("SELECT tenant_id, slug FROM rag4c_chains()")}


def run_export_audit(arguments: argparse.Namespace) -> int:
    with open_platform() as platform:
        from compliance import api as compliance

        if arguments.output.exists():
            raise Invalid("output_exists", f"{arguments.output} is there already; name a folder that is not.")
        actor = host_actor(arguments)
        seal_now(platform, str(actor.tenant_id))
        query = compliance.AuditQuery(code=arguments.code)
        views = frozenset(arguments.views)
        job_id = compliance.request_export(actor=actor, query=query, from_seq=arguments.from_seq, to_seq=arguments.to_seq, views=views)
        compliance.run_export(str(actor.tenant_id), str(job_id))
        info = compliance.read_export(actor=actor, job_id=job_id)
        shutil.copytree(info.folder, arguments.output)
    said = {"folder": str(arguments.output), "from_seq": info.from_seq, "to_seq": info.to_seq, "events": info.count, "manifest": info.manifest_sha256}
    emit(arguments, said, [f"{name}: {value}" for name, value in said.items()])
    return 0


def run_verify_export(arguments: argparse.Namespace) -> int:
    """The very file that exports carry, in a process of its own: no platform is started, and its exit codes are passed on."""
    command = [sys.executable, "-I", str(env.PROJECT_DIR / "compliance" / "verify_export.py"), str(arguments.folder), "--key", str(arguments.key)]
    command += ["--checkpoint", str(arguments.checkpoint)] if arguments.checkpoint else []
    command += ["--json"] if arguments.json else []
    return subprocess.run(command, check=False).returncode  # noqa: S603  # our own file


def run_who_read(arguments: argparse.Namespace) -> int:
    with open_platform():
        from compliance import api as compliance
        from rag4c.scope.paging import read_uuid

        document_id = read_uuid(arguments.document)
        if document_id is None:
            raise Invalid("document_missing", "Name the id of a document; the admin shows it on its page.")
        rows = compliance.who_read(actor=host_actor(arguments), document_id=document_id)
    emit(arguments, rows, [f"{row.at:%Y-%m-%d %H:%M:%S} {row.who} {row.how} through {row.channel} {row.through}" for row in rows] or ["Nobody."])
    return 0


def seal_now(platform: Platform, tenant_id: str) -> None:
    """What the sealer would do in a few seconds; the command may run while nothing else does."""
    with psycopg.connect(system_dsn(platform), autocommit=True) as conn:
        while conn.execute("SELECT rag4c_seal(%s, 2000)", [tenant_id]).fetchone() not in {None, (0,)}:
            pass


def run_maintain(arguments: argparse.Namespace) -> int:
    if arguments.what == "prune" and not arguments.month:
        raise Invalid("month_missing", "Name the month to detach, as `rag4c maintain prune 2025-01`.")
    with open_platform():
        said = _maintain_here(arguments.what) or _maintain_as_owner(arguments.what, arguments.month)
    emit(arguments, said, [f"{name}: {value}" for name, value in said.items()])
    return 0


def _maintain_here(what: str) -> dict[str, Any]:
    """What needs the signing key and no power over tables."""
    from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
    from rag4c.ledger import api as ledger

    if what == "rotate-key":
        key_id = ledger.rotate_signing_key(actor=system_actor(PLATFORM_TENANT, channel="cli"))
        return {"key": key_id, "public_key": str(ledger.public_key_path())}
    return {"public_key": str(ledger.public_key_path())} if what == "public-key" else {}


def _maintain_as_owner(what: str, month: str) -> dict[str, Any]:
    words = [what, month] if month else [what]
    done = subprocess.run([sys.executable, "-m", "rag4c.maintain", *words], check=False, capture_output=True, text=True, cwd=env.PROJECT_DIR)  # noqa: S603  # our own module, words from a list of choices
    if done.returncode not in {0, 3}:
        raise DomainError("maintain_failed", f"The owner's process ended badly: {done.stderr.strip().splitlines()[-1:]}.")
    said: dict[str, Any] = json.loads(done.stdout)
    if done.returncode == 3:
        raise DomainError(said["code"], said["message"])
    return said
