"""Sync of 1,000 generated Markdown files, again, and after small changes; prints name=value lines. Exit 1 when a count is not what it must be.

The work is done by the product's own processes (worker with two children, system worker, beat) on a platform of its own in a temporary folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.platform import temporary_platform

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Iterator

    from benchmarks.platform import Kit
    from documents.api import SyncReport

FILES = 1000
SECTIONS = 3
SEED = 20_000
SUBJECTS = (
    "badge",
    "parking permit",
    "travel request",
    "laptop",
    "meeting room",
    "invoice",
    "holiday plan",
    "contract",
    "visitor pass",
    "expense claim",
)
PLACES = ("north office", "south office", "warehouse", "laboratory", "reception", "training centre", "data centre", "canteen")
VERBS = ("is issued by", "is kept at", "is checked by", "is returned to", "is renewed at", "is signed at")
COMMIT_POINTS = ("sync.commit.before", "manifest.commit.before", "release.commit.before")


def make_text(number: int, random: Random) -> str:
    """A page of a few hundred words' worth of rules; every sentence names its file, so that no two files share a chunk."""
    lines = [f"# Guide {number}", "", f"Guide {number} tells what holds for team {number}.", ""]
    for section in range(SECTIONS):
        lines += [f"## Part {section} of guide {number}", ""]
        for _ in range(4):
            subject, verb, place = random.choice(SUBJECTS), random.choice(VERBS), random.choice(PLACES)
            lines.append(f"The {subject} of team {number} {verb} the {place} within {random.randint(2, 90)} days.")
        lines.append("")
    return "\n".join(lines)


def write_files(folder: Path) -> None:
    random = Random(SEED)  # noqa: S311  # made-up text, nothing secret
    for number in range(FILES):
        target = folder / f"area-{number % 20:02}" / f"guide-{number:04}.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(make_text(number, random), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index as rows: chunk versions with their digests, places of each path's newest revision, and embeddings made so far."""

    chunks: dict[uuid.UUID, tuple[str, str]]  # content digest, index text digest
    places: dict[str, dict[uuid.UUID, str]]  # path -> chunk version -> locator
    document_ids: dict[str, uuid.UUID]
    embeddings: int


@dataclass
class Bench:
    """One knowledge base, and what went wrong so far."""

    kit: Kit
    folder: Path
    base_id: uuid.UUID
    source_id: uuid.UUID
    faults: list[str] = field(default_factory=list)

    def say(self, name: str, value: object, expected: object = None) -> None:
        print(f"{name}={value}", flush=True)
        if expected is not None and value != expected:
            self.faults.append(f"{name}={value} instead of {expected}")

    def sync(self, name: str) -> SyncReport:
        """Sync, wait for the workers, and print the counts."""
        from documents import api as documents
        from rag4c.demo.publish import wait_for_jobs

        started = time.monotonic()
        report = documents.sync_source(actor=self.kit.host, source_id=self.source_id)
        read_s = time.monotonic() - started
        counts = wait_for_jobs(self.kit.host, self.base_id)
        print(
            f"{name}_files={report.files_seen} {name}_added={report.documents_added} {name}_updated={report.documents_updated} "
            f"{name}_reused={report.documents_reused} {name}_deleted={report.documents_deleted} {name}_refused={len(report.refused)} "
            f"{name}_failed={counts['error']} {name}_generation={report.generation} {name}_sync_s={read_s:.1f} {name}_wall_s={time.monotonic() - started:.1f}",
            flush=True,
        )
        return report

    def release(self) -> int:
        from retrieval import api as retrieval

        manifest = retrieval.draft_manifest(actor=self.kit.host, knowledge_base_id=self.base_id)
        retrieval.release(actor=self.kit.host, knowledge_base_id=self.base_id, channel="live", manifest_id=manifest.id)
        return manifest.seq

    def path(self, number: int) -> str:
        return f"area-{number % 20:02}/guide-{number:04}.md"

    def edit(self, number: int, change: Callable[[str], str]) -> str:
        target = self.folder / self.path(number)
        target.write_text(change(target.read_text(encoding="utf-8")), encoding="utf-8")
        return self.path(number)

    def look(self) -> Snapshot:
        from documents.models import ChunkVersion, Document, IngestJob, RevisionChunk
        from rag4c.scope.manager import scope

        with scope(self.kit.host.grant):
            places: dict[str, dict[uuid.UUID, str]] = {}
            rows = RevisionChunk.objects.order_by("revision__document__path", "revision__number").values_list(
                "revision__document__path", "revision_id", "chunk_version_id", "locator"
            )
            newest: dict[str, uuid.UUID] = {}
            for path, revision, version, locator in rows:
                if newest.get(path) != revision:
                    newest[path], places[path] = revision, {}
                places[path][version] = locator
            return Snapshot(
                {key: (content, index) for key, content, index in ChunkVersion.objects.values_list("pk", "content_sha256", "index_text_sha256")},
                places,
                dict(Document.objects.values_list("path", "pk")),
                sum(IngestJob.objects.values_list("chunks_embedded", flat=True)),
            )

    def count_vectors(self) -> int:
        from django.db import connection

        from rag4c.scope.manager import scope
        from retrieval.models import EmbeddingSpace

        with scope(self.kit.host.grant), connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {EmbeddingSpace.objects.get().table_name}")  # noqa: S608  # our own table's name
            return int(cursor.fetchone()[0])

    def publication(self) -> tuple[int, int, int, int]:
        """Source generation, last manifest number, the channel's revision and the number of the manifest it serves."""
        from documents.models import DataSource
        from rag4c.scope.manager import scope
        from retrieval.models import Channel, ManifestCounter

        with scope(self.kit.host.grant):
            channel = Channel.objects.select_related("manifest").get(knowledge_base_id=self.base_id, name="live")
            counter = ManifestCounter.objects.get(knowledge_base_id=self.base_id)
            return DataSource.objects.get().generation, counter.last_seq, channel.rev, channel.manifest.seq if channel.manifest else 0

    def visible_documents(self) -> set[uuid.UUID]:
        from retrieval import api as retrieval

        visible = retrieval.visible_set(grant=self.kit.asker.grant, knowledge_base_ids=[self.base_id], channel="live")
        return {chunk.document_id for chunk in visible.chunks.values()}


