"""Changes of readers as change sets, against Postgres: GOV-B1 to B3, B5 to B7."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Absent, Blocked, Conflict, Denied, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.ledger.models import Event
from rag4c.scope import gate
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import AclAssignment, AclSet
from tenants.models_access import AclChangeLine, AclChangeSet
from tests.builders import TenantKit, event_codes, make_user
from tests.tenants.support import NOBODY, STAFF, ask_for_approval, line, make_subject, me, only, propose, reads, state_of


@pytest.fixture
def guarded(acme):
    """A second person is asked before anybody gains."""
    ask_for_approval(acme)
    return acme


def test_GOV_B1_revocation_holds_at_once_though_the_grant_beside_it_waits(guarded):
    acme = guarded
    charlie = make_user(acme.id, "charlie", "member")
    subject = make_subject(acme, only(me(acme.bob), me(acme.alice)))
    change = propose(acme.alice, line(subject, only(me(acme.alice), me(charlie))))
    assert (change.state, change.blocked, change.revoked, change.granted) == ("waiting", "approval_required", 1, 1)
    assert [reads(acme, person, subject) for person in (acme.alice, acme.bob, charlie)] == [True, False, False]
    ask_for_approval(acme, "none")
    assert tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id).state == "applied"
    assert [reads(acme, person, subject) for person in (acme.alice, acme.bob, charlie)] == [True, False, True]


def test_GOV_B1_without_a_policy_row_a_grant_waits_and_a_revocation_does_not(db, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delitem(gate.REGISTRY, "acl.grant")
        tenant = tenants.create_tenant(actor=system_actor(PLATFORM_TENANT), slug="acme", name="Acme")
    alice, bob = make_user(tenant, "alice", "tenant_admin"), make_user(tenant, "bob", "member")
    acme = TenantKit(tenant, "acme", alice, bob)
    subject, wide = make_subject(acme, STAFF), make_subject(acme, only(me(alice)), number=2)
    change = propose(alice, line(subject, only(me(alice))), line(wide, STAFF))
    assert (change.state, change.blocked) == ("waiting", "no_policy")
    assert not reads(acme, bob, subject)
    assert not reads(acme, bob, wide)


def test_GOV_B1_where_no_approval_is_needed_both_hold_at_once(acme):
    subject = make_subject(acme, only(me(acme.alice)))
    change = propose(acme.alice, line(subject, STAFF))
    assert (change.state, change.granted) == ("applied", 1)
    assert reads(acme, acme.bob, subject)
    assert event_codes(acme)[-3:] == ["acl.change_proposed", "acl.widened", "acl.grants_applied"]


def test_GOV_B1_lower_sensitivity_and_another_purpose_are_grants(guarded):
    acme = guarded
    tenants.set_clearance(actor=acme.alice, user_id=acme.bob.user_id, level=tenants.Sensitivity.RESTRICTED)
    kept = tenants.Sensitivity
    subject = make_subject(acme, only("tenant:*", level=kept.CONFIDENTIAL))
    assert propose(acme.alice, line(subject, STAFF)).state == "waiting"
    audit = make_subject(acme, only("tenant:*", level=kept.RESTRICTED, purpose="audit"), number=2)
    assert propose(acme.alice, line(audit, only("tenant:*", level=kept.RESTRICTED, purpose="payroll"))).state == "waiting"
    assert not reads(acme, acme.bob, audit, "audit")  # what is taken away is taken at once
    assert not reads(acme, acme.bob, audit, "payroll")
    raised = propose(acme.alice, line(make_subject(acme, STAFF, number=3), only("tenant:*", level=kept.CONFIDENTIAL)))
    assert (raised.state, raised.granted) == ("applied", 0)


def test_GOV_B2_change_set_whose_subject_moved_is_stale_and_stays_so(guarded):
    acme = guarded
    subject = make_subject(acme, only(me(acme.alice)))
    change = propose(acme.alice, line(subject, STAFF))
    propose(acme.alice, line(subject, NOBODY))
    ask_for_approval(acme, "none")
    with pytest.raises(Conflict, match="acl_change_stale"):
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)
    assert state_of(acme, change) == "stale"
    with pytest.raises(Conflict, match="acl_change_closed"):
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)
    assert not reads(acme, acme.bob, subject)


def test_GOV_B2_there_and_back_again_is_another_base(guarded):
    acme = guarded
    subject = make_subject(acme, only(me(acme.alice)))
    change = propose(acme.alice, line(subject, STAFF))
    propose(acme.alice, line(subject, NOBODY))
    ask_for_approval(acme, "none")
    propose(acme.alice, line(subject, only(me(acme.alice))))  # the same set as before, by a decision of its own
    with pytest.raises(Conflict, match="acl_change_stale"):
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)


def test_GOV_B2_change_that_concerns_neither_subject_nor_people_keeps_it_valid(guarded):
    acme = guarded
    subject, other = make_subject(acme, only(me(acme.alice))), make_subject(acme, STAFF, number=2)
    change = propose(acme.alice, line(subject, STAFF))
    propose(acme.alice, line(other, NOBODY))
    with scope(acme.system.grant):
        assert tenants.read_acl_rev(acme.id) > change.base_acl_rev
    ask_for_approval(acme, "none")
    assert tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id).state == "applied"


def test_GOV_B2_two_change_sets_on_one_base_exactly_one_applies(guarded):
    acme = guarded
    charlie = make_user(acme.id, "charlie", "member")
    subject = make_subject(acme, only(me(acme.alice)))
    one = propose(acme.alice, line(subject, only(me(acme.alice), me(acme.bob))))
    two = propose(acme.alice, line(subject, only(me(acme.alice), me(charlie))))
    ask_for_approval(acme, "none")
    tenants.apply_acl_grants(actor=acme.alice, change_set_id=two.id)
    with pytest.raises(Conflict, match="acl_change_stale"):
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=one.id)
    assert [reads(acme, person, subject) for person in (acme.bob, charlie)] == [False, True]


def test_GOV_B3_payload_that_is_shown_is_the_one_that_is_hashed_and_approved(guarded, monkeypatch):
    acme = guarded
    subject = make_subject(acme, only(me(acme.alice)))
    change = propose(acme.alice, line(subject, STAFF))
    with scope(acme.system.grant):
        row = AclChangeSet.objects.get(pk=change.id)
    assert digest_of(row.payload) == row.payload_sha256 == change.payload_sha256
    assert row.payload["grants"][0]["names"] == ["leave-1.md"]
    assert row.payload["base_acl_rev"] == row.base_acl_rev
    with pytest.raises(Blocked) as refused:
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)
    assert refused.value.data["payload_sha256"] == change.payload_sha256


def test_GOV_B3_group_grant_lists_its_members_and_another_member_makes_it_stale(guarded):
    acme = guarded
    charlie = make_user(acme.id, "charlie", "member")
    hr = tenants.create_group(actor=acme.alice, slug="hr", name="HR")
    tenants.add_to_group(actor=acme.alice, group_id=hr, user_id=acme.bob.user_id)
    subject = make_subject(acme, only(me(acme.alice)))
    change = propose(acme.alice, line(subject, only(me(acme.alice), f"group:{hr}")))
    assert change.payload["members"][f"group:{hr}"] == [str(acme.bob.user_id)]
    assert change.payload["gains"] == [str(acme.bob.user_id)]  # Alice reads already; those who gain never count (A3)
    tenants.add_to_group(actor=acme.alice, group_id=hr, user_id=charlie.user_id)
    ask_for_approval(acme, "none")
    with pytest.raises(Conflict) as refused:
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)
    assert (refused.value.code, refused.value.data) == ("acl_change_stale", {"because": "people_changed"})
    assert not reads(acme, charlie, subject)


def test_GOV_B3_preview_tells_the_same_and_writes_nothing(acme):
    subject = make_subject(acme, only(me(acme.alice)))
    seen = tenants.preview_acl_change(actor=acme.alice, lines=[line(subject, STAFF)])
    with scope(acme.system.grant):
        assert not AclChangeSet.objects.exists()
    change = propose(acme.alice, line(subject, STAFF))
    varying = {"change_set", "base_acl_rev"}
    assert {k: v for k, v in seen.items() if k not in varying} == {k: v for k, v in change.payload.items() if k not in varying}
    assert seen["everyone"] is True


def test_GOV_B5_one_transaction_cannot_revoke_and_publish(acme):
    from tests.builders import publish

    library = publish(acme, {"leave.md": "# Leave\n\nLeave is 25 days.\n"})
    library.write({"leave.md": "# Leave\n\nLeave is 26 days.\n"})
    library.sync()
    document = library.document_id("leave.md")
    narrow = tenants.AclLine("document", document, "leave.md", only(me(acme.alice)))
    with pytest.raises(Conflict, match="transaction_mixes"), scope(acme.alice.grant):
        propose(acme.alice, narrow)
        library.release()
    assert reads(acme, acme.bob, document)  # nothing of either happened
    with pytest.raises(Conflict, match="transaction_mixes"), scope(acme.alice.grant):
        library.release()
        propose(acme.alice, narrow)
    propose(acme.alice, narrow)
    assert library.release() == 2
    assert not reads(acme, acme.bob, document)


def test_GOV_B6_principals_that_say_nothing_are_refused(acme):
    subject = make_subject(acme, STAFF)
    for bad in ("alice", "user:", ":", ""):
        with pytest.raises(Invalid, match="acl_principal_invalid"):
            propose(acme.alice, line(subject, only(bad)))
    assert reads(acme, acme.bob, subject)


def test_GOV_B6_subject_without_a_set_is_read_by_nobody_until_a_grant_passed(guarded):
    acme = guarded
    subject = make_subject(acme, None)
    assert not reads(acme, acme.alice, subject)
    change = propose(acme.alice, line(subject, STAFF))
    assert change.state == "waiting"
    assert not reads(acme, acme.alice, subject)


def test_GOV_B7_waiting_wider_set_does_not_come_back_after_a_revocation(guarded):
    acme = guarded
    subject = make_subject(acme, only(me(acme.alice)))
    old = propose(acme.alice, line(subject, STAFF))
    propose(acme.alice, line(subject, NOBODY))
    ask_for_approval(acme, "none")
    for _ in range(2):
        with pytest.raises(Conflict):
            tenants.apply_acl_grants(actor=acme.alice, change_set_id=old.id)
    assert not reads(acme, acme.alice, subject)


def test_GOV_B7_applied_set_applied_again_changes_nothing(acme):
    subject = make_subject(acme, only(me(acme.alice)))
    change = propose(acme.alice, line(subject, STAFF))
    propose(acme.alice, line(subject, NOBODY))
    assert tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id).state == "applied"
    assert not reads(acme, acme.bob, subject)


def test_withdrawn_change_gives_nothing_and_what_was_taken_stays_taken(guarded):
    acme = guarded
    subject = make_subject(acme, only(me(acme.bob)))
    change = propose(acme.alice, line(subject, only(me(acme.alice))))
    tenants.withdraw_acl_change(actor=acme.alice, change_set_id=change.id)
    with pytest.raises(Conflict, match="acl_change_closed"):
        tenants.withdraw_acl_change(actor=acme.alice, change_set_id=change.id)
    assert [reads(acme, person, subject) for person in (acme.alice, acme.bob)] == [False, False]
    assert [row.id for row in tenants.list_acl_changes(actor=acme.alice, state="withdrawn")] == [change.id]


def test_same_readers_again_are_told_and_nothing_is_written(acme):
    subject = make_subject(acme, STAFF)
    with scope(acme.system.grant):
        before = tenants.read_acl_rev(acme.id)
    with pytest.raises(Conflict, match="acl_unchanged"):
        propose(acme.alice, line(subject, only("tenant:*", me(acme.bob))))
    with pytest.raises(Invalid, match="acl_subject_twice"):
        propose(acme.alice, line(subject, STAFF), line(subject, NOBODY))
    with pytest.raises(Invalid, match="reason_invalid"):
        tenants.propose_acl_change(actor=acme.alice, lines=[line(subject, NOBODY)], reason="no")
    with scope(acme.system.grant):
        assert tenants.read_acl_rev(acme.id) == before
        assert not AclChangeSet.objects.exists()


def test_GOV_U4_every_line_leaves_its_event_with_digests_only(acme):
    subject = make_subject(acme, only(me(acme.alice)))
    propose(acme.alice, line(subject, only(me(acme.bob))))
    with scope(acme.system.grant):
        events = list(Event.objects.filter(subject_kind="document", subject_id=str(subject)).order_by("at", "id"))
    assert [event.code for event in events] == ["acl.narrowed", "acl.widened"]
    assert all(len(event.canonical) and b"leave-1" not in bytes(event.canonical) for event in events)


def test_GOV_T5_member_and_foreign_tenant_get_nowhere(acme, globex):
    subject = make_subject(acme, STAFF)
    change = propose(acme.alice, line(subject, NOBODY))
    for door in (
        lambda: propose(acme.bob, line(subject, STAFF)),
        lambda: tenants.preview_acl_change(actor=acme.bob, lines=[]),
        lambda: tenants.apply_acl_grants(actor=acme.bob, change_set_id=change.id),
        lambda: tenants.list_acl_changes(actor=acme.bob),
    ):
        with pytest.raises(Denied):
            door()
    for door in (tenants.apply_acl_grants, tenants.withdraw_acl_change, tenants.read_acl_change):
        with pytest.raises(Absent):
            door(actor=globex.alice, change_set_id=change.id)


def test_statements_of_a_change_grow_by_one_event_a_subject(acme):
    def count(numbers):
        subjects = [make_subject(acme, STAFF, number=n) for n in numbers]
        with CaptureQueriesContext(connection) as seen:
            propose(acme.alice, *(line(subject, NOBODY) for subject in subjects))
        return len(seen)

    count(range(1, 3))  # interns the sets
    few, many = count(range(10, 20)), count(range(20, 50))
    assert many - few == 20
    with scope(acme.system.grant):
        assert AclChangeLine.objects.count() == 42
        assert AclSet.objects.count() == 2
        assert AclAssignment.objects.filter(valid_to__isnull=True).values("acl").distinct().count() == 1


def test_GOV_B2_two_at_once_exactly_one_applies(real_db):
    """Real transactions, two threads."""
    from django.db import connections

    from tests.builders import make_tenant

    acme = make_tenant("acme")
    charlie = make_user(acme.id, "charlie", "member")
    for number in range(1, 6):
        ask_for_approval(acme)
        subject = make_subject(acme, only(me(acme.alice)), number=number)
        sets = [propose(acme.alice, line(subject, only(me(acme.alice), me(person)))) for person in (acme.bob, charlie)]
        ask_for_approval(acme, "none")
        barrier, outcomes = threading.Barrier(2), []

        def run(change, barrier=barrier, outcomes=outcomes):
            barrier.wait()
            try:
                outcomes.append(tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id).state)
            except Conflict as error:
                outcomes.append(error.code)
            finally:
                connections.close_all()

        threads = [threading.Thread(target=run, args=(change,)) for change in sets]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert sorted(outcomes) == ["acl_change_stale", "applied"]
        assert sorted(reads(acme, person, subject) for person in (acme.bob, charlie)) == [False, True]
