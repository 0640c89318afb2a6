"""The life of a request and of a break-glass review. `superseded` and `expired` are derived at every touch and written down then."""

from rag4c.kernel.states import Machine, Transition

APPROVAL = Machine(
    "approval_request",
    ("pending", "approved", "executing", "executed", "failed", "rejected", "expired", "superseded", "cancelled"),
    (
        Transition("pending", "pending", "a stage is passed"),
        Transition("pending", "approved", "last vote of the last stage"),
        Transition("pending", "rejected", "veto, or the quorum cannot be reached"),
        Transition("pending", "superseded", "the subject was edited"),
        Transition("pending", "expired", "escalated, then out of time"),
        Transition("pending", "cancelled", "cancelled by the requester"),
        Transition("approved", "pending", "a vote does not count any more"),
        Transition("approved", "executing", "a one-time permit is issued"),
        Transition("approved", "superseded", "the subject was edited"),
        Transition("approved", "expired", "out of time"),
        Transition("approved", "cancelled", "cancelled by the requester"),
        Transition("executing", "executed", "the change is done"),
        Transition("executing", "failed", "the door refused the change"),
        Transition("executing", "superseded", "the subject was edited first"),
    ),
)
BREAK_GLASS = Machine(
    "break_glass_review",
    ("open", "overdue", "confirmed", "disputed"),
    (
        Transition("open", "confirmed", "a second person agrees"),
        Transition("open", "disputed", "a second person disagrees"),
        Transition("open", "overdue", "the deadline passed"),
        Transition("overdue", "confirmed", "a second person agrees, late"),
        Transition("overdue", "disputed", "a second person disagrees, late"),
    ),
)
OPEN = ("pending", "approved")
