"""The rules alone, over made-up people: what is always true of votes, delegations and stages (GOV-A2 to A11)."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from approvals import rules
from approvals.rules import Ballot, Link, Poll, Pool, StageRule

PEOPLE = [uuid.UUID(int=n) for n in range(1, 8)]
START = datetime(2026, 3, 1, tzinfo=UTC)


def hours(n):
    return START + timedelta(hours=n)


@st.composite
def polls(draw, *, people=PEOPLE, links=True):
    people_sets = st.sets(st.sampled_from(people), max_size=5).map(frozenset)
    count = draw(st.integers(1, 3))
    pools = tuple(Pool(draw(people_sets), draw(people_sets)) for _ in range(count))
    able, excluded = frozenset(people) - draw(people_sets), draw(st.sets(st.sampled_from(people), max_size=2).map(frozenset))
    stages = []
    for pool in pools:
        mode = draw(st.sampled_from(["all", "quorum"]))
        floor = max(1, len((pool.base & able) - excluded))
        stages.append(StageRule(mode, floor if mode == "all" else draw(st.integers(1, 3)), draw(st.booleans())))
    voters = draw(st.permutations(people))[: draw(st.integers(0, 6))]
    ballots = tuple(
        Ballot(voter, voter, draw(st.integers(1, count)), draw(st.booleans()), hours(draw(st.integers(0, 9))), draw(st.booleans()))
        for voter in voters
    )
    lent = tuple(Link(a, b, hours(0), hours(draw(st.integers(0, 10)))) for a, b in draw(st.lists(pairs(), max_size=3))) if links else ()
    return Poll(tuple(stages), pools, able, excluded, ballots, lent)


def pairs():
    return st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)).filter(lambda pair: pair[0] != pair[1])


def independent_exactly(ballots, links):
    """The largest set of votes of which no two are tied, by trying all."""
    for size in range(len(ballots), 0, -1):
        for chosen in itertools.combinations(ballots, size):
            if not any(rules._are_tied(a, b, links) for a, b in itertools.combinations(chosen, 2)):
                return size
    return 0


@settings(max_examples=200, deadline=None)
@given(polls())
def test_GOV_A4_never_more_votes_are_counted_than_independent_people_cast(poll):
    for stage in range(1, len(poll.stages) + 1):
        approving = [ballot for ballot in poll.ballots if ballot.stage == stage and ballot.approves and rules.count_ballot(poll, ballot)]
        assert rules.count_together(approving, poll.links) <= independent_exactly(approving, poll.links) <= len({b.voter for b in approving})


@settings(max_examples=100, deadline=None)
@given(st.sets(st.sampled_from(PEOPLE[1:]), min_size=1, max_size=5), st.booleans())
def test_GOV_A4_of_a_delegate_with_several_delegators_as_many_count_as_could_without_them(delegators, delegate_votes):
    centre = PEOPLE[0]
    links = tuple(Link(person, centre, START, hours(9)) for person in sorted(delegators))
    voters = sorted(delegators) + ([centre] if delegate_votes else [])
    ballots = [Ballot(person, person, 1, approves=True, cast_at=hours(1)) for person in voters]
    assert rules.count_together(ballots, links) == independent_exactly(ballots, links) == len(delegators)


@settings(max_examples=200, deadline=None)
@given(polls(), st.randoms(use_true_random=False))
def test_GOV_A1_the_order_of_votes_does_not_decide(poll, random):
    shuffled = list(poll.ballots)
    random.shuffle(shuffled)
    assert rules.settle(replace(poll, ballots=tuple(shuffled))).state == rules.settle(poll).state


@settings(max_examples=200, deadline=None)
@given(polls())
def test_GOV_A2_A3_votes_of_the_excluded_change_nothing(poll):
    without = tuple(ballot for ballot in poll.ballots if not {ballot.voter, ballot.principal} & poll.excluded)
    verdicts = {rules.settle(poll).state, rules.settle(replace(poll, ballots=without)).state}
    assert verdicts <= {"pending", "rejected"} or len(verdicts) == 1
    assert rules.settle(poll).state != "approved" or rules.settle(replace(poll, ballots=without)).state == "approved"


@settings(max_examples=200, deadline=None)
@given(polls(), st.sampled_from(PEOPLE))
def test_GOV_A7_A10_somebody_who_leaves_never_brings_an_approval(poll, person):
    if rules.settle(poll).state == "pending":
        assert rules.settle(replace(poll, able=poll.able - {person})).state != "approved"


@settings(max_examples=200, deadline=None)
@given(polls())
def test_GOV_A6_an_approval_has_enough_people_in_every_stage(poll):
    verdict = rules.settle(poll)
    if verdict.state == "approved":
        for stage, rule_ in enumerate(poll.stages, start=1):
            voters = {ballot.voter for ballot in poll.ballots if ballot.stage == stage and ballot.approves} & poll.able - poll.excluded
            assert voters
            assert rule_.mode == "all" or len(voters) >= rule_.needed
    if not any(pool.base | pool.extra for pool in poll.pools):
        assert verdict.state == "pending"
        assert rules.find_shortfall(poll, START) == 1


def test_GOV_A6_no_stages_never_approve():
    empty = Poll((), (), frozenset(PEOPLE), frozenset())
    assert rules.settle(empty).state == "pending"
    assert rules.find_shortfall(empty, START) == 1


@settings(max_examples=150, deadline=None)
@given(polls(people=PEOPLE[:5], links=False))
def test_GOV_A6_the_forecast_of_a_blocked_request_is_the_truth(poll):
    """No order of coming and saying yes leads to an approval where a shortfall is told, and some order does where none is.

    Where a stage of `all` may escalate, a newcomer may speak for somebody of it, who is then free for a later stage: there the forecast may tell a shortfall too many.
    """
    poll = replace(poll, ballots=())
    can_be_approved = any(approve_with(poll, order) for order in itertools.permutations(PEOPLE[:5]))
    is_blocked = rules.find_shortfall(poll, START) is not None
    may_err = any(stage.mode == rules.ALL and pool.extra for stage, pool in zip(poll.stages, poll.pools, strict=True))
    assert is_blocked != can_be_approved or (may_err and is_blocked)


def approve_with(poll, order):
    """People come in this order; each votes in the stage that is open, when they may."""
    for person in order:
        verdict = rules.settle(poll)
        if verdict.state != "pending":
            break
        found = rules.find_authority(poll, voter=person, stage=verdict.stage, is_escalated=True, now=START)
        if found.principal:
            poll = replace(
                poll, ballots=(*poll.ballots, Ballot(person, found.principal, verdict.stage, approves=True, cast_at=START, by_escalation=True))
            )
    return rules.settle(poll).state == "approved"


@pytest.mark.parametrize(
    ("after_h", "escalated", "expired"), [(0, False, False), (23.99, False, False), (24, True, False), (47.99, True, False), (48, True, True)]
)
def test_GOV_A11_time_limits_are_half_open(after_h, escalated, expired):
    clock = rules.read_clock(started_at=START, ttl_s=86400, has_escalation=True, now=hours(after_h))
    assert (clock.is_escalated, clock.is_expired, clock.expires_at) == (escalated, expired, hours(48))
    plain = rules.read_clock(started_at=START, ttl_s=86400, has_escalation=False, now=hours(after_h))
    assert (plain.is_escalated, plain.is_expired, plain.escalates_at) == (False, after_h >= 24, None)


class Votes(RuleBasedStateMachine):
    """People come and go, lend and take back their votes; the requester is PEOPLE[0], PEOPLE[1] gains."""

    @initialize(quorum=st.integers(1, 3), mode=st.sampled_from(["all", "quorum"]), veto=st.booleans(), second=st.booleans())
    def start(self, quorum, mode, veto, second):
        base = frozenset(PEOPLE[:5])
        stages = [StageRule(mode, 3 if mode == "all" else quorum, veto)] + ([StageRule("quorum", 1, veto)] if second else [])
        pools = tuple(Pool(base, frozenset(PEOPLE[5:6])) for _ in stages)
        self.hour, self.stage_of = 0, {}
        self.poll = Poll(tuple(stages), pools, frozenset(PEOPLE), frozenset(PEOPLE[:2]))
        self.state = "pending"

    def pressed(self):
        return {ballot.voter for ballot in self.poll.ballots}

    @precondition(lambda self: self.state == "pending")
    @rule(person=st.sampled_from(PEOPLE), approves=st.booleans(), escalated=st.booleans())
    def vote(self, person, approves, escalated):
        stage = rules.settle(self.poll).stage
        found = rules.find_authority(self.poll, voter=person, stage=stage, is_escalated=escalated, now=hours(self.hour))
        if found.principal is None:
            assert found.refusal in {"own_request", "already_voted", "not_an_approver", "counted_together"}
            return
        assert person not in self.poll.excluded
        assert person not in self.pressed()
        ballot = Ballot(person, found.principal, stage, approves, hours(self.hour), escalated)
        self.poll = replace(self.poll, ballots=(*self.poll.ballots, ballot))
        self.state = rules.settle(self.poll).state

    @rule(pair=pairs(), length=st.integers(1, 4))
    def delegate(self, pair, length):
        busy = {person for link in self.poll.links if link.ends > hours(self.hour) for person in (link.delegator, link.delegate)}
        if not busy & set(pair):
            self.poll = replace(self.poll, links=(*self.poll.links, Link(*pair, hours(self.hour), hours(self.hour + length))))

    @rule(person=st.sampled_from(PEOPLE))
    def leave_or_return(self, person):
        self.poll = replace(self.poll, able=self.poll.able ^ {person})

    @rule()
    def time_passes(self):
        self.hour += 1

    @invariant()
    def an_approval_rests_on_enough_people(self):
        if not hasattr(self, "poll") or rules.settle(self.poll).state != "approved":
            return
        for stage, stage_rule in enumerate(self.poll.stages, start=1):
            counting = [b for b in self.poll.ballots if b.stage == stage and b.approves and rules.count_ballot(self.poll, b)]
            people = {b.voter for b in counting}
            assert not people & self.poll.excluded
            assert people <= self.poll.able
            assert len(people) >= (stage_rule.needed if stage_rule.mode == "quorum" else 1)
            assert independent_exactly(counting, self.poll.links) >= (stage_rule.needed if stage_rule.mode == "quorum" else 1)

    @invariant()
    def nobody_spoke_twice(self):
        if hasattr(self, "poll"):
            voices = [person for ballot in self.poll.ballots for person in {ballot.voter, ballot.principal}]
            assert len(voices) == len(set(voices))


def test_GOV_A_people_who_come_and_go_and_lend_votes():
    run_state_machine_as_test(Votes, settings=settings(max_examples=60, stateful_step_count=25, deadline=None))
