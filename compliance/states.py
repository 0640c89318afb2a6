"""An export is written file by file; a task of the task centre is somebody's until it is resolved."""

from rag4c.kernel.states import Machine, Transition

EXPORT_JOB = Machine(
    "export_job",
    ("waiting", "running", "done", "failed"),
    (
        Transition("waiting", "running", "claimed"),
        Transition("running", "done", "manifest signed"),
        Transition("running", "failed", "cannot be written"),
        Transition("failed", "running", "tried again"),
    ),
)
TASK = Machine(
    "task",
    ("open", "claimed", "snoozed", "resolved"),
    (
        Transition("open", "claimed", "claimed or assigned"),
        Transition("open", "snoozed", "snoozed"),
        Transition("open", "resolved", "resolved"),
        Transition("claimed", "claimed", "assigned to another person"),
        Transition("claimed", "open", "given back"),
        Transition("claimed", "snoozed", "snoozed"),
        Transition("claimed", "resolved", "resolved"),
        Transition("snoozed", "claimed", "claimed or assigned"),
        Transition("snoozed", "open", "woken"),
        Transition("snoozed", "resolved", "resolved"),
    ),
)
