"""Real Celery on real Redis: workers are killed, the broker forgets everything, and every document is completed exactly once."""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import UTC, datetime

import pytest
from redis import Redis

from tests.reliability import state
from tests.reliability.workers import Workers

SWEEP_S = 1.0
HELD = "SELECT id FROM documents_ingestjob WHERE state = 'indexing' AND lease_until > clock_timestamp()"


@pytest.fixture
def broker(lab):
    client = Redis.from_url(lab.broker.url())
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def make_workers(lab, broker):
    made, databases = [], []

    def make(count, **env):
        database = lab.new_database("rag4c_template")
        databases.append(database)
        ids = lab.ask_for(database, "prepare_many", count=count, lease_s=4, max_attempts=5)
        made.append(Workers(lab, database, env=env))
        return made[0], ids

    yield make
    for workers in made:
        workers.stop()
    for database in databases:
        lab.drop(database)


def all_done(completed, total):
    return completed == total > 0


def check_exactly_once(lab, workers, count):
    """Each document once, whole, and nothing owed."""
    # a job is completed a moment before its delivery is closed
    deadline = time.monotonic() + 60
    while lab.query(workers.database, "SELECT 1 FROM ledger_delivery WHERE state <> 'done'") and time.monotonic() < deadline:
        time.sleep(0.2)
    found = state.read(lab, workers.database, state.SYNCED, state.INDEXED)
    assert [row[2] for row in found["jobs"]] == [1] * count
    assert {row[2] for row in found["states"]} == {"completed"}
    assert found["vectors"] == found["versions"]
    assert [row[2] for row in found["deliveries"]] == ["done"]
    events = {code: (total, subjects) for code, total, subjects in found["events"]}
    assert events["revision.split"] == events["revision.completed"] == (count, count)
    assert "revision.failed" not in events
    assert state.find_violations(lab, workers.database) == []


def sweeping(lab, workers):
    """A sweep now and then, for tests without beat."""
    last = [time.monotonic()]

    def sweep():
        if time.monotonic() - last[0] > SWEEP_S:
            lab.ask_for(workers.database, "sweep", role="system")
            last[0] = time.monotonic()

    return sweep


def test_R13_a_killed_pool_child_and_a_forgetful_broker_cost_time_but_no_document(lab, broker, make_workers, tmp_path):
    workers, ids = make_workers(3, RAG4C_FAILPOINTS="index.embed.after=kill", RAG4C_FAILPOINT_DIR=str(tmp_path))
    assert lab.ask_for(workers.database, "only_sync", ids=ids)["added"] == 3
    broker.flushall()  # the messages of the sync are gone before a worker saw them
    workers.start("worker")
    workers.wait_for(all_done, timeout_s=90, meanwhile=sweeping(lab, workers))
    assert (tmp_path / "index.embed.after").exists()  # a worker was killed with vectors in its hands
    check_exactly_once(lab, workers, 3)


def test_R13_messages_of_a_sweep_end_by_themselves_so_that_fresh_work_does_not_wait_behind_repetitions(lab, broker, make_workers):
    workers, ids = make_workers(2)
    lab.ask_for(workers.database, "only_sync", ids=ids)
    broker.flushall()
    started = datetime.now(UTC)  # read from outside, as a stranger would
    assert [lab.ask_for(workers.database, "sweep", role="system") for _ in range(3)] == [2, 2, 2]
    ends = [json.loads(message)["headers"]["expires"] for message in broker.lrange("celery", 0, -1)]
    assert len(ends) == 6
    assert all(0 < (datetime.fromisoformat(end) - started).total_seconds() < 90 for end in ends)


@pytest.mark.slow
def test_GOV_F2_killed_pool_children_and_workers_lose_and_double_nothing(lab, make_workers, capsys):
    workers, ids = make_workers(12)
    workers.start("worker", "system", "beat")
    lab.ask_for(workers.database, "only_sync", ids=ids)
    workers.wait_for(lambda completed, _: completed >= 2, timeout_s=120)
    workers.kill_pool_child()
    workers.wait_for(lambda completed, _: completed >= 5, timeout_s=120)
    workers.kill_group("worker")
    left = workers.lab.query(workers.database, "SELECT count(*) FROM documents_ingestjob WHERE state <> 'completed'")[0][0]
    time.sleep(5)  # longer than a lease: nobody renews it
    workers.start("worker")
    started = time.monotonic()
    workers.wait_for(all_done, timeout_s=180)
    check_exactly_once(lab, workers, 12)
    with capsys.disabled():
        print(f"\nworker_kills=2 documents=12 open_at_kill={left} lost=0 doubled=0 recovery_s={time.monotonic() - started:.0f}")


@pytest.mark.slow
def test_GOV_F2_a_worker_frozen_past_its_lease_wakes_and_writes_nothing(lab, make_workers, capsys):
    workers, ids = make_workers(8)
    lab.ask_for(workers.database, "only_sync", ids=ids)
    workers.start("worker", "system", "beat")
    workers.wait_for(lambda completed, _: completed >= 1 and bool(lab.query(workers.database, HELD)), timeout_s=120)
    frozen = workers.freeze("worker")
    held = lab.query(workers.database, HELD)
    assert held  # frozen with a batch in its hands
    workers.start("worker")
    workers.wait_for(all_done, timeout_s=180)
    os.killpg(frozen.pid, signal.SIGCONT)
    time.sleep(5)  # it finishes what it had begun, and is refused
    check_exactly_once(lab, workers, 8)
    refused = (lab.root / "worker.log").read_text().count("job.fence_lost")
    with capsys.disabled():
        print(f"\nfrozen_workers=1 steps_held_when_frozen={len(held)} stale_writes_refused={refused} stale_writes_accepted=0")
    assert refused >= 1


@pytest.mark.slow
def test_R13_a_broker_that_forgets_everything_in_the_middle_costs_nothing(lab, broker, make_workers, capsys):
    workers, ids = make_workers(12)
    workers.start("worker", "system", "beat")
    lab.ask_for(workers.database, "only_sync", ids=ids)
    workers.wait_for(lambda completed, _: completed >= 3, timeout_s=120)
    broker.flushall()
    left = workers.lab.query(workers.database, "SELECT count(*) FROM documents_ingestjob WHERE state <> 'completed'")[0][0]
    started = time.monotonic()
    workers.wait_for(all_done, timeout_s=180)
    check_exactly_once(lab, workers, 12)
    with capsys.disabled():
        print(f"\nbroker_flushes=1 documents=12 open_at_flush={left} lost=0 doubled=0 recovery_s={time.monotonic() - started:.0f}")
