"""kill -9 of the voter and the executor at every crash point: the change, its permit, execution and event are all there once, or none of them."""

from __future__ import annotations

import signal

import psycopg
import pytest

from tests.reliability.lab import declared_points

MIN_POINTS = 6
TIME_PASSES = "UPDATE approvals_approvalrequest SET wake_at = clock_timestamp() - interval '1 second' WHERE state IN ('pending', 'approved')"
BOOKS = {
    "states": "SELECT state FROM approvals_approvalrequest",
    "votes": "SELECT count(*) FROM approvals_vote",
    "permits": "SELECT count(*) FROM approvals_permit WHERE used_at IS NOT NULL",
    "executions": "SELECT count(*) FROM approvals_execution",
    "roles": "SELECT count(*) FROM tenants_roleassignment WHERE role = 'knowledge_manager' AND valid_to IS NULL",
    "events": "SELECT code, count(*) FROM ledger_event WHERE code IN ('approval.voted', 'approval.approved', 'approval.executed', 'approval.failed') "
    "GROUP BY 1 ORDER BY 1",
}
OLD = {"states": [("pending",)], "votes": [(0,)], "permits": [(0,)], "executions": [(0,)], "roles": [(0,)], "events": []}
VOTED = {**OLD, "states": [("approved",)], "votes": [(1,)], "events": [("approval.approved", 1), ("approval.voted", 1)]}
DONE = {
    "states": [("executed",)],
    "votes": [(1,)],
    "permits": [(1,)],
    "executions": [(1,)],
    "roles": [(1,)],
    "events": [("approval.approved", 1), ("approval.executed", 1), ("approval.voted", 1)],
}


def read_books(lab, database):
    return {name: lab.query(database, statement) for name, statement in BOOKS.items()}


@pytest.fixture(scope="module")
def asked(lab):
    """(template with an open request, its ids)."""
    template = lab.new_database("rag4c_template")
    ids = lab.ask_for(template, "prepare_approval")
    yield template, ids
    lab.drop(template)


def crash(lab, asked, point, at=1):
    """What is wrong after the kill, and after the sweep, a message that comes late and a second click. Empty: survived."""
    template, ids = asked
    database = lab.new_database(template)
    try:
        killed = lab.call(database, "approve_and_run", ids=ids, failpoints=f"{point}=kill@{at}")
        faults = [] if killed.exit == -signal.SIGKILL else [f"not killed but ended with {killed.exit}: {killed.result}"]
        wreck = read_books(lab, database)
        faults += [] if wreck in (OLD, VOTED, DONE) else [f"between two states: {wreck}"]
        lab.ask_for(database, "vote_again", ids=ids)
        for _ in range(2):
            with psycopg.connect(lab.clones.dsn("postgres", database), autocommit=True) as conn:
                conn.execute(TIME_PASSES)
            due = lab.ask_for(database, "find_due_approvals", role="system")
            lab.ask_for(database, "advance", due=due)
        lab.recover(database)  # the deliveries of `approval.approved` come last, when all is done
        found = read_books(lab, database)
        return faults if found == DONE else [*faults, f"{found} instead of {DONE}"]
    finally:
        lab.drop(database)


def test_every_declared_point_lies_on_the_way(lab, asked):
    template, ids = asked
    database = lab.new_database(template)
    try:
        never = ",".join(f"{name}=kill@1000000" for name in declared_points(["approval"]))
        passes = lab.ask_for(database, "approve_and_run", ids=ids, failpoints=never)
        assert sorted(passes) == declared_points(["approval"])
        assert len(passes) >= MIN_POINTS
        assert read_books(lab, database) == DONE
    finally:
        lab.drop(database)


@pytest.mark.parametrize("point", ["approval.execute.after", "approval.commit.after"])
def test_GOV_A1_A12_a_killed_executor_leaves_all_or_nothing(lab, asked, point):
    assert crash(lab, asked, point) == []


@pytest.mark.slow
def test_GOV_A1_A12_a_kill_at_every_point_of_an_approval_is_survived(lab, asked, capsys):
    found = {point: crash(lab, asked, point) for point in declared_points(["approval"])}
    survived = [point for point, faults in found.items() if not faults]
    with capsys.disabled():
        print(f"\napproval_crash_points={len(found)} survived={len(survived)}")
    assert {point: faults for point, faults in found.items() if faults} == {}
    assert sorted(survived) == declared_points(["approval"])
