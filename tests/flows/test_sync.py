"""From a folder to what is served: SYS-A1 to A5, R08."""

from __future__ import annotations

import os

import pytest

from documents import api as documents
from documents.models import ChunkVersion, DataSource, Document, IngestJob, IngestPolicy, Revision, RevisionChunk
from rag4c.kernel import failpoints
from rag4c.kernel.errors import Conflict, Invalid, Transient
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from retrieval.models import Channel, Manifest, ManifestCounter
from tests.builders import ask, event_codes, make_library, publish

LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n\n## Parental leave\n\nParents get 16 weeks of paid parental leave.\n"
TRAVEL = "# Travel\n\nThe travel desk books trains and flights.\n\nHotels cost at most 140 euros a night.\n"


def chunk_ids(kit):
    with scope(kit.system.grant):
        return dict(ChunkVersion.objects.values_list("pk", "index_text_sha256"))


def embedded(kit):
    with scope(kit.system.grant):
        return sum(IngestJob.objects.values_list("chunks_embedded", flat=True))


def test_SYS_A1_same_folder_twice_gives_the_same_ids_and_embeds_nothing(acme):
    library = publish(acme, {"leave.md": LEAVE, "travel.md": TRAVEL})
    before, vectors = chunk_ids(acme), embedded(acme)
    report = library.sync()
    assert (report.documents_reused, report.documents_added, report.documents_updated, report.generation) == (2, 0, 0, 1)
    assert chunk_ids(acme) == before
    assert embedded(acme) == vectors


def test_SYS_A1_moved_file_is_another_document(acme):
    library = publish(acme, {"leave.md": LEAVE})
    first = library.document_id("leave.md")
    (library.folder / "leave.md").rename(library.folder / "absence.md")
    report = library.sync()
    assert (report.documents_added, report.documents_deleted) == (1, 1)
    assert library.document_id("absence.md") != first


def test_SYS_A4_line_inserted_at_the_top_moves_locators_and_embeds_nothing_else(acme):
    library = publish(acme, {"leave.md": "Note.\n\n" + LEAVE})
    old = chunk_ids(acme)
    count = embedded(acme)
    library.write({"leave.md": "Another first line.\n\nNote.\n\n" + LEAVE})
    report = library.sync()
    assert report.documents_updated == 1
    new = chunk_ids(acme)
    assert set(old) - set(new) == set()
    assert embedded(acme) - count == len(set(new) - set(old)) == 1  # only the lead-in before the first heading is new
    with scope(acme.system.grant):
        places = RevisionChunk.objects.filter(chunk_version__text__contains="16 weeks").order_by("revision__number")
        assert [place.locator for place in places] == ["L9", "L11"]


def test_SYS_A4_renamed_heading_embeds_again_and_keeps_the_content_digest(acme):
    library = publish(acme, {"leave.md": LEAVE})
    library.write({"leave.md": LEAVE.replace("## Parental leave", "## Leave for parents")})
    library.sync()
    with scope(acme.system.grant):
        versions = list(ChunkVersion.objects.filter(text__contains="16 weeks"))
    assert len(versions) == 2
    assert len({version.content_sha256 for version in versions}) == 1
    assert len({version.index_text_sha256 for version in versions}) == 2


def test_SYS_A4_changed_settings_chunk_again_and_count_as_updated(acme):
    library = publish(acme, {"leave.md": LEAVE, "travel.md": TRAVEL})
    with scope(acme.system.grant):
        IngestPolicy.objects.create(tenant_id=acme.id, version=1, target_chars=60, max_chars=120)
    report = library.sync()
    assert report.documents_updated == 2
    with scope(acme.system.grant):
        digests = set(RevisionChunk.objects.values_list("settings_digest", flat=True))
        assert len(digests) == 2
        assert Revision.objects.count() == 2  # the bytes are the same: no new revision
    assert library.sync().documents_reused == 2


def test_SYS_A4_deleted_file_is_a_tombstone_with_its_generation_and_is_gone_at_once(acme):
    library = publish(acme, {"leave.md": LEAVE, "travel.md": TRAVEL})
    assert ask(acme.bob, "How much may hotels cost a night?").status == "answered"
    kept = chunk_ids(acme)
    (library.folder / "travel.md").unlink()
    report = library.sync()  # nothing is released: the deny list does not wait for it
    assert (report.documents_deleted, report.generation) == (1, 2)
    assert ask(acme.bob, "How much may hotels cost a night?").status == "abstained"
    with scope(acme.system.grant):
        document = Document.objects.get(path="travel.md")
        assert (document.state, document.tombstone_generation) == ("tombstoned", 2)
    assert chunk_ids(acme) == kept
    assert "document.tombstoned" in event_codes(acme)


def test_file_that_came_back_is_served_from_its_new_revision_only(acme):
    library = publish(acme, {"leave.md": LEAVE, "travel.md": TRAVEL})
    (library.folder / "travel.md").unlink()
    library.sync()
    library.write({"travel.md": TRAVEL.replace("140", "150")})
    library.sync()
    assert ask(acme.bob, "How much may hotels cost a night?").status == "abstained"  # the old manifest holds the old revision
    library.release()
    answer = ask(acme.bob, "How much may hotels cost a night?")
    assert "150" in answer.answer