def run_twice(bench: Bench) -> None:
    first = bench.sync("first")
    bench.say("first_added_is_all", first.documents_added == FILES, expected=True)
    after = bench.look()
    bench.say("chunks", len(after.chunks))
    bench.say("first_embeddings", after.embeddings, expected=len(after.chunks))
    bench.say("vectors", bench.count_vectors(), expected=len(after.chunks))
    bench.release()
    second = bench.sync("second")
    bench.say("second_reused_is_all", second.documents_reused == FILES, expected=True)
    again = bench.look()
    bench.say("second_embeddings", again.embeddings - after.embeddings, expected=0)
    bench.say("second_same_ids_and_places", (again.chunks, again.places) == (after.chunks, after.places), expected=True)


def change_a_line(bench: Bench) -> None:
    before = bench.look()
    path = bench.edit(17, lambda text: text.replace("within", "no later than", 1))
    bench.sync("line")
    after = bench.look()
    bench.say("line_new_chunk_versions", len(after.chunks.keys() - before.chunks.keys()), expected=1)
    bench.say("line_embeddings", after.embeddings - before.embeddings, expected=1)
    kept = before.places[path].keys() & after.places[path].keys()
    bench.say("line_chunks_kept", f"{len(kept)}/{len(after.places[path])}", expected=f"{len(after.places[path]) - 1}/{len(after.places[path])}")


def insert_at_the_top(bench: Bench) -> None:
    """A comment line is hidden text: it is part of the file and of every line number, and of no chunk."""
    before = bench.look()
    path = bench.edit(18, lambda text: "<!-- reviewed -->\n\n" + text)
    bench.sync("top")
    after = bench.look()
    moved = sum(after.places[path][key] != locator for key, locator in before.places[path].items() if key in after.places[path])
    bench.say("top_new_chunk_versions", len(after.chunks.keys() - before.chunks.keys()), expected=0)
    bench.say("top_embeddings", after.embeddings - before.embeddings, expected=0)
    bench.say("top_locators_moved", f"{moved}/{len(before.places[path])}", expected=f"{len(before.places[path])}/{len(before.places[path])}")


def insert_text_at_the_top(bench: Bench) -> None:
    """A line of text before the first heading is a chunk of its own; no other is made again."""
    before = bench.look()
    path = bench.edit(19, lambda text: "This guide was reviewed in spring.\n\n" + text)
    bench.sync("text")
    after = bench.look()
    moved = sum(after.places[path].get(key, locator) != locator for key, locator in before.places[path].items())
    bench.say("text_embeddings", after.embeddings - before.embeddings, expected=1)
    bench.say(
        "text_embeddings_of_unchanged_chunks", after.embeddings - before.embeddings - len(after.chunks.keys() - before.chunks.keys()), expected=0
    )
    bench.say("text_locators_moved", f"{moved}/{len(before.places[path])}", expected=f"{len(before.places[path])}/{len(before.places[path])}")


