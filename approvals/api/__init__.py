"""What other apps may call of approvals."""

from approvals.api.break_glass import break_glass, review_break_glass
from approvals.api.delegations import delegate, end_absence, end_delegation, set_absence
from approvals.api.executing import advance_request, execute_approved, execute_request, find_due_approvals
from approvals.api.forecasts import simulate, why_blocked
from approvals.api.policies import list_offers, preview_policy, seed_policies, set_policy
from approvals.api.policy_gate import PolicyGate
from approvals.api.reading import (
    describe_payload,
    describe_request,
    list_inbox,
    list_mine,
    list_requests,
    list_votes,
    needs_of,
    read_request,
    view_rows,
)
from approvals.api.requests import cancel_request, comment, submit_request
from approvals.api.voting import vote
from approvals.contract import Obstacle, PersonForecast, RequestView, Simulation, StageForecast, StageSpec, VoteView

__all__ = [
    "Obstacle",
    "PersonForecast",
    "PolicyGate",
    "RequestView",
    "Simulation",
    "StageForecast",
    "StageSpec",
    "VoteView",
    "advance_request",
    "break_glass",
    "cancel_request",
    "comment",
    "delegate",
    "describe_payload",
    "describe_request",
    "end_absence",
    "end_delegation",
    "execute_approved",
    "execute_request",
    "find_due_approvals",
    "list_inbox",
    "list_mine",
    "list_offers",
    "list_requests",
    "list_votes",
    "needs_of",
    "preview_policy",
    "read_request",
    "review_break_glass",
    "seed_policies",
    "set_absence",
    "set_policy",
    "simulate",
    "submit_request",
    "view_rows",
    "vote",
    "why_blocked",
]