@pytest.mark.parametrize("code", ["source_root_changed", "source_root_missing", "source_empty"])
def test_SYS_A2_a_lost_or_other_folder_deletes_nothing(acme, code, tmp_path):
    library = publish(acme, {"leave.md": LEAVE})
    root = None
    if code == "source_root_changed":
        root = tmp_path
    elif code == "source_root_missing":
        library.folder.rename(tmp_path / "elsewhere")
    else:
        (library.folder / "leave.md").unlink()
    with pytest.raises(Invalid, match=code):
        documents.sync_source(actor=acme.alice, source_id=library.source_id, root=root)
    assert ask(acme.bob, "How many days of paid leave do employees get a year?").status == "answered"


def test_SYS_A2_links_empty_files_and_strangers_are_refused_one_by_one(acme, tmp_path):
    library = make_library(acme, {"leave.md": LEAVE, "empty.md": "", "good.txt": "The canteen opens at noon."})
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nNothing to see.\n")
    (library.folder / "link.md").symlink_to(secret)
    os.mkfifo(library.folder / "pipe.md")
    report = library.sync()
    assert report.documents_added == 2
    assert {(row.path, row.code) for row in report.refused} == {("empty.md", "empty_file"), ("link.md", "symlink"), ("pipe.md", "not_regular_file")}


def test_R12_a_file_that_cannot_be_parsed_stops_nobody_else(acme):
    library = make_library(acme, {"leave.md": LEAVE, "broken.html": b"<html><body>" + b"<div>" * 400 + b"deep" + b"</div>" * 400})
    library.sync()
    counts = documents.count_jobs(actor=acme.alice)
    assert (counts["completed"], counts["error"]) == (1, 1)
    assert [row[1] for row in documents.list_failures(actor=acme.alice)] == ["too_deep"]
    library.release()
    assert ask(acme.bob, "How many days of paid leave do employees get a year?").status == "answered"


def test_R08_old_revision_serves_while_the_new_one_fails(acme):
    library = publish(acme, {"leave.md": LEAVE})
    library.write({"leave.md": b"<!doctype html><html><body>" + b"<div>" * 400 + b"deep" + b"</div>" * 400})
    library.sync()
    library.release()
    answer = ask(acme.bob, "How many days of paid leave do employees get a year?")
    assert (answer.status, answer.citations[0].current_state) == ("answered", "ok")


def test_SYS_A5_failed_sync_changes_nothing_and_consumes_no_generation(acme, monkeypatch):
    library = publish(acme, {"leave.md": LEAVE})
    library.write({"leave.md": LEAVE.replace("25 days", "26 days")})
    monkeypatch.setenv("RAG4C_FAILPOINTS", "sync.commit.before=raise")
    failpoints._passes.clear()
    with pytest.raises(Transient):
        documents.sync_source(actor=acme.alice, source_id=library.source_id)
    monkeypatch.delenv("RAG4C_FAILPOINTS")
    with scope(acme.system.grant):
        assert DataSource.objects.get().generation == 1
        assert Revision.objects.count() == 1
    assert library.sync().generation == 2  # the retry counts once


@pytest.mark.parametrize("point", ["manifest.commit.before", "release.commit.before"])
def test_SYS_A5_failed_publish_leaves_the_last_state_serving_and_its_number_free(acme, monkeypatch, point):
    library = publish(acme, {"leave.md": LEAVE})
    library.write({"leave.md": LEAVE.replace("25 days", "26 days")})
    library.sync()
    monkeypatch.setenv("RAG4C_FAILPOINTS", f"{point}=raise")
    failpoints._passes.clear()
    with pytest.raises(Transient):
        library.release()
    monkeypatch.delenv("RAG4C_FAILPOINTS")
    assert "25 days" in ask(acme.bob, "How many days of paid leave do employees get a year?").answer
    with scope(acme.system.grant):
        assert Channel.objects.get(name="live").rev == 1
        assert ManifestCounter.objects.get().last_seq == Manifest.objects.count()
    library.release()
    assert "26 days" in ask(acme.bob, "How many days of paid leave do employees get a year?").answer
    with scope(acme.system.grant):
        assert sorted(Manifest.objects.values_list("seq", flat=True)) == [1, 2]


def test_two_syncs_at_once_the_later_one_is_told(acme):
    library = publish(acme, {"leave.md": LEAVE})
    library.write({"travel.md": TRAVEL})
    with scope(acme.system.grant):
        source = DataSource.objects.get()
    from documents.api import sync

    plan = sync._Plan("x", source.generation)
    library.sync()
    plan.deleted = []
    with pytest.raises(Conflict, match="sync_overtaken"):
        sync._apply(acme.alice, library.source_id, plan, 0)


def test_SYS_E17_rollback_moves_forward_to_the_older_manifest(acme):
    library = publish(acme, {"leave.md": LEAVE})
    library.write({"leave.md": LEAVE.replace("25 days", "26 days")})
    library.sync()
    assert library.release() == 2
    rev = retrieval.rollback(actor=acme.alice, knowledge_base_id=library.base_id, channel="live")
    assert rev == 3
    assert "25 days" in ask(acme.bob, "How many days of paid leave do employees get a year?").answer
    moves = retrieval.list_releases(actor=acme.alice, knowledge_base_id=library.base_id, channel="live")
    assert [(move.channel_rev, move.kind, move.manifest.seq) for move in moves] == [(3, "rollback", 1), (2, "release", 2), (1, "release", 1)]