def rename_a_heading(bench: Bench) -> None:
    before = bench.look()
    path = bench.edit(20, lambda text: text.replace("## Part 1 of", "## Chapter one of"))
    bench.sync("heading")
    after = bench.look()
    new = after.chunks.keys() - before.chunks.keys()
    old = before.places[path].keys() - after.places[path].keys()
    bench.say("heading_new_chunk_versions", len(new), expected=len(old))
    bench.say("heading_embeddings", after.embeddings - before.embeddings, expected=len(new))
    digests = [Counter(side.chunks[key][0] for key in keys) for side, keys in ((after, new), (before, old))]
    bench.say("heading_content_sha256_unchanged", digests[0] == digests[1] and bool(new), expected=True)
    bench.say(
        "heading_index_text_sha256_changed", {after.chunks[key][1] for key in new}.isdisjoint(before.chunks[key][1] for key in old), expected=True
    )


def delete_a_file(bench: Bench) -> None:
    from documents.models import Document
    from rag4c.scope.manager import scope

    bench.release()
    before, seen = bench.look(), bench.visible_documents()
    path = bench.path(21)
    (bench.folder / path).unlink()
    report = bench.sync("delete")
    after = bench.look()
    with scope(bench.kit.host.grant):
        document = Document.objects.get(path=path)
    bench.say("delete_tombstone", document.state, expected="tombstoned")
    bench.say("delete_tombstone_generation", document.tombstone_generation, expected=report.generation)
    gone = seen - bench.visible_documents()
    bench.say("delete_retrievable_before", document.pk in seen, expected=True)
    bench.say("delete_not_retrievable", gone == {document.pk}, expected=True)
    cited = [row.document for row in bench.kit.ask("Within how many days is the badge of team 21 returned?").citations]
    bench.say("delete_cited", sum(name.endswith("guide-0021.md") for name in cited), expected=0)
    same = (after.chunks, after.places, after.document_ids) == (before.chunks, before.places, before.document_ids)
    bench.say("delete_other_ids_unchanged", same, expected=True)
    bench.say("delete_embeddings", after.embeddings - before.embeddings, expected=0)


@contextlib.contextmanager
def armed(point: str) -> Iterator[None]:
    os.environ["RAG4C_FAILPOINTS"] = f"{point}=raise"
    try:
        yield
    finally:
        del os.environ["RAG4C_FAILPOINTS"]


def fail_to_publish(bench: Bench) -> None:
    """Each commit of sync and publication fails once; the last state serves on and no number is used up."""
    from rag4c.kernel.errors import Transient

    bench.release()
    bench.edit(22, lambda text: text.replace("within", "after", 1))
    for point in COMMIT_POINTS:
        name = point.replace(".", "_")
        before, seen = bench.publication(), bench.visible_documents()
        with armed(point), contextlib.suppress(Transient):
            bench.sync("failed") if point.startswith("sync") else bench.release()
            bench.faults.append(f"{point} did not fail")
        # a manifest that was written before its release failed stays, unserved: it is the next one to be released
        generation, seq, rev, served = bench.publication()
        bench.say(f"fail_{name}_generation_kept", generation == before[0], expected=True)
        bench.say(f"fail_{name}_channel_kept", (rev, served) == before[2:], expected=True)
        bench.say(f"fail_{name}_seq_used", seq - before[1], expected=1 if point.startswith("release") else 0)
        bench.say(f"fail_{name}_last_state_serves", bench.visible_documents() == seen, expected=True)
        if point.startswith("sync"):
            bench.say("retry_generation_step", bench.sync("retry").generation - before[0], expected=1)
    before = bench.publication()
    bench.say("retry_release_seq_step", bench.release() - before[1], expected=0)
    bench.say("retry_channel_rev_step", bench.publication()[2] - before[2], expected=1)


def measure(kit: Kit, folder: Path) -> list[str]:
    from rag4c.commands.services import service_programs
    from rag4c.demo.seed import ensure_base
    from rag4c.embedded.supervisor import Supervisor

    base_id, source_id = ensure_base(kit.host, "bench", "Bench", folder)
    kit.base_id = base_id
    bench = Bench(kit, folder, base_id, source_id)
    supervisor = Supervisor(service_programs(None), say=lambda _line: None)
    supervisor.start()
    try:
        for part in (run_twice, change_a_line, insert_at_the_top, insert_text_at_the_top, rename_a_heading, delete_a_file, fail_to_publish):
            part(bench)
    finally:
        supervisor.stop()
    return bench.faults


def main() -> int:
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="rag4c-bench-files-"))
    os.environ.setdefault("RAG4C_LOG_LEVEL", "WARNING")
    try:
        write_files(folder)
        print(f"files={FILES} workers=real worker_processes=2")
        with temporary_platform() as kit:
            faults: list[Any] = measure(kit, folder)
    finally:
        shutil.rmtree(folder)
    print(f"wall_s={time.monotonic() - started:.0f}")
    print(f"faults={len(faults)}")
    for fault in faults:
        print(f"fault: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
