"""Votes x stages -> state. Pure: no Django, no clock, no database; the same function decides at the vote and at the execution (GOV-A1 to A11).

Ids of people are opaque. Whoever reads a poll together resolves roles, groups and delegations; what then counts is said here alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    Person = uuid.UUID

ALL, QUORUM = "all", "quorum"
PENDING, APPROVED, REJECTED = "pending", "approved", "rejected"


@dataclass(frozen=True, slots=True)
class StageRule:
    """One stage. mode: `all` or `quorum`. needed: k of the quorum; for `all`, how many there were at submit. veto: one rejection ends it."""

    mode: str
    needed: int
    veto: bool = True


@dataclass(frozen=True, slots=True)
class Pool:
    """Who may vote in a stage by the policy: from the start, and from the escalation on (GOV-A10)."""

    base: frozenset[Person]
    extra: frozenset[Person] = frozenset()


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote. principal: whose right was used; another person than the voter when it was delegated (GOV-A5)."""

    voter: Person
    principal: Person
    stage: int
    approves: bool
    cast_at: datetime
    by_escalation: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A delegation, in force from `starts` (inclusive) to `ends` (exclusive)."""

    delegator: Person
    delegate: Person
    starts: datetime
    ends: datetime

    def is_active(self, at: datetime) -> bool:
        return self.starts <= at < self.ends


@dataclass(frozen=True, slots=True)
class Poll:
    """Everything that decides. able: active people whose roles allow to vote. excluded: the requester and those who gain (GOV-A2, A3)."""

    stages: tuple[StageRule, ...]
    pools: tuple[Pool, ...]
    able: frozenset[Person]
    excluded: frozenset[Person]
    ballots: tuple[Ballot, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """How a stage stands. remaining: who could still vote in it, at once or after an escalation."""

    needed: int
    approvals: int
    rejections: int
    remaining: frozenset[Person]
    is_rejected: bool

    @property
    def is_passed(self) -> bool:
        return not self.is_rejected and self.approvals >= self.needed


@dataclass(frozen=True, slots=True)
class Verdict:
    """state: pending, approved or rejected. stage: 1-based; where it stands or was decided."""

    state: str
    stage: int


@dataclass(frozen=True, slots=True)
class StageClock:
    """The time limits of a stage. A stage with an escalation gets its time twice: for its own approvers, then with those added."""

    escalates_at: datetime | None
    expires_at: datetime
    is_escalated: bool
    is_expired: bool


def read_clock(*, started_at: datetime, ttl_s: int, has_escalation: bool, now: datetime) -> StageClock:
    """Derived from the database's time alone, so that no beat job is relied on (GOV-A11)."""
    first = started_at + timedelta(seconds=ttl_s)
    last = first + timedelta(seconds=ttl_s) if has_escalation else first
    return StageClock(first if has_escalation else None, last, has_escalation and now >= first, now >= last)


def count_ballot(poll: Poll, ballot: Ballot) -> bool:
    """Whether a vote counts now: voter and principal are able, in the stage's pool, and neither asked for it nor gains (GOV-A2, A3, A7)."""
    pool = poll.pools[ballot.stage - 1]
    approvers = pool.base | pool.extra if ballot.by_escalation else pool.base
    people = {ballot.voter, ballot.principal}
    return ballot.principal in approvers and people <= poll.able and not people & poll.excluded


def tally_stage(poll: Poll, stage: int) -> Tally:
    """Count one stage; delegate and delegator count once together (GOV-A4). stage: 1-based."""
    rule, pool = poll.stages[stage - 1], poll.pools[stage - 1]
    counted = [ballot for ballot in poll.ballots if count_ballot(poll, ballot)]
    approving = [ballot for ballot in counted if ballot.stage == stage and ballot.approves]
    rejections = sum(ballot.stage == stage and not ballot.approves for ballot in counted)
    approvals = count_together(approving, poll.links)
    remaining = ((pool.base | pool.extra) & poll.able) - poll.excluded - people_of(poll.ballots)
    needed = _needed(poll, stage)
    ends_at_once = rejections > 0 and (rule.veto or rule.mode == ALL)
    is_unreachable = rejections > 0 and approvals + len(remaining) < needed <= approvals + len(remaining) + rejections
    return Tally(needed, approvals, rejections, remaining, ends_at_once or is_unreachable)


def _needed(poll: Poll, stage: int) -> int:
    """A quorum as the policy says. `all`: everybody of the stage, never fewer than at submit; who approved in an earlier stage has spoken."""
    rule = poll.stages[stage - 1]
    if rule.mode == QUORUM:
        return max(1, rule.needed)
    asked = (poll.pools[stage - 1].base & poll.able) - poll.excluded
    spoken = asked & people_of(ballot for ballot in poll.ballots if ballot.stage < stage and ballot.approves and count_ballot(poll, ballot))
    return max(1, rule.needed - len(spoken), len(asked - spoken))


