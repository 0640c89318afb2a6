"""Two people at once: real threads, a connection each, a barrier before both. What may never be is looked for after every round."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from django.db import connections, transaction

from approvals import api
from approvals.models import ApprovalRequest, Delegation, Execution, Permit, Vote
from rag4c.kernel.errors import DomainError
from rag4c.ledger.models import Event
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from tenants import api as tenants
from tenants.models import RoleAssignment
from tests.approvals.support import ROLE, in_days, make_desk, quorum
from tests.builders import make_tenant, publish

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from tests.approvals.support import Desk

WAIT_S = 30.0
EDIT_STEP_S = 0.01  # an execution takes some 40 ms: the edit falls before it, into it and after it


def together(*calls: Callable[[], object]) -> list[str]:
    """Each call in a thread of its own, all let go at the same moment; what each gave back, or the code of its refusal."""
    barrier, results = threading.Barrier(len(calls)), [""] * len(calls)

    def run(number: int, call: Callable[[], object]) -> None:
        try:
            barrier.wait(WAIT_S)
            results[number] = str(call())
        except DomainError as error:
            results[number] = error.code
        except Exception as error:  # noqa: BLE001  # the thread's rim: told to the test
            results[number] = f"bug: {error!r}"
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S * 2)
    return results


@dataclass
class Arena:
    """One tenant for all rounds of a race. violations: what was seen that may never be. ends: how the rounds ended."""

    desk: Desk
    violations: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    def must(self, truth: bool, what: str, *about: object) -> None:  # noqa: FBT001  # reads as a sentence
        if not truth:
            self.violations.append(f"{what}: {about}")

    def ask(self) -> uuid.UUID:
        """A fresh request: Bob's role of the round before is taken first."""
        tenants.revoke_role(actor=self.desk["alice"], user_id=self.desk["bob"].user_id, role=ROLE)
        return self.desk.ask()

    def settle(self, asked: uuid.UUID) -> str:
        """Nothing of this round stays open."""
        if self.desk.state(asked) in {"pending", "approved"}:
            api.cancel_request(actor=self.desk["alice"], request_id=asked)
        return self.desk.state(asked)

    def check_books(self, asked: uuid.UUID, results: list[str]) -> None:
        """What is true of every request after every round: its rows and its events say the same (GOV-A1, A4, A12)."""
        self.must(not any(result.startswith("bug") for result in results), "a call broke", results)
        with scope(self.desk.kit.system.grant):
            row = ApprovalRequest.objects.get(pk=asked)
            votes = list(Vote.objects.filter(request=row))
            codes = Counter(Event.objects.filter(subject_kind="approval", subject_id=str(asked)).values_list("code", flat=True))
            done = Execution.objects.filter(request=row).count()
            used = Permit.objects.filter(request=row, used_at__isnull=False).count()
            held = RoleAssignment.objects.filter(user_id=self.desk["bob"].user_id, role=ROLE, valid_to__isnull=True).count()
        self.must(len(votes) == codes["approval.voted"], "votes without their events", len(votes), codes)
        self.must(len({vote.voter_id for vote in votes}) == len({vote.principal_id for vote in votes}) == len(votes), "a voice used twice", votes)
        self.must(done == used == codes["approval.executed"] == int(row.state == "executed") <= 1, "executions", done, used, codes, row.state)
        self.must(held == done, "the change without its execution", held, done)
        terminal = ("rejected", "expired", "superseded", "cancelled", "executed", "failed")
        ended = sum(codes[f"approval.{name}"] for name in terminal)
        self.must(ended == int(row.state in terminal), "not one outcome", codes, row.state)


def make_arena(name: str, *stages: api.StageSpec) -> Arena:
    return Arena(make_desk(make_tenant(f"acme-{name}"), *stages))


def race_votes(rounds: int) -> Arena:
    """Charlie votes twice at once, and the officer beside: two voices, both counted, no more."""
    arena = make_arena("votes", quorum(2))
    for _ in range(rounds):
        asked = arena.ask()
        results = together(*(partial(arena.desk.vote, name, asked) for name in ("charlie", "charlie", "officer")))
        arena.check_books(asked, results)
        arena.must(arena.desk.state(asked) == "approved", "two voices did not approve", results)
        arena.ends[arena.desk.state(asked)] += 1
        arena.settle(asked)
    return arena


def race_approve_reject(rounds: int) -> Arena:
    """One yes would approve, one no would end it: exactly one of the two happens."""
    arena = make_arena("verdicts", quorum(1, veto=True))
    for _ in range(rounds):
        asked = arena.ask()
        results = together(partial(arena.desk.vote, "charlie", asked), partial(arena.desk.vote, "officer", asked, approves=False))
        arena.check_books(asked, results)
        arena.must(sorted(results) in (["approved", "request_closed"], ["rejected", "request_closed"]), "both or none", results)
        arena.must(arena.desk.state(asked) in results, "the state is nobody's", results)
        arena.ends[arena.desk.state(asked)] += 1
        arena.settle(asked)
    return arena


