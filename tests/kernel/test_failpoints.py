"""Failpoints do nothing unless armed, and then exactly once over all processes; killing is tried on forked children."""

from __future__ import annotations

import os
import signal

import pytest

from rag4c.kernel import failpoints
from rag4c.kernel.errors import Transient
from rag4c.kernel.failpoints import fp


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(failpoints, "_passes", type(failpoints._passes)())
    monkeypatch.setattr(failpoints, "_drop_connection", list(failpoints._drop_connection))
    monkeypatch.delenv("RAG4C_FAILPOINTS", raising=False)
    monkeypatch.delenv("RAG4C_FAILPOINT_DIR", raising=False)


def run_child(action):
    """Exit code of a forked child, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_an_unarmed_point_does_nothing():
    for _ in range(3):
        fp("a.commit.before")
    assert not failpoints._passes


def test_another_points_arming_does_nothing(monkeypatch):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a.commit.before=raise")
    fp("a.commit")
    fp("a.commit.after")
    assert not failpoints._passes


def test_a_point_raises_at_its_pass_and_once(monkeypatch):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "x=raise,a=raise@3")
    fp("a")
    fp("a")
    with pytest.raises(Transient) as caught:
        fp("a")
    assert (caught.value.code, caught.value.data) == ("failpoint", {"name": "a"})
    for _ in range(5):
        fp("a")
    with pytest.raises(Transient):
        fp("x")


def test_a_kill_is_a_kill_nine(monkeypatch):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a=kill@2")
    assert run_child(lambda: (fp("a"), os._exit(0))) == 0
    assert run_child(lambda: (fp("a"), fp("a"), os._exit(0))) == -signal.SIGKILL


def test_a_point_fires_once_over_all_processes(monkeypatch, tmp_path):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a=kill,b=kill")
    monkeypatch.setenv("RAG4C_FAILPOINT_DIR", str(tmp_path))
    codes = [run_child(lambda: (fp("a"), os._exit(0))) for _ in range(4)]
    assert codes == [-signal.SIGKILL, 0, 0, 0]
    assert run_child(lambda: (fp("b"), os._exit(0))) == -signal.SIGKILL
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_folder_remembers_for_a_process_that_starts_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a=raise")
    monkeypatch.setenv("RAG4C_FAILPOINT_DIR", str(tmp_path))
    with pytest.raises(Transient):
        fp("a")
    failpoints._passes.clear()  # as in a new process
    fp("a")


def test_the_signal_goes_to_the_own_process_only(monkeypatch):
    sent = []
    monkeypatch.setattr(failpoints.os, "kill", lambda *call: sent.append(call))
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a=kill")
    fp("a")
    assert sent == [(os.getpid(), signal.SIGKILL)]


def test_two_processes_at_the_same_time_fire_it_once(monkeypatch, tmp_path):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a=kill")
    monkeypatch.setenv("RAG4C_FAILPOINT_DIR", str(tmp_path))
    reading, writing = os.pipe()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                os.close(writing)
                os.read(reading, 1)  # all start together when the parent closes its end
                fp("a")
            finally:
                os._exit(0)
        children.append(child)
    os.close(writing)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(reading)
    assert sorted(codes) == [-signal.SIGKILL, 0, 0, 0]


def test_a_point_can_sleep_or_drop_the_connection(monkeypatch):
    slept, dropped = [], []
    monkeypatch.setattr(failpoints.time, "sleep", slept.append)
    failpoints.on_dropconn(lambda: dropped.append("first"))
    failpoints.on_dropconn(lambda: dropped.append("second"))  # wiring may run twice; the last one counts
    monkeypatch.setenv("RAG4C_FAILPOINTS", "s=sleep,d=dropconn")
    fp("s")
    fp("d")
    assert (slept, dropped) == ([failpoints.SLEEP_S], ["second"])


def test_a_dropped_connection_is_really_gone(real_db, monkeypatch):
    from django.db import connection

    from rag4c.scope.manager import outside_scope

    monkeypatch.setenv("RAG4C_FAILPOINTS", "d=dropconn")
    with outside_scope("probe"):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        assert connection.connection is not None
        fp("d")
        assert connection.connection is None


def test_an_unknown_action_is_an_error_and_not_a_silent_nothing(monkeypatch):
    monkeypatch.setenv("RAG4C_FAILPOINTS", "a=explode")
    with pytest.raises(ValueError, match="explode"):
        fp("a")
