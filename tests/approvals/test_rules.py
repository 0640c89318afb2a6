"""GOV-A as seen by A1 to A13: votes of people, their state, and what runs. Real Postgres, the app's login."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from approvals import api
from approvals.models import ApprovalRequest, BreakGlass, Delegation, Vote
from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Blocked, Conflict, Denied, DomainError, Invalid
from rag4c.kernel.grant import Actor, Grant
from rag4c.ledger.models import Event
from rag4c.scope import gate
from rag4c.scope.manager import scope
from tenants import api as tenants
from tests.approvals.support import ANYBODY, REASON, ROLE, codes_about, count_rows, everyone, in_days, make_desk, quorum, user
from tests.builders import make_tenant, work_off


def refused(call, *args, **kwargs):
    with pytest.raises(DomainError) as caught:
        call(*args, **kwargs)
    return caught.value.code


def test_GOV_A1_an_approved_request_is_executed_exactly_once(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    assert not desk.holds("bob")
    assert desk.vote("charlie", asked) == "approved"
    work_off(acme)  # the delivery of `approval.approved`
    assert (desk.state(asked), desk.holds("bob")) == ("executed", True)
    assert refused(desk.run, asked) == "request_not_approved"
    api.execute_approved(str(acme.id), str(asked))
    assert count_rows(acme, asked) == (1, 1, 1)
    assert codes_about(acme, asked) == ["approval.requested", "approval.voted", "approval.approved", "approval.executed"]


def test_GOV_A1_a_terminal_request_takes_nothing_more(acme):
    desk = make_desk(acme, quorum(1, veto=True))
    asked = desk.ask()
    assert desk.vote("charlie", asked, approves=False) == "rejected"
    assert refused(desk.vote, "officer", asked) == "request_closed"
    assert refused(api.cancel_request, actor=acme.alice, request_id=asked) == "request_closed"
    assert refused(desk.run, asked) == "request_not_approved"
    assert count_rows(acme, asked) == (1, 0, 0)


def test_GOV_A1_the_database_refuses_a_second_outcome_and_a_changed_binding(acme):
    desk = make_desk(acme, quorum(1, veto=True))
    asked = desk.ask()
    for change in ({"payload": b"{}"}, {"subject_rev": "x"}, {"payload_sha256": "0" * 64}, {"requester_id": acme.bob.user_id}, {"floors": [0]}):
        with scope(acme.system.grant), pytest.raises(DatabaseError, match="frozen at submit"), transaction.atomic():
            ApprovalRequest.objects.filter(pk=asked).update(**change)
    desk.vote("charlie", asked, approves=False)
    with scope(acme.system.grant), pytest.raises(DatabaseError, match="one terminal outcome"), transaction.atomic():
        ApprovalRequest.objects.filter(pk=asked).update(state="approved")


def test_GOV_A2_the_requesters_vote_never_counts_not_even_the_admins(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask("alice")
    assert "approval.vote" in desk.again("alice").grant.permissions
    for approves in (True, False):
        assert refused(desk.vote, "alice", asked, approves=approves) == "own_request"
    assert count_rows(acme, asked)[0] == 0
    assert desk.state(asked) == "pending"


def test_GOV_A2_neither_the_system_nor_every_permission_makes_a_voter(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    asked = desk.ask()
    assert refused(api.vote, actor=acme.system, request_id=asked, approves=True) == "person_needed"
    grant = desk["officer"].grant
    almighty = Actor(
        Grant(acme.id, user_id=grant.user_id, principals=grant.principals | {"role:approver"}, permissions=grant.permissions | {"system"})
    )
    assert refused(api.vote, actor=almighty, request_id=asked, approves=True) == "not_an_approver"
    assert refused(desk.vote, "bob", asked) == "not_allowed"


def test_GOV_A2_a_vote_that_was_written_past_the_door_does_not_count(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask("alice")
    from approvals.api.situations import binding_of

    row = desk.row(asked)
    with scope(acme.system.grant):
        Vote.objects.create(
            tenant_id=acme.id, request=row, stage=1, voter_id=acme.alice.user_id, principal_id=acme.alice.user_id, approves=True,
            binding_sha256=binding_of(row), cast_at=clock.now(),
        )  # fmt: skip
        ApprovalRequest.objects.filter(pk=asked).update(state="approved", decided_at=clock.now())
    assert desk.run(asked) == "pending"
    assert not desk.holds("bob")
    assert codes_about(acme, asked)[-1] == "approval.reopened"


def test_GOV_A3_who_gains_never_counts(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask("alice", whom="charlie")
    assert refused(desk.vote, "charlie", asked) == "own_request"
    assert desk.vote("officer", asked) == "approved"


def test_GOV_A3_neither_by_a_delegate_nor_as_one(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    asked = desk.ask("alice", whom="charlie")
    api.delegate(actor=desk["charlie"], delegate_id=desk["officer"].user_id, valid_to=in_days(2))
    assert refused(desk.vote, "officer", asked) == "not_an_approver"
    api.delegate(actor=desk["approver-2"], delegate_id=desk["alice"].user_id, valid_to=in_days(2))
    assert refused(desk.vote, "alice", asked) == "own_request"


def test_GOV_A4_one_person_one_vote_over_all_stages(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]), quorum(1, ["role:approver"]))
    asked = desk.ask()
    assert desk.vote("charlie", asked) == "pending"
    assert desk.row(asked).stage == 2
    assert refused(desk.vote, "charlie", asked) == "already_voted"
    assert desk.vote("approver-2", asked) == "approved"
    assert codes_about(acme, asked) == ["approval.requested", "approval.voted", "approval.stage_passed", "approval.voted", "approval.approved"]


def test_GOV_A4_the_database_holds_one_vote_a_voter_and_one_a_principal(acme):
    desk = make_desk(acme, quorum(2))
    asked = desk.ask()
    desk.vote("charlie", asked)
    mine, other = desk["charlie"].user_id, desk["officer"].user_id
    for voter, principal in ((mine, other), (other, mine)):
        with scope(acme.system.grant), pytest.raises(DatabaseError), transaction.atomic():
            Vote.objects.create(
                tenant_id=acme.id, request_id=asked, stage=1, voter_id=voter, principal_id=principal, approves=True, cast_at=clock.now()
            )


@pytest.mark.parametrize("first", ["charlie", "officer"])
def test_GOV_A4_delegate_and_delegator_count_once_together(acme, first):
    desk = make_desk(acme, quorum(2))
    asked = desk.ask()
    api.delegate(actor=desk["charlie"], delegate_id=desk["officer"].user_id, valid_to=in_days(2))
    desk.vote(first, asked)
    assert refused(desk.vote, {"charlie": "officer", "officer": "charlie"}[first], asked) == "counted_together"
    assert desk.state(asked) == "pending"
    assert desk.vote("approver-2", asked) == "approved"


def test_GOV_A4_ending_the_delegation_after_the_vote_does_not_split_the_two(acme):
    desk = make_desk(acme, quorum(2))
    asked = desk.ask()
    lent = api.delegate(actor=desk["charlie"], delegate_id=desk["officer"].user_id, valid_to=in_days(2))
    desk.vote("officer", asked)  # in their own right, and with Charlie's
    api.end_delegation(actor=desk["charlie"], delegation_id=lent)
    assert desk.vote("charlie", asked) == "pending"  # counted with the officer's
    assert desk.vote("approver-2", asked) == "approved"


def test_GOV_A5_a_delegate_votes_in_the_others_place_and_both_are_recorded(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    asked = desk.ask()
    assert refused(desk.vote, "officer", asked) == "not_an_approver"
    lent = api.delegate(actor=desk["charlie"], delegate_id=desk["officer"].user_id, valid_to=in_days(2))
    assert desk.vote("officer", asked) == "approved"
    with scope(acme.system.grant):
        row = Vote.objects.get()
        event = Event.objects.get(code="approval.voted")
    assert (row.voter_id, row.principal_id, row.delegation_id) == (desk["officer"].user_id, desk["charlie"].user_id, lent)
    assert event.actor == desk["officer"].ref
    assert str(desk["charlie"].user_id).encode() in bytes(event.canonical)
    (seen,) = api.list_votes(actor=acme.alice, request_id=asked)
    assert (seen.voter, seen.on_behalf_of) == ("Officer", "Charlie")


def test_GOV_A5_a_delegation_has_depth_one(acme):
    desk = make_desk(acme, quorum(1))
    ids = {name: actor.user_id for name, actor in desk.people.items()}
    api.delegate(actor=desk["charlie"], delegate_id=ids["approver-2"], valid_to=in_days(2))
    assert refused(api.delegate, actor=desk["approver-2"], delegate_id=ids["approver-3"], valid_to=in_days(1)) == "delegation_chain"
    assert refused(api.delegate, actor=desk["approver-3"], delegate_id=ids["charlie"], valid_to=in_days(1)) == "delegation_chain"
    assert refused(api.delegate, actor=desk["charlie"], delegate_id=ids["approver-3"], valid_to=in_days(1)) == "delegation_overlaps"
    later = in_days(3)
    assert api.delegate(actor=desk["approver-2"], delegate_id=ids["approver-3"], valid_from=later, valid_to=later + timedelta(days=1))


def test_GOV_A5_a_delegation_is_dated_and_over_when_it_is_over(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    officer = desk["officer"].user_id
    for wrong in (in_days(-1), in_days(400)):
        assert refused(api.delegate, actor=desk["charlie"], delegate_id=officer, valid_to=wrong) == "delegation_dates"
    lent = api.delegate(actor=desk["charlie"], delegate_id=officer, valid_to=in_days(2))
    with scope(acme.system.grant):
        Delegation.objects.filter(pk=lent).update(valid_from=in_days(-3), valid_to=in_days(-1))
    assert refused(desk.vote, "officer", desk.ask()) == "not_an_approver"
    with scope(acme.system.grant), pytest.raises(DatabaseError), transaction.atomic():
        Delegation.objects.filter(pk=lent).update(valid_to=in_days(-9))


def test_GOV_A5_a_delegate_is_another_voter_of_the_same_tenant_and_not_the_requester(acme, globex):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    for wrong in (desk["charlie"].user_id, globex.alice.user_id, acme.bob.user_id):
        assert refused(api.delegate, actor=desk["charlie"], delegate_id=wrong, valid_to=in_days(1)) == "delegate"
    asked = desk.ask("alice")
    api.delegate(actor=desk["charlie"], delegate_id=desk["alice"].user_id, valid_to=in_days(1))
    assert refused(desk.vote, "alice", asked) == "own_request"


def test_GOV_A6_an_empty_approver_set_is_blocked_and_never_approved(acme):
    desk = make_desk(acme, quorum(1, ["role:auditor"]))
    asked = desk.ask()
    assert desk.standing(asked) == "blocked"
    assert {row.code for row in api.why_blocked(actor=acme.alice, request_id=asked)} >= {"stage_unfillable", "waits_for_votes"}
    assert refused(desk.run, asked) == "request_not_approved"
    assert refused(desk.vote, "charlie", asked) == "not_an_approver"


@pytest.mark.parametrize(
    "stages",
    [
        (quorum(9),),
        (quorum(1), quorum(4, ["role:approver"])),
        (everyone(["role:auditor"]),),
        (quorum(3, ["role:approver"]), quorum(1, ["role:approver"])),
    ],
    ids=["too-many", "second-stage", "all-of-nobody", "one-vote-each"],
)
def test_GOV_A6_an_unsatisfiable_policy_is_blocked(acme, stages):
    desk = make_desk(acme, *stages)
    asked = desk.ask()
    assert desk.standing(asked) == "blocked"
    for name in ("charlie", "approver-2", "approver-3", "officer"):
        try:
            assert desk.vote(name, asked) == "pending"
        except DomainError as error:
            assert error.code in {"not_an_approver", "already_voted"}
    assert desk.standing(asked) == "blocked"
    assert api.simulate(actor=acme.alice, action="role.grant").outcome == "blocked"


def test_GOV_A6_a_policy_without_stages_blocks(acme):
    from approvals.models import ActionPolicy

    desk = make_desk(acme)
    with scope(acme.system.grant):
        ActionPolicy.objects.create(tenant_id=acme.id, action="role.grant", rev=2, mode="stages")
    assert refused(desk.ask) == "policy_without_stages"
    assert refused(tenants.grant_role, actor=acme.alice, user_id=acme.bob.user_id, role=ROLE) == "approval_required"


def test_GOV_A7_eligibility_is_checked_at_the_vote(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    asked = desk.ask()
    stale = desk["charlie"]
    tenants.revoke_role(actor=acme.alice, user_id=stale.user_id, role="approver")
    assert refused(api.vote, actor=stale, request_id=asked, approves=True) == "not_an_approver"


def test_GOV_A7_eligibility_is_checked_again_at_execution(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    asked = desk.ask()
    desk.vote("charlie", asked)
    tenants.deactivate_user(actor=acme.alice, user_id=desk["charlie"].user_id)
    assert desk.run(asked) == "pending"
    assert not desk.holds("bob")
    assert desk.vote("approver-2", asked) == "approved"
    assert desk.run(asked) == "executed"


def test_GOV_A7_the_requester_must_still_be_allowed_when_it_runs(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask("alice")
    desk.vote("charlie", asked)
    with scope(acme.system.grant):
        from tenants.models import RoleAssignment

        RoleAssignment.objects.filter(user_id=acme.alice.user_id).update(valid_to=clock.now())
    assert desk.run(asked) == "failed"
    assert (desk.row(asked).fault_code, desk.holds("bob")) == ("not_allowed", False)
    assert count_rows(acme, asked) == (1, 0, 0)


def test_GOV_A7_a_delegates_vote_falls_with_the_delegators_role(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]))
    asked = desk.ask()
    api.delegate(actor=desk["charlie"], delegate_id=desk["officer"].user_id, valid_to=in_days(2))
    desk.vote("officer", asked)
    tenants.revoke_role(actor=acme.alice, user_id=desk["charlie"].user_id, role="approver")
    assert desk.run(asked) == "pending"


def test_GOV_A8_an_edited_subject_supersedes_before_and_after_the_approval(acme):
    desk = make_desk(acme, quorum(1))
    pending = desk.ask(whom="officer")
    approved = desk.ask(whom="charlie")
    desk.vote("approver-2", approved)
    for name, role in (("officer", "compliance_officer"), ("charlie", "approver")):
        tenants.revoke_role(actor=acme.alice, user_id=desk[name].user_id, role=role)
    assert desk.standing(pending) == desk.standing(approved) == "superseded"
    assert refused(desk.vote, "approver-2", pending) == "request_superseded"
    assert refused(desk.run, approved) == "request_superseded"
    assert desk.state(pending) == desk.state(approved) == "superseded"
    assert codes_about(acme, approved)[-1] == "approval.superseded"


def test_GOV_A8_votes_are_bound_to_the_digest_of_what_was_voted_on(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    assert refused(desk.vote, "charlie", asked, seen_sha256="0" * 64) == "payload_stale"
    desk.vote("charlie", asked, seen_sha256=desk.row(asked).payload_sha256)
    from approvals import rules
    from approvals.api.situations import read_situation

    with scope(acme.system.grant):
        row = ApprovalRequest.objects.get(pk=asked)
        assert rules.settle(read_situation(row).poll).state == "approved"
        row.subject_rev = "another"
        assert rules.settle(read_situation(row).poll).state == "pending"
        row.refresh_from_db()
        row.payload = bytes(row.payload).replace(ROLE.encode(), b"tenant_admin")
        assert rules.settle(read_situation(row).poll).state == "pending"


def test_GOV_A8_the_gate_reads_the_subject_again_when_the_door_has_its_lock(acme, monkeypatch):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.vote("charlie", asked)
    from approvals.api import situations

    frozen = desk.row(asked).subject_rev
    monkeypatch.setattr(situations, "_read_rev", lambda request: frozen)  # the edit commits between the executor's look and the door's lock
    with scope(acme.system.grant):
        from tenants.models import RoleAssignment

        RoleAssignment.objects.filter(user_id=acme.bob.user_id).update(valid_to=clock.now())
    assert desk.run(asked) == "superseded"
    assert (desk.holds("bob"), count_rows(acme, asked)) == (False, (1, 0, 0))


def test_GOV_A9_editing_a_policy_never_changes_open_requests(acme):
    desk = make_desk(acme, quorum(2))
    asked = desk.ask()
    desk.vote("charlie", asked)
    desk.set_policy(quorum(1))
    assert desk.state(asked) == "pending"
    desk.set_policy()  # no approval needed from now on
    assert desk.standing(asked) == "pending"
    assert refused(desk.run, asked) == "request_not_approved"
    assert desk.vote("officer", asked) == "approved"
    tenants.grant_role(actor=acme.alice, user_id=desk["officer"].user_id, role=ROLE)


def test_GOV_A9_rows_of_a_policy_cannot_be_changed(acme):
    from approvals.models import Stage

    make_desk(acme, quorum(2))
    with scope(acme.system.grant), pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
        Stage.objects.update(quorum=1)


def test_GOV_A10_escalation_adds_approvers_and_never_lowers_the_quorum(acme):
    desk = make_desk(acme, quorum(2, ["role:approver"], escalation=("role:compliance_officer",)))
    asked = desk.ask()
    assert refused(desk.vote, "officer", asked) == "not_an_approver"
    desk.age(asked, 25)  # no sweep has run
    assert desk.vote("officer", asked) == "pending"
    assert desk.vote("charlie", asked) == "approved"
    assert desk.run(asked) == "executed"


def test_GOV_A10_all_keeps_its_number_when_somebody_leaves(acme):
    desk = make_desk(acme, everyone(["role:approver"], escalation=("role:compliance_officer",)))
    asked = desk.ask()
    desk.vote("charlie", asked)
    desk.vote("approver-2", asked)
    tenants.deactivate_user(actor=acme.alice, user_id=desk["approver-3"].user_id)
    assert desk.state(asked) == "pending"
    assert desk.standing(asked) == "pending"  # an escalation will bring a third
    desk.age(asked, 25)
    assert desk.vote("officer", asked) == "approved"


def test_GOV_A10_the_sweep_tells_an_escalation_once(acme):
    desk = make_desk(acme, quorum(1, escalation=("role:tenant_admin",)))
    asked = desk.ask()
    desk.age(asked, 25)
    for _ in range(2):
        assert api.advance_request(tenant_id=str(acme.id), request_id=str(asked)) == "pending"
    assert codes_about(acme, asked).count("approval.escalated") == 1


def test_GOV_A11_expiry_is_checked_at_the_vote_without_any_sweep(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.age(asked, 25)
    assert desk.standing(asked) == "expired"
    assert refused(desk.vote, "charlie", asked) == "request_expired"
    assert (desk.state(asked), count_rows(acme, asked)[0]) == ("expired", 0)


def test_GOV_A11_expiry_is_checked_at_execution_by_the_databases_clock(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.vote("charlie", asked)
    desk.age(asked, 25)
    with clock.frozen(in_days(-30)):  # a worker whose clock is wrong changes nothing
        assert refused(desk.run, asked) == "request_expired"
    assert (desk.state(asked), desk.holds("bob")) == ("expired", False)


def test_GOV_A11_a_stage_with_escalation_gets_its_time_twice_then_expires(acme):
    desk = make_desk(acme, quorum(1, escalation=("role:tenant_admin",)))
    asked = desk.ask()
    desk.age(asked, 47)
    assert desk.standing(asked) == "pending"
    desk.age(asked, 2)
    assert api.advance_request(tenant_id=str(acme.id), request_id=str(asked)) == "expired"


def test_GOV_A12_vote_state_and_event_come_together_or_not_at_all(acme, monkeypatch):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    monkeypatch.setattr("rag4c.kernel.failpoints._passes", Counter())
    monkeypatch.setenv("RAG4C_FAILPOINTS", "approval.vote.commit.before=raise")
    with pytest.raises(DomainError, match="failpoint"):
        desk.vote("charlie", asked)
    assert (desk.state(asked), count_rows(acme, asked)[0], codes_about(acme, asked)) == ("pending", 0, ["approval.requested"])


def test_GOV_A12_vote_and_execution_are_of_the_same_transaction_as_their_events(real_db):
    desk = make_desk(make_tenant("acme"), quorum(1))
    asked, written = desk.ask(), {}

    def note(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        for table, code in (("approvals_vote", "approval.voted"), ("approvals_execution", "approval.executed")):
            if sql.startswith(f'INSERT INTO "{table}"'):
                written[code] = context["connection"].connection.execute("SELECT pg_current_xact_id()::text").fetchone()[0]
        return result

    with connection.execute_wrapper(note):
        desk.vote("charlie", asked)
        desk.run(asked)
    with scope(desk.kit.system.grant):
        told = {event.code: str(event.xid) for event in Event.objects.filter(code__in=["approval.voted", "approval.executed"])}
    assert len(set(written.values())) == 2
    assert told == written


@pytest.mark.parametrize("point", ["approval.execute.before", "approval.execute.after", "approval.commit.before"])
def test_GOV_A12_permit_execution_change_and_event_come_together_or_not_at_all(acme, monkeypatch, point):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.vote("charlie", asked)
    monkeypatch.setenv("RAG4C_FAILPOINTS", f"{point}=raise")
    monkeypatch.setattr("rag4c.kernel.failpoints._passes", Counter())
    with pytest.raises(DomainError, match="failpoint"):
        desk.run(asked)
    assert (desk.state(asked), desk.holds("bob"), count_rows(acme, asked)) == ("approved", False, (1, 0, 0))
    monkeypatch.delenv("RAG4C_FAILPOINTS")
    assert api.advance_request(tenant_id=str(acme.id), request_id=str(asked)) == "executed"


def break_the_glass(desk, who, **options):
    payload = {"user": str(desk["bob"].user_id), "role": ROLE}
    return api.break_glass(actor=who, action="role.grant", payload=payload, reason=REASON, **options)


def with_permission(actor, *codes):
    return replace(actor, grant=replace(actor.grant, permissions=actor.grant.permissions | set(codes)))


def test_GOV_A13_break_glass_is_its_own_permission(acme):
    desk = make_desk(acme, quorum(2))
    assert refused(break_the_glass, desk, desk["alice"]) == "not_allowed"
    assert refused(break_the_glass, desk, acme.system) == "person_needed"
    assert not desk.holds("bob")


def test_GOV_A13_it_runs_at_once_and_a_second_person_reviews_it(acme):
    desk = make_desk(acme, quorum(2))
    done = break_the_glass(desk, with_permission(desk["alice"], "support.break_glass"))
    assert (desk.holds("bob"), desk.state(done)) == (True, "executed")
    assert codes_about(acme, done) == ["approval.requested", "approval.executed", "break_glass.used"]
    assert refused(api.review_break_glass, actor=desk["alice"], request_id=done, agrees=True) == "own_request"
    assert refused(api.review_break_glass, actor=desk["bob"], request_id=done, agrees=True) == "not_allowed"
    assert api.review_break_glass(actor=desk["charlie"], request_id=done, agrees=False, comment="not that urgent") == "disputed"
    assert refused(api.review_break_glass, actor=desk["officer"], request_id=done, agrees=True) == "state_move_refused"
    assert codes_about(acme, done)[-1] == "break_glass.disputed"


def test_GOV_A13_a_missed_deadline_is_an_event_of_its_own_and_a_late_review_is_still_one(acme):
    desk = make_desk(acme, quorum(2))
    done = break_the_glass(desk, with_permission(desk["alice"], "support.break_glass"))
    with scope(acme.system.grant):
        assert timedelta(hours=23) < BreakGlass.objects.get().review_by - clock.now() <= timedelta(hours=24)
        BreakGlass.objects.update(review_by=clock.now() - timedelta(minutes=1))
    for _ in range(2):
        api.advance_request(tenant_id=str(acme.id), request_id=str(done))
    assert codes_about(acme, done).count("break_glass.missed") == 1
    assert api.review_break_glass(actor=desk["charlie"], request_id=done, agrees=True) == "confirmed"


def test_GOV_A13_the_door_still_checks_the_permission_for_the_change_itself(acme):
    desk = make_desk(acme, quorum(2))
    assert refused(break_the_glass, desk, with_permission(desk["charlie"], "support.break_glass")) == "not_allowed"
    assert not desk.holds("bob")
    with scope(acme.system.grant):
        assert not ApprovalRequest.objects.exists()


def test_GOV_A_a_permit_passes_one_door_once_with_its_payload_only(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.vote("charlie", asked)
    desk.run(asked)
    row = desk.row(asked)
    from approvals.models import Permit

    with scope(acme.system.grant):
        permit = Permit.objects.get()
    for sha256 in (row.payload_sha256, "0" * 64):
        with gate.using_permit(gate.PermitToken(permit.pk, "role.grant", sha256)):
            assert refused(tenants.grant_role, actor=acme.alice, user_id=desk["officer"].user_id, role=ROLE) == "approval_required"


def test_GOV_A1_a_permit_is_spent_by_the_first_door_that_it_opens(acme, monkeypatch):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.vote("charlie", asked)
    action = gate.REGISTRY["role.grant"]

    def go_twice(actor, payload):
        action.execute(actor, payload)
        tenants.revoke_role(actor=actor, user_id=acme.bob.user_id, role=ROLE)  # so that the subject is as it was approved
        action.execute(actor, payload)

    monkeypatch.setitem(gate.REGISTRY, "role.grant", replace(action, execute=go_twice))
    assert desk.run(asked) == "failed"
    assert (desk.row(asked).fault_code, desk.holds("bob"), count_rows(acme, asked)) == ("approval_required", False, (1, 0, 0))


def test_GOV_A8_a_permit_lets_nothing_pass_but_the_payload_that_was_approved(acme, monkeypatch):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    desk.vote("charlie", asked)
    action = gate.REGISTRY["role.grant"]
    wider = replace(action, execute=lambda actor, payload: action.execute(actor, {**payload, "role": "tenant_admin"}))
    monkeypatch.setitem(gate.REGISTRY, "role.grant", wider)
    assert desk.run(asked) == "failed"
    assert (desk.row(asked).fault_code, desk.holds("bob", "tenant_admin"), count_rows(acme, asked)) == ("approval_required", False, (1, 0, 0))


def test_GOV_A_asking_knocks_at_the_door_first(acme, globex):
    desk = make_desk(acme, quorum(1))
    payload = {"user": str(acme.bob.user_id), "role": ROLE}

    def ask(actor, payload, reason=REASON, action="role.grant"):
        return refused(api.submit_request, actor=actor, action=action, payload=payload, reason=reason)

    assert ask(desk["bob"], payload) == "not_allowed"
    assert ask(acme.alice, payload, reason="short") == "reason_invalid"
    assert ask(acme.alice, {**payload, "role": "emperor"}) == "role_unknown"
    assert ask(acme.alice, {**payload, "user": str(globex.bob.user_id)}) == "user"
    assert ask(acme.alice, payload, action="nothing.done") == "action"
    assert ask(acme.alice, payload, action="token.create") == "payload_invalid"
    for wrong in ({}, [], "x", None, {"user": "x", "role": ROLE}, {**payload, "more": 1}, {**payload, "role": 2**80}):
        assert ask(acme.alice, wrong) == "payload_invalid"
    asked = desk.ask()
    assert ask(acme.alice, payload) == "request_open"
    desk.set_policy()
    assert ask(acme.alice, payload) == "approval_not_needed"
    assert desk.state(asked) == "pending"


def test_GOV_A_the_refusal_carries_what_the_rim_needs_to_offer_a_request(acme):
    desk = make_desk(acme, quorum(1))
    with pytest.raises(Blocked) as caught:
        tenants.grant_role(actor=acme.alice, user_id=acme.bob.user_id, role=ROLE)
    data = caught.value.data
    asked = gate.submit(actor=acme.alice, action=data["action"], payload=data["payload"], reason=REASON)
    assert desk.row(asked).payload_sha256 == data["payload_sha256"]
    with pytest.raises(Blocked) as caught:
        tenants.grant_role(actor=acme.alice, user_id=acme.bob.user_id, role=ROLE)
    assert caught.value.data["request"] == str(asked)


def test_GOV_A_a_veto_rejects_and_without_it_only_an_unreachable_quorum_does(acme):
    desk = make_desk(acme, quorum(2, ["role:approver"], veto=True))
    asked = desk.ask()
    assert desk.vote("charlie", asked, approves=False) == "rejected"
    desk.set_policy(quorum(2, ["role:approver"]))
    again = desk.ask()
    assert desk.vote("charlie", again, approves=False) == "pending"
    assert desk.vote("approver-2", again, approves=False) == "rejected"


def test_GOV_A_all_means_all_and_a_no_is_a_no(acme):
    desk = make_desk(acme, everyone(["role:approver"]))
    asked = desk.ask()
    assert [desk.vote(name, asked) for name in ("charlie", "approver-2", "approver-3")] == ["pending", "pending", "approved"]
    other = desk.ask(whom="officer")
    desk.vote("charlie", other)
    assert desk.vote("approver-2", other, approves=False) == "rejected"


def test_GOV_A_cancel_is_for_the_requester_and_who_manages_policies(acme):
    desk = make_desk(acme, quorum(1))
    first, second = desk.ask("alice"), desk.ask("alice", whom="officer")
    assert refused(api.cancel_request, actor=desk["charlie"], request_id=first) == "not_allowed"
    api.cancel_request(actor=acme.alice, request_id=first)
    api.cancel_request(actor=desk["officer"], request_id=second)
    assert desk.state(first) == desk.state(second) == "cancelled"
    assert refused(desk.vote, "charlie", first) == "request_closed"


def test_GOV_A_the_change_of_policies_is_guarded_itself(acme):
    desk = make_desk(acme)
    desk.set_policy(quorum(1), action="approval_policy.change")
    with pytest.raises(Blocked) as caught:
        desk.set_policy(quorum(2))
    assert caught.value.code == "approval_required"
    asked = gate.submit(actor=acme.alice, action="approval_policy.change", payload=caught.value.data["payload"], reason=REASON)
    desk.vote("officer", asked)
    assert desk.run(asked) == "executed"
    assert refused(tenants.grant_role, actor=acme.alice, user_id=acme.bob.user_id, role=ROLE) == "approval_required"
    assert api.simulate(actor=acme.alice, action="role.grant").stages[0].needed == 2


def test_GOV_A_a_policy_of_policies_that_nobody_can_fulfil_is_refused(acme):
    desk = make_desk(acme)
    for stage in (quorum(9), quorum(1, ["role:auditor"]), quorum(1, [user(acme.alice)])):
        assert refused(desk.set_policy, stage, action="approval_policy.change") == "policy_would_lock"


@pytest.mark.parametrize(
    "stage",
    [
        quorum(1, []), quorum(1, ["alice"]), quorum(1, ["role:Approver"]), quorum(0), quorum(21), quorum(1, ttl_hours=0), quorum(1, ttl_hours=9999),
        quorum(1, escalation=("group:hr",)), api.StageSpec(ANYBODY, "majority"),
    ],
)  # fmt: skip
def test_stages_that_make_no_sense_are_refused(acme, stage):
    with pytest.raises(Invalid, match="stages_invalid"):
        api.set_policy(actor=acme.alice, action="role.grant", stages=[stage])


def test_GOV_F1_a_policy_moves_only_from_the_revision_that_was_read(acme):
    desk = make_desk(acme, quorum(1))
    with pytest.raises(Conflict, match="policy_moved"):
        api.set_policy(actor=acme.alice, action="role.grant", stages=[quorum(1)], base_rev=1)
    assert desk.set_policy(quorum(1)) == 3


def test_requests_of_another_tenant_are_absent(acme, globex):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    calls = (
        lambda: api.vote(actor=globex.alice, request_id=asked, approves=True),
        lambda: api.read_request(actor=globex.alice, request_id=asked),
        lambda: api.cancel_request(actor=globex.alice, request_id=asked),
        lambda: api.comment(actor=globex.alice, request_id=asked, text="hello"),
        lambda: api.execute_request(actor=globex.alice, request_id=asked),
    )
    for call in calls:
        with pytest.raises(Absent, match="approval"):
            call()
    assert api.list_requests(actor=globex.alice) == api.list_inbox(actor=globex.alice) == []


def test_inbox_and_mine_say_what_needs_whom(acme):
    desk = make_desk(acme, quorum(1, ["role:approver"]), quorum(1, ["role:compliance_officer"]))
    asked = desk.ask("alice")
    ids = {name: [row.id for row in api.list_inbox(actor=desk.again(name))] for name in ("alice", "charlie", "officer")}
    assert ids == {"alice": [], "charlie": [asked], "officer": []}
    (mine,) = api.list_mine(actor=acme.alice)
    assert (mine.id, mine.requester_name, mine.standing, mine.stage, mine.stages, mine.needs_me) == (asked, "Alice", "pending", 1, 2, False)
    desk.vote("charlie", asked)
    assert [row.id for row in api.list_inbox(actor=desk.again("officer"))] == [asked]
    with pytest.raises(Denied):
        api.list_inbox(actor=acme.bob)
    with pytest.raises(Absent):
        api.read_request(actor=acme.bob, request_id=asked)
    assert api.list_mine(actor=acme.bob) == []


def test_simulation_names_people_absences_and_delegates_and_leaves_the_requester_out(acme):
    desk = make_desk(acme, quorum(1), everyone([user(desk_actor) for desk_actor in (acme.alice,)]))
    api.set_absence(actor=desk["officer"], valid_to=in_days(3))
    api.delegate(actor=desk["charlie"], delegate_id=desk["approver-2"].user_id, valid_to=in_days(3))
    seen = api.simulate(actor=acme.alice, action="role.grant", requester_id=acme.bob.user_id)
    assert seen.outcome == "waits"
    people = {person.name: person for person in seen.stages[0].people}
    assert set(people) == {"Alice", "Approver-2", "Approver-3", "Charlie", "Officer"}
    assert people["Officer"].away_until is not None
    assert people["Charlie"].delegate == "Approver-2"
    own = api.simulate(actor=acme.alice, action="role.grant")
    assert own.outcome == "blocked"
    assert [stage.is_fillable for stage in own.stages] == [True, False]
    assert api.simulate(actor=acme.alice, action="token.create").outcome == "runs"


def test_why_blocked_names_who_is_waited_for(acme):
    desk = make_desk(acme, quorum(1, ["role:compliance_officer"], escalation=("role:tenant_admin",)))
    asked = desk.ask()
    api.set_absence(actor=desk["officer"], valid_to=in_days(3))
    reasons = {row.code: row.sentence for row in api.why_blocked(actor=acme.alice, request_id=asked)}
    assert "Officer (away until" in reasons["waits_for_votes"]
    assert set(reasons) == {"waits_for_votes", "escalates_later", "requester_excluded"}
    desk.vote("officer", asked)
    desk.run(asked)
    assert api.why_blocked(actor=acme.alice, request_id=asked) == []


def test_switching_on_is_offered_when_a_second_approver_is_there(acme):
    assert api.list_offers(actor=acme.alice) == []
    desk = make_desk(acme, quorum(1))
    offers = api.list_offers(actor=acme.alice)
    assert "role.grant" not in offers
    assert {"channel.release", "token.create", "approval_policy.change"} <= set(offers)
    assert refused(api.list_offers, actor=desk["charlie"]) == "not_allowed"


def test_comments_decide_nothing_and_the_ledger_holds_their_digest_only(acme):
    desk = make_desk(acme, quorum(1))
    asked = desk.ask()
    api.comment(actor=desk["charlie"], request_id=asked, text="a canary in the coal mine")
    assert refused(api.comment, actor=acme.bob, request_id=asked, text="me too") == "not_allowed"
    assert refused(api.comment, actor=desk["charlie"], request_id=asked, text=" ") == "comment_invalid"
    desk.vote("officer", asked, comment="a canary in the cellar")
    with scope(acme.system.grant):
        assert all(b"canary" not in bytes(event.canonical) and REASON.encode() not in bytes(event.canonical) for event in Event.objects.all())
