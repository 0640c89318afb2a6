"""Audit exports: asked for, written file by file under a lease, and the same bytes again for the same numbers and query (GOV "Audit")."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from compliance import export_files, guarded, rules
from compliance.models import ExportJob
from compliance.rules import AuditQuery, WrittenFile
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent, Conflict, DomainError, Invalid, Transient
from rag4c.kernel.failpoints import fp
from rag4c.kernel.grant import system_actor
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.dbtime import ClockTimestamp, after, plus_one
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator

    from rag4c.kernel.grant import Actor

__all__ = ["ExportInfo", "find_export_file", "read_export", "request_export", "run_export"]
LEASE: Final = timedelta(minutes=2)  # a file of 10,000 lines takes about a second
PAGE: Final = 5_000
NO_EXPORT: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class ExportInfo:
    """How far an export is. progress: 0 to 1, of the numbers that were looked at. folder: where the finished files lie."""

    id: uuid.UUID
    state: str
    from_seq: int
    to_seq: int
    count: int
    progress: float
    manifest_sha256: str
    error_code: str
    folder: Path


@dataclass(frozen=True, slots=True)
class _Claim:
    tenant_id: str
    job_id: str
    fence: int


def request_export(
    *, actor: Actor, query: AuditQuery | None = None, from_seq: int = 1, to_seq: int | None = None, views: frozenset[str] = frozenset()
) -> uuid.UUID:
    """Ask for an export; a worker writes it. Without `to_seq` the head is signed first, so that everything up to now is in it.

    Args: from_seq: moved back to the beginning of its checkpoint. to_seq: the number of a checkpoint; the latest when None. views: of `csv`, `ocsf`.
    Raises: Denied("not_allowed"), Invalid("query_invalid" | "view_unknown" | "to_seq_unconfirmed" | "from_seq_invalid"), Conflict("nothing_sealed"),
    Blocked("approval_required" | "no_policy").
    Source: governance.md "Audit", GOV-U13.
    """
    check_permission(actor, "ledger.export")
    asked = _check_query(query or AuditQuery(), views)
    if to_seq is None:
        ledger.write_checkpoint(tenant_id=str(actor.tenant_id))
    with scope(actor.grant), transaction.atomic():
        first, last = _choose_span([item.seq for item in ledger.list_checkpoints()], from_seq, to_seq)
        permit = gate.require(guarded.EXPORT_AUDIT, actor, guarded.ExportDraft(first, last, asked, views))
        job = ExportJob.objects.create(
            tenant_id=actor.tenant_id,
            requested_by=actor.ref,
            permit=permit,
            query=asked.wanted(),
            query_sha256=asked.sha256(),
            views=",".join(sorted(views)),
            from_seq=first,
            to_seq=last,
            next_seq=first,
            prev_export_sha256=_find_previous(asked, first, last),
        )
        told = {"from_seq": first, "to_seq": last, "query_sha256": asked.sha256(), "permit": permit}
        ledger.record(actor, "audit.export_requested", subject=("export", job.pk), data=told)
    return job.pk


def _check_query(query: AuditQuery, views: frozenset[str]) -> AuditQuery:
    if unknown := sorted(views - set(rules.VIEWS)):
        raise Invalid("view_unknown", f"Views are {' and '.join(rules.VIEWS)}; {unknown[0]} is none.")
    for text in (query.since, query.until):
        try:
            is_aware = not text or datetime.fromisoformat(text).tzinfo is not None
        except ValueError:
            is_aware = False
        if not is_aware:
            raise Invalid("query_invalid", "Write times as 2026-01-31T00:00:00+00:00.")
    if any(len(value) > 80 for value in astuple(query)):
        raise Invalid("query_invalid", "A filter holds a code or an id, at most 80 characters.")
    return query


def _choose_span(ends: list[int], from_seq: int, to_seq: int | None) -> tuple[int, int]:
    """The first and last number: from the beginning of a checkpoint to the end of one."""
    if not ends:
        raise Conflict("nothing_sealed", "No event of this tenant is sealed yet; try again in a minute.")
    last = ends[-1] if to_seq is None else to_seq
    if last not in ends:
        raise Invalid("to_seq_unconfirmed", f"An export ends at a checkpoint; the latest are {', '.join(map(str, ends[-5:]))}.", {"ends": ends[-20:]})
    if not 1 <= from_seq <= last:
        raise Invalid("from_seq_invalid", f"The first number lies between 1 and {last}.")
    return max([end + 1 for end in ends if end < from_seq], default=1), last


def _find_previous(query: AuditQuery, first: int, last: int) -> str:
    """What an earlier export of the same span named, so that it can be repeated; else the last finished one of this query that ends before."""
    same = ExportJob.objects.filter(query_sha256=query.sha256())
    twin = same.filter(from_seq=first, to_seq=last).order_by("pk").first()
    if twin is not None:
        return twin.prev_export_sha256
    before = same.filter(to_seq__lt=last, state="done").order_by("-to_seq", "pk").first()
    return before.manifest_sha256 if before else NO_EXPORT


def run_export(tenant_id: str, job_id: str) -> None:
    """Write what is missing of an export. Called by the delivery of its event, again after a crash: finished files are kept.

    Raises: Transient("export_running") while another worker holds the lease.
    """
    claim = _claim(tenant_id, job_id)
    if claim is None:
        return
    try:
        while _write_next_events(claim):
            pass
        _finish(claim)
    except DomainError as error:
        if isinstance(error, Conflict) and error.code == "lease_lost":
            raise
        with scope(system_actor(tenant_id).grant):
            _mine(claim).update(state="failed", error_code=error.code, lease_until=None)
        raise


def _claim(tenant_id: str, job_id: str) -> _Claim | None:
    with scope(system_actor(tenant_id).grant):
        free = Q(lease_until__isnull=True) | Q(lease_until__lt=ClockTimestamp())
        ready = ExportJob.objects.filter(free, pk=job_id, state__in=["waiting", "running", "failed"])
        taken = ready.update(state="running", fence=plus_one("fence"), lease_until=after(LEASE), error_code="")
        job = ExportJob.objects.filter(pk=job_id).first()
    if job is None or job.state == "done":
        return None
    if not taken:
        raise Transient("export_running", "Another worker writes this export.")
    return _Claim(str(tenant_id), str(job_id), job.fence)


def _mine(claim: _Claim) -> Any:
    return ExportJob.objects.filter(pk=claim.job_id, fence=claim.fence, state="running")


def _keep(claim: _Claim, **values: Any) -> None:
    """Every result names its fence (GOV-F2)."""
    if not _mine(claim).update(**{"lease_until": after(LEASE), **values}):
        raise Conflict("lease_lost", "Another worker has taken this export over.")


def _write_next_events(claim: _Claim) -> bool:
    """One more file of events, or False when all numbers were looked at. An empty export has one empty file."""
    grant = system_actor(claim.tenant_id).grant
    with scope(grant):
        job = _mine(claim).get()
    if job.next_seq > job.to_seq and job.files:
        return False
    cursor = _EventLines(claim, job)
    written = export_files.write_file(folder_of(job), rules.events_name(len(job.files) + 1), cursor)
    fp("export.file.before")
    with scope(grant):
        _keep(claim, next_seq=cursor.next_seq, count=job.count + cursor.lines, files=[*job.files, list(astuple(written))])
    fp("export.file.after")
    return True


class _EventLines:
    """The lines of one file; knows afterwards where the next one begins."""

    def __init__(self, claim: _Claim, job: ExportJob) -> None:
        self.claim, self.query, self.to_seq = claim, AuditQuery(**job.query), job.to_seq
        self.next_seq, self.lines = job.next_seq, 0

    def __iter__(self) -> Iterator[bytes]:
        while self.next_seq <= self.to_seq and self.lines < rules.LINES_PER_FILE:
            with scope(system_actor(self.claim.tenant_id).grant):
                page = ledger.read_sealed(first_seq=self.next_seq, last_seq=self.to_seq, limit=PAGE)
                _keep(self.claim)
            yield from self._lines_of(page)

    def _lines_of(self, page: list[ledger.SealedEvent]) -> Iterator[bytes]:
        for row in page:
            if self.lines == rules.LINES_PER_FILE:
                return
            self.next_seq = row.seq + 1
            if row.canonical is not None and is_wanted(self.query, row):
                self.lines += 1
                yield rules.event_line(row.seq, row.hash, row.canonical)
        if not page:
            raise Conflict("chain_broken", "A seal is missing; run `rag4c verify-audit`.", {"seq": self.next_seq})


def is_wanted(query: AuditQuery, row: ledger.SealedEvent) -> bool:
    """Whether an event answers every field that the query names; the code may end in `*`."""
    code = row.code or ""
    has_code = code.startswith(query.code[:-1]) if query.code.endswith("*") else query.code in {"", code}
    exact = (("actor", row.actor), ("channel", row.channel), ("subject_kind", row.subject_kind), ("subject_id", row.subject_id))
    has_fields = all(getattr(query, name) in {"", value} for name, value in exact)
    return has_code and has_fields and _is_inside(query, row.at)


def _is_inside(query: AuditQuery, at: datetime | None) -> bool:
    if at is None:
        return False
    return not (query.since and at < datetime.fromisoformat(query.since)) and not (query.until and at >= datetime.fromisoformat(query.until))


def _finish(claim: _Claim) -> None:
    """Seals, signatures, views, and last the manifest, which makes it an export."""
    grant = system_actor(claim.tenant_id).grant
    with scope(grant):
        job = _mine(claim).get()
        first, last = (ledger.read_sealed(first_seq=seq, last_seq=seq, limit=1, with_events=False)[0] for seq in (job.from_seq, job.to_seq))
        kept = [item for item in ledger.list_checkpoints(last_seq=job.to_seq) if item.seq >= job.from_seq]
        kept += ledger.list_stubs() + ledger.list_key_rotations()
    folder, events = folder_of(job), [WrittenFile(*entry) for entry in job.files]
    files = [*events, export_files.write_file(folder, "seals.jsonl", _seal_lines(claim, job))]
    files += [export_files.write_file(folder, f"checkpoints/{item.name}", [item.data]) for item in kept]
    files += export_files.write_views(folder, filter(None, job.views.split(",")), [item.name for item in events])
    files += export_files.copy_own_files(folder)
    head = {
        "tenant": claim.tenant_id,
        "query": job.query,
        "from_seq": job.from_seq,
        "to_seq": job.to_seq,
        "count": job.count,
        "first_prev": first.prev.hex(),
        "last_hash": last.hash.hex(),
        "prev_export_sha256": job.prev_export_sha256,
    }
    manifest = rules.make_manifest(head, files)
    signed = [("manifest.json", manifest), ("manifest.sig", ledger.sign_bytes(manifest))]
    names = [item.name for item in files] + [export_files.write_file(folder, name, [data]).name for name, data in signed]
    export_files.write_zip(folder, names)
    fp("export.finish.before")
    with scope(grant), transaction.atomic():
        _keep(claim, state="done", lease_until=None, finished_at=ClockTimestamp(), manifest_sha256=sha256_hex(manifest))
        told = {"count": job.count, "manifest_sha256": sha256_hex(manifest)}
        ledger.record(system_actor(claim.tenant_id), "audit.exported", subject=("export", job.pk), data=told)
    fp("export.finish.after")


def _seal_lines(claim: _Claim, job: ExportJob) -> Iterator[bytes]:
    seq = job.from_seq
    while seq <= job.to_seq:
        with scope(system_actor(claim.tenant_id).grant):
            page = ledger.read_sealed(first_seq=seq, last_seq=job.to_seq, limit=PAGE, with_events=False)
            _keep(claim)
        for row in page:
            yield rules.seal_line(row.seq, row.prev, row.hash)
        seq = page[-1].seq + 1


def folder_of(job: ExportJob) -> Path:
    return Path(settings.EXPORT_DIR) / str(job.tenant_id) / f"audit-{job.pk}"


def read_export(*, actor: Actor, job_id: uuid.UUID) -> ExportInfo:
    """How far an export is. Raises: Denied("not_allowed"), Absent("export")."""
    check_permission(actor, "ledger.export")
    with scope(actor.grant):
        job = ExportJob.objects.filter(pk=job_id).first()
    if job is None:
        raise Absent("export", "There is no such export.")
    progress = (job.next_seq - job.from_seq) / (job.to_seq + 1 - job.from_seq)
    return ExportInfo(job.pk, job.state, job.from_seq, job.to_seq, job.count, progress, job.manifest_sha256, job.error_code, folder_of(job))


def find_export_file(*, actor: Actor, job_id: uuid.UUID) -> Path:
    """The archive of a finished export; taking it is recorded (GOV-U13).

    Raises: Denied("not_allowed"), Absent("export"), Conflict("export_unfinished").
    """
    info = read_export(actor=actor, job_id=job_id)
    path = info.folder.with_suffix(".zip")
    if info.state != "done" or not path.exists():
        raise Conflict("export_unfinished", "This export is not finished, or its files were removed; ask for it again.")
    with scope(actor.grant):
        ledger.record(actor, "audit.export_downloaded", subject=("export", job_id), data={"manifest_sha256": info.manifest_sha256})
    return path
