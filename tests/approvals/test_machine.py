"""GOV-A as a state machine against Postgres: the table of governance.md is the model, the database must agree with it after every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from approvals import api
from rag4c.kernel.errors import DomainError
from rag4c.scope.manager import scope
from rag4c.scope.models import new_id
from tenants import api as tenants
from tenants.models import RoleAssignment
from tests.approvals.support import codes_about, count_rows, make_desk, quorum
from tests.builders import make_tenant

if TYPE_CHECKING:
    import uuid

VOTERS = ("charlie", "approver-2", "approver-3", "officer")
TTL_H = 24


class Life(RuleBasedStateMachine):
    """One request: quorum 2 of four, no veto. Alice asks for Bob."""

    def __init__(self):
        super().__init__()
        self.desk = make_desk(make_tenant(f"acme-{new_id().hex[-12:]}"), quorum(2))
        self.asked: uuid.UUID = self.desk.ask()
        self.state, self.hours = "pending", 0
        self.votes: dict[str, bool] = {}
        self.gone: set[str] = set()
        self.is_edited = False

    @property
    def is_open(self) -> bool:
        return self.state in {"pending", "approved"}

    def due(self) -> str:
        """What the next touch of an open request finds."""
        if self.hours >= TTL_H:
            return "expired"
        return "superseded" if self.is_edited else ""

    def settle(self) -> None:
        counting = {name: yes for name, yes in self.votes.items() if name not in self.gone}
        yes, no = sum(counting.values()), len(counting) - sum(counting.values())
        open_people = set(VOTERS) - set(self.votes) - self.gone
        before = self.state
        if no and yes + len(open_people) < 2 <= yes + len(open_people) + no:
            self.state = "rejected"
        else:
            self.state = "approved" if yes >= 2 else "pending"
        if self.state != before:
            self.hours = 0

    def close(self) -> str:
        self.state = self.due()
        return f"request_{self.state}"

    def outcome(self, call) -> str:
        try:
            call()
        except DomainError as error:
            return error.code
        return ""

    @rule(name=st.sampled_from(VOTERS), approves=st.booleans())
    def vote(self, name, approves):
        if name in self.gone:
            return
        seen = self.outcome(lambda: self.desk.vote(name, self.asked, approves=approves))
        if self.is_open and self.due():
            assert seen == self.close()
        elif self.state != "pending":
            assert seen == "request_closed"
        elif name in self.votes:
            assert seen == "already_voted"
        else:
            assert seen == ""
            self.votes[name] = approves
            self.settle()

    @rule(name=st.sampled_from(["alice", "bob"]), approves=st.booleans())
    def vote_where_one_may_not(self, name, approves):
        seen = self.outcome(lambda: self.desk.vote(name, self.asked, approves=approves))
        if name == "bob":
            assert seen == "not_allowed"
        elif self.is_open and self.due():
            assert seen == self.close()
        else:
            assert seen == ("own_request" if self.state == "pending" else "request_closed")

    @rule()
    def execute(self):
        seen = self.outcome(lambda: self.desk.run(self.asked))
        if self.is_open and self.due():
            assert seen == self.close()
        elif self.state != "approved":
            assert seen == "request_not_approved"
        else:
            assert seen == ""
            self.settle()
            if self.state == "approved":
                self.state = "executed"

    @rule()
    def sweep(self):
        api.advance_request(tenant_id=str(self.desk.kit.id), request_id=str(self.asked))
        if self.is_open and self.due():
            self.close()
        elif self.state == "approved":
            self.settle()
            if self.state == "approved":
                self.state = "executed"

    @rule()
    def cancel(self):
        seen = self.outcome(lambda: api.cancel_request(actor=self.desk["alice"], request_id=self.asked))
        if not self.is_open:
            assert seen == "request_closed"
        elif self.due():
            assert seen == self.close()
        else:
            assert seen == ""
            self.state = "cancelled"

    @precondition(lambda self: self.is_open)
    @rule(hours=st.sampled_from([1, 12, 25]))
    def time_passes(self, hours):
        self.desk.age(self.asked, hours)
        self.hours += hours

    @precondition(lambda self: self.is_open and not self.is_edited)
    @rule()
    def edit(self):
        tenants.revoke_role(actor=self.desk["alice"], user_id=self.desk["bob"].user_id, role="member")
        self.is_edited = True

    @precondition(lambda self: len(self.gone) < 2)
    @rule(name=st.sampled_from(VOTERS))
    def leave(self, name):
        if name not in self.gone:
            with scope(self.desk.kit.system.grant):
                rows = RoleAssignment.objects.filter(user_id=self.desk[name].user_id, valid_to__isnull=True)
                role = rows.get().role
            tenants.revoke_role(actor=self.desk["alice"], user_id=self.desk[name].user_id, role=role)
            self.gone.add(name)

    @invariant()
    def the_database_agrees(self):
        assert self.desk.state(self.asked) == self.state
        votes, permits, executions = count_rows(self.desk.kit, self.asked)
        assert votes == len(self.votes) == codes_about(self.desk.kit, self.asked).count("approval.voted")
        assert permits == executions == int(self.state == "executed") == int(self.desk.holds("bob"))


@pytest.mark.usefixtures("db")
def test_GOV_A1_to_A12_the_table_of_states_holds_against_postgres():
    run_state_machine_as_test(Life, settings=settings(max_examples=12, stateful_step_count=14, deadline=None))
