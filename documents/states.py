"""The ingest machine (GOV-F7): one step forward at a time, or to error; a retry is an explicit new attempt. Stuck is derived, never stored."""

from rag4c.kernel.states import Machine, Transition

INGEST_JOB = Machine(
    "ingest_job",
    ("waiting", "parsing", "splitting", "indexing", "completed", "error"),
    (
        Transition("waiting", "parsing", "claimed"),
        Transition("parsing", "splitting", "parsed"),
        Transition("splitting", "indexing", "split"),
        Transition("indexing", "completed", "counts read back"),
        Transition("waiting", "error", "quarantined or cancelled"),
        Transition("parsing", "error", "failed, quarantined or cancelled"),
        Transition("splitting", "error", "failed, quarantined or cancelled"),
        Transition("indexing", "error", "failed, quarantined or cancelled"),
        Transition("error", "waiting", "retried by a person"),
    ),
)
RUNNING = ("waiting", "parsing", "splitting", "indexing")
