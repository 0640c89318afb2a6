"""Revoke against read, grant against grant, sync against revoke: real transactions, threads and a barrier; violations are counted (GOV-B1, B2, B4, B7)."""

from __future__ import annotations

import itertools
import threading
from time import monotonic, sleep

import pytest
from django.db import connections

from rag4c.kernel.errors import Conflict
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import AclAssignment
from tests.builders import ask, make_tenant, make_user, publish
from tests.tenants.support import NOBODY, STAFF, ask_for_approval, me, only, propose

LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n"
QUESTION = "How many days of paid leave do employees get a year?"
QUICK, MANY = 5, 300
READS = 3  # of the reader in a round: before, during and after the change
STEP_S = 0.03  # a read takes about 0.1 s


def race(*works):
    """All at once; returns what each returned."""
    barrier, outcomes = threading.Barrier(len(works)), [None] * len(works)

    def run(at, work):
        barrier.wait()
        try:
            outcomes[at] = work()
        except Conflict as error:
            outcomes[at] = error.code
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def open_sets(kit, document):
    with scope(kit.system.grant):
        return list(AclAssignment.objects.filter(subject_kind="document", subject_id=document, valid_to__isnull=True).select_related("acl"))


def revoke_against_read(rounds):
    """A read that begins after the revocation has returned shows nothing; afterwards exactly one set is in force, the narrow one."""
    acme = make_tenant("acme")
    document = publish(acme, {"leave.md": LEAVE}).document_id("leave.md")
    wide, narrow = (tenants.AclLine("document", document, "leave.md", acl) for acl in (STAFF, only(me(acme.alice))))
    violations, seen_before = 0, 0

    delays = itertools.cycle(range(6))  # so that a read is met at its beginning, in its middle, and after its end

    def revoke():
        sleep(next(delays) * STEP_S)
        propose(acme.alice, narrow)
        return monotonic()

    def read():
        found = []
        for _ in range(READS):
            started = monotonic()
            answer = ask(acme.bob, QUESTION)
            found.append((started, "25" in answer.answer or any("25" in citation.quote for citation in answer.citations)))
        return found

    for _ in range(rounds):
        revoked_at, reads = race(revoke, read)
        violations += sum(shows and started > revoked_at for started, shows in reads)
        seen_before += any(shows for _, shows in reads)
        violations += ask(acme.bob, QUESTION).status != "abstained"
        violations += [row.acl.principals for row in open_sets(acme, document)] != [[me(acme.alice)]]
        propose(acme.alice, wide)
        violations += ask(acme.bob, QUESTION).status != "answered"
    return violations, seen_before


def grant_against_grant(rounds):
    """Two change sets on one base: exactly one is applied, the other is stale, and the set in force is that of the one."""
    acme = make_tenant("acme")
    charlie = make_user(acme.id, "charlie", "member")
    document = publish(acme, {"leave.md": LEAVE}).document_id("leave.md")
    violations = 0
    for _ in range(rounds):
        ask_for_approval(acme)
        propose(acme.alice, tenants.AclLine("document", document, "leave.md", NOBODY))
        people = (acme.bob, charlie)
        sets = [propose(acme.alice, tenants.AclLine("document", document, "leave.md", only(me(person)))) for person in people]
        ask_for_approval(acme, "none")
        done = race(*(lambda change=change: tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id).state for change in sets))
        violations += sorted(done) != ["acl_change_stale", "applied"]
        winner = people[done.index("applied")] if "applied" in done else None
        violations += [row.acl.principals for row in open_sets(acme, document)] != [[me(winner)]]
    return violations


def sync_against_revoke(rounds):
    """A sync that read the source before readers were taken away does not bring them back."""
    acme = make_tenant("acme")
    library = publish(acme, {"leave.md": LEAVE})
    document = library.document_id("leave.md")
    from documents import api as documents

    def readers(acl):
        return documents.set_source_readers(actor=acme.alice, source_id=library.source_id, acl=acl, reason="asked for by the owner").state

    def sync():
        return documents.sync_source(actor=acme.alice, source_id=library.source_id).files_seen

    violations = 0
    for _ in range(rounds):
        race(lambda: readers(only(me(acme.alice))), sync)
        violations += [row.acl.principals for row in open_sets(acme, document)] != [[me(acme.alice)]]
        readers(STAFF)
        violations += [row.acl.principals for row in open_sets(acme, document)] != [["tenant:*"]]
    return violations


def test_GOV_B1_B4_a_read_after_a_revocation_shows_nothing(real_db):
    assert revoke_against_read(QUICK)[0] == 0


def test_GOV_B2_of_two_grants_at_once_exactly_one_applies(real_db):
    assert grant_against_grant(QUICK) == 0


def test_GOV_B7_a_sync_at_the_same_time_brings_nothing_back(real_db):
    assert sync_against_revoke(QUICK) == 0


@pytest.mark.slow
def test_GOV_B1_B4_revoke_against_read_300_rounds(real_db, capsys):
    violations, seen_before = revoke_against_read(MANY)
    with capsys.disabled():
        print(f"\nrace=revoke/read rounds={MANY} saw_old_state={seen_before} violations={violations}")
    assert violations == 0
    assert seen_before > 0  # otherwise nothing raced


@pytest.mark.slow
def test_GOV_B2_grant_against_grant_300_rounds(real_db, capsys):
    violations = grant_against_grant(MANY)
    with capsys.disabled():
        print(f"\nrace=grant/grant rounds={MANY} violations={violations}")
    assert violations == 0


@pytest.mark.slow
def test_GOV_B7_sync_against_revoke_300_rounds(real_db, capsys):
    violations = sync_against_revoke(MANY)
    with capsys.disabled():
        print(f"\nrace=sync/revoke rounds={MANY} violations={violations}")
    assert violations == 0
