"""A folder from files to live: sync, wait for the workers, draft and release."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from documents import api as documents
from rag4c.commands.base import progress, say
from rag4c.demo.seed import ensure_base
from rag4c.kernel.errors import Unavailable
from retrieval import api as retrieval

if TYPE_CHECKING:
    import uuid
    from pathlib import Path

    from rag4c.kernel.grant import Actor

STALL_S: Final = 300.0


def publish_folder(actor: Actor, slug: str, folder: Path) -> uuid.UUID:
    """Sync, wait for the workers, draft and release to `live`; what is unchanged costs nothing."""
    base_id, source_id = ensure_base(actor, slug, slug.replace("-", " ").title(), folder)
    report = documents.sync_source(actor=actor, source_id=source_id)
    say(
        f"{report.files_seen} files: {report.documents_added} added, {report.documents_updated} updated, {report.documents_reused} unchanged, "
        f"{report.documents_deleted} deleted, {len(report.refused)} refused"
    )
    for refusal in report.refused:
        say(f"  {refusal.path}: {refusal.message} ({refusal.code})")
    wait_for_jobs(actor, base_id)
    manifest = retrieval.draft_manifest(actor=actor, knowledge_base_id=base_id)
    rev = retrieval.release(actor=actor, knowledge_base_id=base_id, channel="live", manifest_id=manifest.id, reason="release after sync")
    say(f"{manifest.item_count} documents live (manifest #{manifest.seq}, channel rev {rev})")
    return base_id


def wait_for_jobs(actor: Actor, base_id: uuid.UUID) -> dict[str, int]:
    """Until no job is queued or running. Raises: Unavailable("workers_idle") when nothing moves for five minutes."""
    last, moved = None, time.monotonic()
    while True:
        counts = documents.count_jobs(actor=actor, knowledge_base_id=base_id)
        open_jobs = counts["queued"] + counts["running"] + counts["stuck"]
        if open_jobs == 0:
            progress("")
            return counts
        if counts != last:
            last, moved = counts, time.monotonic()
        if time.monotonic() - moved > STALL_S:
            raise Unavailable("workers_idle", "No document has moved for five minutes; is a worker running? See `rag4c status`.", counts)
        progress(f"indexing: {counts['completed']} done, {open_jobs} to go, {counts['error']} failed")
        time.sleep(0.2)
