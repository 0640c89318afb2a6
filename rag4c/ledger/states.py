"""A delivery is owed to a handler until it was done or given up."""

from rag4c.kernel.states import Machine, Transition

DELIVERY = Machine(
    "delivery",
    ("pending", "done", "attention"),
    (
        Transition("pending", "done", "handled"),
        Transition("pending", "attention", "too many attempts"),
        Transition("attention", "pending", "retried by a person"),
    ),
)
