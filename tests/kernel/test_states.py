"""State machines as tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag4c.kernel.errors import Conflict
from rag4c.kernel.states import Machine, Transition

DOOR = Machine(
    "door",
    ("open", "closed", "gone"),
    (Transition("open", "closed", "shut"), Transition("closed", "open", "opened"), Transition("closed", "gone", "removed")),
)


def test_the_first_state_is_initial_and_those_without_a_way_out_are_terminal():
    assert DOOR.initial == "open"
    assert DOOR.terminal == {"gone"}
    assert DOOR.choices == [("open", "open"), ("closed", "closed"), ("gone", "gone")]


@pytest.mark.parametrize(("source", "target"), [("open", "elsewhere"), ("elsewhere", "open")])
def test_a_move_from_or_to_an_unknown_state_cannot_be_declared(source, target):
    with pytest.raises(ValueError, match="door: unknown state"):
        Machine("door", ("open",), (Transition(source, target, "x"),))


@given(st.sampled_from(DOOR.states), st.sampled_from(DOOR.states))
def test_GOV_F7_only_moves_of_the_table_are_allowed(source, target):
    if (source, target) in {("open", "closed"), ("closed", "open"), ("closed", "gone")}:
        assert DOOR.allows(source, target)
        DOOR.check(source, target)
        return
    assert not DOOR.allows(source, target)
    with pytest.raises(Conflict) as caught:
        DOOR.check(source, target)
    assert (caught.value.code, caught.value.data) == ("state_move_refused", {"from": source, "to": target})


def test_GOV_F7_the_ingest_machine_moves_one_step_forward_or_to_error():
    from documents.states import INGEST_JOB

    path = ("waiting", "parsing", "splitting", "indexing", "completed")
    for place, source in enumerate(path):
        for target in path:
            assert INGEST_JOB.allows(source, target) == (path.index(target) == place + 1), (source, target)
        assert INGEST_JOB.allows(source, "error") == (source != "completed")
    assert INGEST_JOB.terminal == {"completed"}


def test_the_diagram_is_the_table():
    assert DOOR.mermaid() == (
        "# door\n\n```mermaid\nstateDiagram-v2\n    [*] --> open\n    open --> closed: shut\n    closed --> open: opened\n"
        "    closed --> gone: removed\n    gone --> [*]\n```\n"
    )
