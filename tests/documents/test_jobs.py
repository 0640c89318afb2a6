"""The ingest machine's fences and leases: GOV-F1 to F9, R12, R13."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError

from documents import api as documents
from documents.api.ingest import finish_indexing
from documents.api.jobs import fail_job, keep_lease, move_on
from documents.api.steps import classify
from documents.models import ChunkVersion, Document, IngestJob
from documents.states import INGEST_JOB
from rag4c.kernel import clock
from rag4c.kernel.errors import Conflict, Denied, Invalid, Permanent, Transient, Unavailable
from rag4c.scope.dbtime import after
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from tests.builders import ask, event_codes, make_library, make_tenant, work_off
from tests.documents.support import LEAVE, STEPS, WORK, bring_to, claim, do_step, end_lease, job_row, queue, set_policy, stored, vector_tables

LONG = "# Rules\n\n" + "\n\n".join(f"## Rule {number}\n\nRule {number} says that room {number} closes at {number} past noon." for number in range(40))


@pytest.mark.parametrize("step", STEPS)
def test_GOV_F1_a_write_with_another_fence_changes_nothing(acme, step):
    job = queue(acme)
    bring_to(acme, job, step)
    held = claim(acme, job, step)
    before = job_row(acme, job)
    other = replace(held, fence=held.fence + 1)
    writes = (
        lambda: keep_lease(other, chunks_embedded=1),
        lambda: move_on(other, {"parsing": "splitting", "splitting": "indexing", "indexing": "completed"}[step]),
        lambda: fail_job(other, reason="failed", code="x", message="x"),
    )
    for write in writes:
        with pytest.raises(Conflict, match="fence_lost") as caught, scope(acme.system.grant):
            write()
        assert caught.value.status == 409
    after_all = job_row(acme, job)
    assert (after_all.state, after_all.fence, after_all.lease_until) == (before.state, before.fence, before.lease_until)


def test_GOV_F1_a_lost_fence_is_not_tried_again(acme):
    job, calls = queue(acme), []

    def overtaken(held):
        calls.append(held.fence)
        end_lease(acme, job)
        assert claim(acme, job, "parsing").fence == held.fence + 1
        WORK["parsing"](held)

    assert do_step(acme, job, "parsing", overtaken) == "fence_lost"
    assert calls == [1]


def test_GOV_F2_the_fence_grows_at_every_claim(acme):
    job = queue(acme, max_attempts=9)
    fences = []
    for step in STEPS:
        for _ in range(2):
            fences.append(claim(acme, job, step).fence)
            end_lease(acme, job)
        assert do_step(acme, job, step) == "done"
        fences.append(job_row(acme, job).fence)
    assert fences == sorted(set(fences)) == list(range(1, 10))


@pytest.mark.parametrize("step", STEPS)
def test_GOV_F2_a_holder_that_wakes_after_a_takeover_stores_nothing(acme, step):
    job = queue(acme)
    bring_to(acme, job, step)
    before = stored(acme)
    sleeper = claim(acme, job, step)
    assert claim(acme, job, step) is None  # its lease runs
    end_lease(acme, job)
    successor = claim(acme, job, step)
    with pytest.raises(Conflict, match="fence_lost"):
        WORK[step](sleeper)
    assert stored(acme) == before
    WORK[step](successor)
    with pytest.raises(Conflict, match="fence_lost"):
        WORK[step](sleeper)  # also after the successor has gone on
    for later in STEPS[STEPS.index(step) + 1 :]:
        do_step(acme, job, later)
    after_all = stored(acme)
    assert (after_all["parses"], after_all["split"], after_all["completed"]) == (1, 1, 1)
    assert job_row(acme, job).state == "completed"


def test_GOV_F3_a_lease_ends_by_the_clock_of_the_database(acme):
    job = queue(acme, lease_s=1)
    claim(acme, job, "parsing")
    with clock.frozen(clock.now() + timedelta(days=3650)):
        assert claim(acme, job, "parsing") is None  # a worker whose clock runs ahead takes nothing away
    time.sleep(1.05)
    with clock.frozen(clock.now() - timedelta(days=3650)):
        assert claim(acme, job, "parsing") is not None


def test_GOV_F3_a_holder_knows_when_two_thirds_of_its_lease_are_over(acme):
    job = queue(acme, lease_s=90)
    held = claim(acme, job, "parsing")
    assert 55 < held.stop_at - clock.monotonic() <= 60
    assert not held.is_late
    assert replace(held, stop_at=clock.monotonic()).is_late


def test_GOV_F3_a_late_indexer_stops_by_itself_and_the_step_is_tried_again(acme):
    job = queue(acme)
    bring_to(acme, job, "indexing")
    assert do_step(acme, job, "indexing", lambda held: WORK["indexing"](replace(held, stop_at=clock.monotonic()))) == "later"
    row = job_row(acme, job)
    assert (row.state, row.attempts, stored(acme)["vectors"]) == ("indexing", 1, 0)
    with scope(acme.system.grant):
        assert IngestJob.objects.filter(pk=job, lease_until__lt=after(timedelta(seconds=11))).exists()  # soon, not after the whole lease
    end_lease(acme, job)
    assert do_step(acme, job, "indexing") == "done"


def test_GOV_F4_progress_renews_the_lease_and_the_holders_own_stop(acme):
    job = queue(acme, lease_s=30)
    bring_to(acme, job, "indexing")
    held = claim(acme, job, "indexing")
    first = job_row(acme, job)
    renewed = keep_lease(replace(held, stop_at=clock.monotonic()), chunks_embedded=1)
    second = job_row(acme, job)
    assert second.lease_until > first.lease_until
    assert second.progressed_at > first.progressed_at
    assert (second.chunks_embedded, second.attempts, renewed.fence) == (1, 1, held.fence)
    assert not renewed.is_late  # a long document that moves on is not stopped at two thirds of its first lease


def test_GOV_F4_a_holder_without_progress_is_overtaken_though_its_process_lives(acme):
    job = queue(acme, lease_s=1)
    bring_to(acme, job, "indexing")
    held = claim(acme, job, "indexing")
    time.sleep(1.05)
    assert claim(acme, job, "indexing") is not None
    with pytest.raises(Conflict, match="fence_lost"):
        keep_lease(held, chunks_embedded=1)  # a late heartbeat revives nothing


def test_GOV_F4_batches_that_are_in_the_index_are_not_made_again(acme, monkeypatch, tmp_path):
    job = queue(acme, LONG, target_chars=60, max_chars=120)
    bring_to(acme, job, "indexing")
    total = job_row(acme, job).chunks_total
    assert total > 32
    monkeypatch.setenv("RAG4C_FAILPOINT_DIR", str(tmp_path))
    monkeypatch.setenv("RAG4C_FAILPOINTS", "index.batch.commit.after=raise")
    assert do_step(acme, job, "indexing") == "later"
    assert stored(acme)["vectors"] == 32
    end_lease(acme, job)
    assert do_step(acme, job, "indexing") == "done"
    assert (stored(acme)["vectors"], job_row(acme, job).chunks_embedded) == (total, total - 32)


def test_GOV_F5_settings_that_changed_after_queueing_are_seen_by_the_step(acme):
    job = queue(acme)
    bring_to(acme, job, "splitting")
    set_policy(acme, target_chars=60, max_chars=120)
    assert do_step(acme, job, "splitting") == "failed"
    assert (job_row(acme, job).error_code, stored(acme)["chunks"]) == ("settings_changed", 0)


def test_GOV_F5_an_older_revision_that_finishes_last_does_not_take_the_head_back(acme):
    library = make_library(acme, {"leave.md": LEAVE})
    documents.sync_source(actor=acme.alice, source_id=library.source_id)
    library.write({"leave.md": LEAVE.replace("25", "26")})
    documents.sync_source(actor=acme.alice, source_id=library.source_id)
    with scope(acme.system.grant):
        older, newer = IngestJob.objects.order_by("revision__number").values_list("pk", flat=True)
    for job in (newer, older):
        for step in STEPS:
            assert do_step(acme, job, step) == "done"
    with scope(acme.system.grant):
        assert list(Document.objects.values_list("head__number", flat=True)) == [2]


def test_GOV_F6_a_late_indexer_of_a_deleted_document_makes_nothing_retrievable(acme):
    library = make_library(acme, {"leave.md": LEAVE, "hotel.md": "# Travel\n\nHotels cost at most 140 euros a night.\n"})
    documents.sync_source(actor=acme.alice, source_id=library.source_id)
    with scope(acme.system.grant):
        job = IngestJob.objects.get(revision__document__path="hotel.md").pk
    bring_to(acme, job, "indexing")
    sleeper = claim(acme, job, "indexing")
    (library.folder / "hotel.md").unlink()
    documents.sync_source(actor=acme.alice, source_id=library.source_id)
    WORK["indexing"](sleeper)
    work_off(acme)
    library.release()
    assert ask(acme.bob, "How much may hotels cost a night?").status == "abstained"


FORWARD = [("waiting", "parsing"), ("parsing", "splitting"), ("splitting", "indexing"), ("indexing", "completed"), ("error", "waiting")]
ALLOWED = {*FORWARD, *((state, "error") for state in ("waiting", "parsing", "splitting", "indexing"))}


@pytest.mark.parametrize("source", INGEST_JOB.states)
def test_GOV_F7_the_machine_moves_one_step_forward_or_to_error(source):
    for target in INGEST_JOB.states:
        if (source, target) in ALLOWED:
            INGEST_JOB.check(source, target)
            continue
        with pytest.raises(Conflict, match="state_move_refused"):
            INGEST_JOB.check(source, target)


@pytest.mark.parametrize("step", STEPS)
def test_GOV_F7_no_step_can_be_left_out_or_done_twice(acme, step):
    job = queue(acme)
    bring_to(acme, job, step)
    others = [other for other in STEPS if other != step]
    assert [claim(acme, job, other) for other in others] == [None, None]
    held = claim(acme, job, step)
    with pytest.raises(Conflict, match="state_move_refused"):
        move_on(held, "waiting")
    WORK[step](held)
    assert claim(acme, job, step) is None


def test_GOV_F7_a_retry_is_an_explicit_new_attempt_by_someone_who_may(acme):
    job = queue(acme, b"<html><body>" + b"<div>" * 400 + b"deep")
    with pytest.raises(Conflict, match="state_move_refused"):
        documents.retry_job(actor=acme.alice, job_id=job)  # it waits: nothing to retry
    job_before = do_step(acme, job, "parsing", lambda _: (_ for _ in ()).throw(Permanent("broken", "It is broken.")))
    assert job_before == "failed"
    assert claim(acme, job, "parsing") is None  # no sweep brings it back
    with pytest.raises(Denied):
        documents.retry_job(actor=acme.bob, job_id=job)
    documents.retry_job(actor=acme.alice, job_id=job)
    row = job_row(acme, job)
    assert (row.state, row.attempts, row.error_reason, row.error_code) == ("waiting", 0, "", "")
    assert event_codes(acme).count("job.retried") == 1


@pytest.mark.parametrize("step", STEPS)
def test_GOV_F7_a_retry_after_an_error_at_any_step_completes(acme, step):
    job = queue(acme)
    bring_to(acme, job, step)
    assert do_step(acme, job, step, lambda _: (_ for _ in ()).throw(Permanent("broken", "It is broken."))) == "failed"
    documents.retry_job(actor=acme.alice, job_id=job)
    work_off(acme)
    row = job_row(acme, job)
    assert (row.state, row.error_code, row.chunks_total) == ("completed", "", 2)
    after_all = stored(acme)
    assert (after_all["parses"], after_all["chunks"], after_all["vectors"], after_all["completed"]) == (1, 2, 2, 1)


def test_GOV_F7_R13_queued_running_and_stuck_are_told_apart_and_stuck_is_derived(acme):
    job = queue(acme)

    def counts():
        return {name: count for name, count in documents.count_jobs(actor=acme.alice).items() if count}

    assert counts() == {"queued": 1}
    claim(acme, job, "parsing")
    assert counts() == {"running": 1}
    end_lease(acme, job)
    assert counts() == {"stuck": 1}
    assert "stuck" not in INGEST_JOB.states
    assert do_step(acme, job, "parsing") == "done"
    assert counts() == {"running": 1}


def test_GOV_F8_completed_only_when_the_counts_agree(acme):
    job = queue(acme)
    bring_to(acme, job, "indexing")
    for read_back in (0, 1, 3):
        held = claim(acme, job, "indexing")
        with pytest.raises(Transient, match="count_mismatch"):
            finish_indexing(held, embedded=2, read_back=read_back)
        end_lease(acme, job)
    assert (job_row(acme, job).state, stored(acme)["completed"]) == ("indexing", 0)


def test_GOV_F8_a_vector_that_the_store_lost_is_noticed_before_completed(real_db, postgres_clones):
    acme = make_tenant("acme")
    job = queue(acme)
    bring_to(acme, job, "indexing")
    with scope(acme.system.grant):
        lost, table = ChunkVersion.objects.order_by("pk")[0].pk, vector_tables()[0]
    losing = f"""CREATE FUNCTION lose_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                   IF NEW.chunk_version_id = '{lost}' THEN RETURN NULL; END IF; RETURN NEW; END $$;
                 CREATE TRIGGER lose_one BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION lose_one();"""
    with psycopg.connect(postgres_clones.dsn("postgres", real_db), autocommit=True) as admin:
        admin.execute(losing)
        assert do_step(acme, job, "indexing") == "later"
        row = job_row(acme, job)
        assert (row.state, stored(acme)["vectors"], stored(acme)["completed"]) == ("indexing", 1, 0)
        admin.execute(f"DROP TRIGGER lose_one ON {table}")
    end_lease(acme, job)
    assert do_step(acme, job, "indexing") == "done"
    assert (job_row(acme, job).state, stored(acme)["vectors"]) == ("completed", 2)


@pytest.mark.parametrize("step", STEPS)
def test_GOV_F9_attempts_count_before_work_and_one_too_many_quarantines(acme, step):
    job = queue(acme, max_attempts=2)
    bring_to(acme, job, step)
    for attempt in (1, 2):
        assert claim(acme, job, step) is not None
        assert job_row(acme, job).attempts == attempt  # on record, though nothing was done yet
        end_lease(acme, job)
    assert claim(acme, job, step) is None
    row = job_row(acme, job)
    assert (row.state, row.error_reason, row.error_code) == ("error", "quarantined", "too_many_attempts")
    assert step in row.error_message
    assert event_codes(acme).count("revision.failed") == 1
    assert [code for _path, code, _text in documents.list_failures(actor=acme.alice)] == ["too_many_attempts"]


def test_GOV_F9_attempts_are_of_a_step_and_begin_anew_at_the_next(acme):
    job = queue(acme, max_attempts=2)
    for step in STEPS:
        claim(acme, job, step)
        end_lease(acme, job)
        assert do_step(acme, job, step) == "done"  # the second attempt of each
    assert job_row(acme, job).state == "completed"


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (Permanent("too_deep", "x"), Permanent, "too_deep"),
        (Transient("blob_unreadable", "x"), Transient, "blob_unreadable"),
        (Unavailable("model_away", "x"), Transient, "model_away"),
        (Invalid("bad", "x"), Permanent, "bad"),
        (Conflict("state_move_refused", "x"), Permanent, "state_move_refused"),
        (DataError("x"), Permanent, "not_storable"),
        (IntegrityError("x"), Permanent, "not_storable"),
        (OperationalError("x"), Transient, "step_failed"),
        (OSError("x"), Transient, "step_failed"),
        (MemoryError(), Transient, "step_failed"),
        (ValueError("x"), Transient, "step_failed"),
    ],
)
def test_one_classifier_decides_between_again_and_never(error, kind, code):
    verdict = classify(error)
    assert (type(verdict), verdict.code) == (kind, code)


def test_no_text_of_an_unknown_error_reaches_the_job():
    assert "secret" not in str(classify(ValueError("secret")))


@pytest.mark.parametrize(
    ("error", "outcome", "state"),
    [(Permanent("x", "x"), "failed", "error"), (Unavailable("x", "x"), "later", "parsing"), (ValueError("x"), "later", "parsing")],
)
def test_GOV_F7_a_steps_error_is_recorded_on_its_job(acme, error, outcome, state):
    job = queue(acme)

    def fail(_):
        raise error

    assert do_step(acme, job, "parsing", fail) == outcome
    assert job_row(acme, job).state == state


def test_R12_a_failing_file_stops_nobody_else_at_any_step(acme):
    library = make_library(acme, {"good.md": LEAVE, "deep.html": b"<html><body>" + b"<div>" * 400, "bad.md": b"\xff\xfe\x00"})
    report = library.sync()
    counts = documents.count_jobs(actor=acme.alice)
    assert counts["completed"] == 1
    assert counts["error"] == report.documents_added - 1 > 0
    assert counts["queued"] + counts["running"] + counts["stuck"] == 0
    assert {"deep.html", "bad.md"} == {path for path, _code, _text in documents.list_failures(actor=acme.alice)}
    assert retrieval.draft_manifest(actor=acme.alice, knowledge_base_id=library.base_id).item_count == 1


def test_R13_the_sweep_finds_what_waits_or_was_left_and_nothing_else(real_db, postgres_clones):
    acme = make_tenant("acme")
    job = queue(acme)
    with psycopg.connect(postgres_clones.dsn("rag4c_system", real_db), autocommit=True) as system:

        def due():
            jobs = {row[0] for row in system.execute("SELECT job_id FROM rag4c_due_jobs(500)")}
            return job in jobs, len(system.execute("SELECT * FROM rag4c_due_deliveries(500)").fetchall())

        assert due() == (True, 0)  # the message may have been lost
        claim(acme, job, "parsing")
        assert due() == (False, 0)
        end_lease(acme, job)
        assert due() == (True, 0)
        for step in ("parsing", "splitting"):
            assert do_step(acme, job, step) == "done"
        assert due() == (False, 1)  # from here the delivery of `revision.split` drives it
        work_off(acme)
        assert due() == (False, 0)
    assert job_row(acme, job).state == "completed"