def race_executors(rounds: int) -> Arena:
    """Three executors at once: one of them does it."""
    arena = make_arena("executors", quorum(1))
    for _ in range(rounds):
        asked = arena.ask()
        arena.desk.vote("charlie", asked)
        results = together(*[partial(arena.desk.run, asked)] * 3)
        arena.check_books(asked, results)
        arena.must(sorted(results) == ["executed", "request_not_approved", "request_not_approved"], "not one executor", results)
        arena.ends[arena.desk.state(asked)] += 1
        arena.settle(asked)
    return arena


def race_delegate_vote(rounds: int) -> Arena:
    """Charlie votes while lending the vote to the officer, who votes too: whenever the two were tied, they count once."""
    arena = make_arena("delegates", quorum(2))
    desk = arena.desk
    for _ in range(rounds):
        asked = arena.ask()
        results = together(
            partial(desk.vote, "charlie", asked),
            lambda: api.delegate(actor=desk["charlie"], delegate_id=desk["officer"].user_id, valid_to=in_days(1)) and "lent",
            partial(desk.vote, "officer", asked),
        )
        if desk.state(asked) == "approved":
            desk.run(asked)
        arena.check_books(asked, results)
        with scope(desk.kit.system.grant):
            lent = Delegation.objects.get(ended_at__isnull=True)
            last = max(Vote.objects.filter(request_id=asked).values_list("cast_at", flat=True))
        is_tied = lent.valid_from <= last
        arena.must(not (is_tied and desk.state(asked) == "executed"), "a tied pair counted twice", results)
        arena.ends["tied" if is_tied else "apart"] += 1
        api.end_delegation(actor=desk["charlie"], delegation_id=lent.pk)
        arena.settle(asked)
    return arena


def race_edit_approve(rounds: int) -> Arena:
    """The last vote and the execution against an edit of the subject: whoever is first wins, and nothing runs on what was edited (GOV-A8)."""
    arena = make_arena("edits", quorum(1))
    desk, seen = arena.desk, {}

    def edit(pause_s: float) -> str:
        time.sleep(pause_s)
        with scope(desk.kit.system.grant), transaction.atomic():
            tenants.revoke_role(actor=desk.kit.system, user_id=desk["bob"].user_id, role="approver")  # takes Bob's row lock, as the door does
            seen["done"] = RoleAssignment.objects.filter(user_id=desk["bob"].user_id, role=ROLE, valid_to__isnull=True).exists()
        return "edited"

    def vote_and_run(asked: uuid.UUID) -> str:
        return desk.vote("charlie", asked) + desk.run(asked)

    for number in range(rounds):
        desk.set_policy()
        tenants.revoke_role(actor=desk["alice"], user_id=desk["bob"].user_id, role=ROLE)
        tenants.grant_role(actor=desk["alice"], user_id=desk["bob"].user_id, role="approver")
        desk.set_policy(quorum(1))
        asked = desk.ask()
        if number % 3:
            desk.vote("charlie", asked)
        results = together(partial(edit, number % 6 * EDIT_STEP_S), partial(desk.run if number % 3 else vote_and_run, asked))
        arena.check_books(asked, results)
        was_executed = desk.state(asked) == "executed"
        arena.must(was_executed == seen["done"], "ran on an edited subject, or an edit undid it", results, desk.state(asked))
        arena.ends[desk.state(asked)] += 1
        arena.settle(asked)
    return arena


def race_revoke_read(rounds: int) -> Arena:
    """A reader loses a group while reading: from the revocation's commit on, nothing of the group's is visible, whatever was cached meanwhile (GOV-B1, B4)."""
    kit = make_tenant("acme-readers")
    arena = Arena(make_desk(kit))
    group = tenants.create_group(actor=kit.alice, slug="hr", name="HR")
    base = publish(kit, {"leave.md": "# Leave\n\n25 days.\n"}, readers=frozenset({f"group:{group}"})).base_id
    bob = kit.bob.user_id

    def count_visible() -> int:
        grant = tenants.grant_for(tenant_id=kit.id, user_id=bob)
        return len(retrieval.visible_set(grant=grant, knowledge_base_ids=[base], channel="live").chunks)

    for _ in range(rounds):
        tenants.add_to_group(actor=kit.alice, group_id=group, user_id=bob)
        arena.must(count_visible() == 1, "a member sees nothing")
        results = together(count_visible, lambda: tenants.remove_from_group(actor=kit.alice, group_id=group, user_id=bob), count_visible)
        arena.must(results[0] in {"0", "1"} and results[2] in {"0", "1"}, "a reader broke", results)
        arena.must(count_visible() == 0, "visible after the revocation", results)
        arena.ends[f"read {results[0]}{results[2]}"] += 1
    return arena


RACES = {
    "vote/vote": race_votes,
    "approve/reject": race_approve_reject,
    "execute/execute": race_executors,
    "delegate/vote": race_delegate_vote,
    "edit/approve": race_edit_approve,
    "revoke/read": race_revoke_read,
}
