"""The machine of a change of readers: what it gives waits, then is applied, or never will be (GOV-B1, B2)."""

from rag4c.kernel.states import Machine, Transition

ACL_CHANGE = Machine(
    "acl_change",
    ("waiting", "applied", "stale", "withdrawn"),
    (
        Transition("waiting", "applied", "the gate let it pass"),
        Transition("waiting", "stale", "its base had changed"),
        Transition("waiting", "withdrawn", "taken back by a person"),
    ),
)