def people_of(ballots: Iterable[Ballot]) -> frozenset[Person]:
    """Everybody whose voice was used."""
    return frozenset(person for ballot in ballots for person in (ballot.voter, ballot.principal))


def count_together(ballots: Sequence[Ballot], links: Sequence[Link]) -> int:
    """How many of these votes are independent: of a delegator and their delegate at the time of either vote, one counts.

    Takes votes with the fewest ties first; that is exact for the stars that delegations of depth 1 make, and never counts too many.
    """
    ties = {i: {j for j in range(len(ballots)) if j != i and _are_tied(ballots[i], ballots[j], links)} for i in range(len(ballots))}
    count = 0
    while ties:
        chosen = min(ties, key=lambda i: (len(ties[i]), i))
        gone = ties[chosen] | {chosen}
        ties = {i: others - gone for i, others in ties.items() if i not in gone}
        count += 1
    return count


def _are_tied(one: Ballot, other: Ballot, links: Sequence[Link]) -> bool:
    mine, theirs = {one.voter, one.principal}, {other.voter, other.principal}
    if mine & theirs:
        return True
    return any(
        ((link.delegator in mine and link.delegate in theirs) or (link.delegate in mine and link.delegator in theirs))
        and (link.is_active(one.cast_at) or link.is_active(other.cast_at))
        for link in links
    )


def settle(poll: Poll) -> Verdict:
    """The state that these votes have brought about; a policy without stages never approves (GOV-A6)."""
    for stage in range(1, len(poll.stages) + 1):
        tally = tally_stage(poll, stage)
        if tally.is_rejected:
            return Verdict(REJECTED, stage)
        if not tally.is_passed:
            return Verdict(PENDING, stage)
    return Verdict(APPROVED, len(poll.stages)) if poll.stages else Verdict(PENDING, 1)


def find_shortfall(poll: Poll, now: datetime) -> int | None:
    """The first stage that the people there cannot fill, or None; one person, one vote over all stages (GOV-A4, A6).

    A stage of `all` needs one voice of its own; whoever of it has spoken before need not speak again, and nobody of it is left for later stages.
    Cautious where a stage of `all` may escalate: a newcomer may speak for somebody, who would then be free for a later stage.
    """
    if not poll.stages:
        return 1
    seats: list[frozenset[Person]] = []
    holder: dict[Person, int] = {}
    spent: frozenset[Person] = frozenset()
    for stage in range(settle(poll).stage, len(poll.stages) + 1):
        tally, is_all = tally_stage(poll, stage), poll.stages[stage - 1].mode == ALL
        free = _independent(tally.remaining, poll.links, now)
        missing = tally.needed - tally.approvals
        if len(free) < missing:
            return stage
        for _ in range(min(missing, 1) if is_all else missing):
            seats.append(free - spent)
            if not _seat(len(seats) - 1, seats, holder, set()):
                return stage
        spent |= poll.pools[stage - 1].base if is_all else frozenset()
    return None


def _independent(people: frozenset[Person], links: Sequence[Link], now: datetime) -> frozenset[Person]:
    """Without the delegates whose delegators could speak themselves: the two would count once."""
    return people - {link.delegate for link in links if link.is_active(now) and {link.delegate, link.delegator} <= people}


def _seat(seat: int, seats: Sequence[frozenset[Person]], holder: dict[Person, int], tried: set[Person]) -> bool:
    """An augmenting path: a seat takes a person, moving whoever they sat for to another."""
    for person in sorted(seats[seat] - tried, key=str):
        tried.add(person)
        if person not in holder or _seat(holder[person], seats, holder, tried):
            holder[person] = seat
            return True
    return False


@dataclass(frozen=True, slots=True)
class Authority:
    """By whose right a person may vote now, or the code of why not."""

    principal: Person | None
    refusal: str = ""


def find_authority(poll: Poll, *, voter: Person, stage: int, is_escalated: bool, now: datetime) -> Authority:
    """The voter's own right first, else that of a person who delegated to them; never of or to one who is excluded (GOV-A2 to A5, A7)."""
    if voter in poll.excluded:
        return Authority(None, "own_request")
    used = people_of(poll.ballots)
    if voter in used:
        return Authority(None, "already_voted")
    lent = [link for link in poll.links if link.is_active(now)]
    partners = {link.delegator for link in lent if link.delegate == voter} | {link.delegate for link in lent if link.delegator == voter}
    pool = poll.pools[stage - 1]
    approvers = ((pool.base | pool.extra) if is_escalated else pool.base) & poll.able
    rights = [voter, *sorted((link.delegator for link in lent if link.delegate == voter), key=str)]
    allowed = [person for person in rights if person in approvers and person not in poll.excluded]
    if voter not in poll.able or not allowed:
        return Authority(None, "not_an_approver")
    if partners & used:
        return Authority(None, "counted_together")
    return Authority(allowed[0])
