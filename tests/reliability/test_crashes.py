"""kill -9 of the worker at every crash point, on the way from a folder to an answer: every document completed exactly once, old state or new."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.reliability import state
from tests.reliability.lab import declared_points

if TYPE_CHECKING:
    from tests.reliability.lab import Lab

AREAS = ("ingest", "index", "blob", "ledger", "sync", "manifest", "release", "answer")
MIN_POINTS = 32  # a lane that shrinks fails
QUICK = ("ingest.parsing.commit.after", "index.batch.commit.after", "sync.commit.before", "release.commit.before")
SERVES = {1: "25 days", 2: "26 days"}
PARTS = (state.SYNCED, state.DRAFTED, state.RELEASED, state.INDEXED)


@dataclass(frozen=True, slots=True)
class Stage:
    """A database with version one live and version two in the folder; what both look like; how often an undisturbed run passes each point."""

    template: str
    ids: dict[str, str]
    old: dict[str, Any]
    new: dict[str, Any]
    passes: dict[str, int]


@pytest.fixture(scope="module")
def stage(lab):
    template = lab.new_database("rag4c_template")
    ids = lab.ask_for(template, "prepare")
    undisturbed = lab.new_database(template)
    never = ",".join(f"{name}=kill@1000000" for name in declared_points(AREAS))
    first = lab.ask_for(undisturbed, "go_through", ids=ids, failpoints=never)
    assert SERVES[2] in first["answer"]
    yield Stage(template, ids, state.read(lab, template, *PARTS), state.read(lab, undisturbed, *PARTS), first["passes"])
    lab.drop(undisturbed)
    lab.drop(template)


def test_every_declared_point_lies_on_the_way(stage):
    declared = declared_points(AREAS)
    assert len(declared) >= MIN_POINTS
    assert sorted(stage.passes) == declared


def test_the_undisturbed_run_changes_what_it_should(lab, stage):
    assert stage.new["documents"] == [("leave.md", "live", None), ("rooms.md", "live", None), ("travel.md", "tombstoned", 2)]
    assert {row[2] for row in stage.new["states"]} == {"completed"}
    assert stage.new["vectors"] == stage.new["versions"] != stage.old["versions"]
    assert [row[0] for row in stage.new["manifests"]] == [1, 2]
    assert state.find_violations(lab, stage.template) == []


@pytest.mark.parametrize("point", QUICK)
def test_a_kill_at_a_step_boundary_loses_and_doubles_nothing(lab, stage, point):
    assert crash_and_recover(lab, stage, point, 1) == []


@pytest.mark.slow
def test_GOV_F9_a_kill_at_every_crash_point_is_survived(lab, stage, capsys):
    cases = [(point, at) for point, passes in sorted(stage.passes.items()) for at in sorted({1, passes})]
    found = {f"{point}@{at}": crash_and_recover(lab, stage, point, at) for point, at in cases}
    survived = [name for name, faults in found.items() if not faults]
    with capsys.disabled():
        print(f"\ncrash_points={len(stage.passes)} kills={len(found)} survived={len(survived)}")
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert {name.split("@")[0] for name in survived} == set(declared_points(AREAS))


def crash_and_recover(lab: Lab, stage: Stage, point: str, at: int) -> list[str]:
    """What is wrong right after the kill, and after the sweeps and a person's repetition. Empty: survived."""
    database = lab.new_database(stage.template)
    try:
        killed = lab.call(database, "go_through", ids=stage.ids, failpoints=f"{point}=kill@{at}")
        faults = [] if killed.exit == -signal.SIGKILL else [f"not killed but ended with {killed.exit}: {killed.result}"]
        faults += check_the_wreck(lab, stage, database)
        lab.recover(database)
        faults += state.find_violations(lab, database)
        lab.ask_for(database, "only_sync", ids=stage.ids)
        lab.recover(database)
        lab.ask_for(database, "publish", ids=stage.ids)
        answer = lab.ask_for(database, "answer", ids=stage.ids)
        faults += [] if SERVES[2] in answer else [f"answers {answer!r}"]
        faults += state.find_violations(lab, database)
        return faults + state.differences(state.read(lab, database, *PARTS), stage.new)
    finally:
        lab.drop(database)


def check_the_wreck(lab: Lab, stage: Stage, database: str) -> list[str]:
    """Sync, manifest and release are each at the old state or the new one, never between, and what is served is what the channel says."""
    faults = state.find_violations(lab, database)
    for part in (state.SYNCED, state.DRAFTED, state.RELEASED):
        rows = state.read(lab, database, part)
        if rows not in ({name: stage.old[name] for name in part}, {name: stage.new[name] for name in part}):
            faults.append(f"between two states: {rows}")
    (seq,) = lab.query(database, "SELECT m.seq FROM retrieval_channel c JOIN retrieval_manifest m ON m.id = c.manifest_id WHERE c.name = 'live'")[0]
    answer = lab.ask_for(database, "answer", ids=stage.ids)
    return faults if SERVES[seq] in answer else [*faults, f"serves {answer!r} at manifest {seq}"]
