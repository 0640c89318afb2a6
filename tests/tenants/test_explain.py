"""Why, and who: the same answer as the grant, for 10,000 random (person, document, time) triples of a made-up past, and by the doors of today."""

from __future__ import annotations

import random
import uuid

import pytest

from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Denied
from rag4c.scope.manager import scope
from tenants import acl as rules
from tenants import api as tenants
from tests.builders import event_codes, make_user
from tests.tenants.history import HOURS, at, make_past

HOURS_ASKED, PAIRS_AN_HOUR, EXPLAINED_AN_HOUR = 50, 200, 20


def grants_then(kit, past, hour):
    grants = {}
    for person in past.people:
        try:
            grants[person] = tenants.grant_at(tenant_id=kit.id, user_id=person, at=at(hour), purpose="audit")
        except Absent:
            grants[person] = None
    return grants


def spec_then(kit, document, hour):
    with scope(kit.system.grant):
        return tenants.find_acl_of(subject_kind="document", subject_id=document, at=at(hour))


def test_SYS_G1_explanations_agree_with_the_grant_on_10000_random_triples(acme):
    past = make_past(acme)
    rng = random.Random(11)  # noqa: S311  # the same triples in every run
    seen = {True: 0, False: 0}
    for _ in range(HOURS_ASKED):
        hour = rng.choice([rng.uniform(0, HOURS), float(rng.randrange(HOURS))])
        grants = grants_then(acme, past, hour)
        specs = {document: spec_then(acme, document, hour) for document in past.documents}
        lists = {document: {row.user_id for row in tenants.who_could_see(actor=acme.alice, subject=("document", document), at=at(hour))}
                 for document in rng.sample(past.documents, 8)}  # fmt: skip
        for n in range(PAIRS_AN_HOUR):
            person, document = rng.choice(past.people), rng.choice(past.documents)
            grant, spec = grants[person], specs[document]
            by_grant = grant is not None and spec is not None and rules.satisfies(grant, spec)
            assert by_grant == past.may_see(person, document, hour), (person, document, hour)
            assert document not in lists or (person in lists[document]) == by_grant
            if n < EXPLAINED_AN_HOUR:
                told = tenants.explain_access(actor=acme.alice, user_id=person, subject=("document", document), at=at(hour))
                assert told.is_allowed == by_grant, told
                assert bool(told.through) == told.is_allowed
                assert not told.chain or told.chain[-1].principal == told.through
            seen[by_grant] += 1
    assert sum(seen.values()) == 10_000
    assert min(seen.values()) > 500  # both answers are common, so that a wrong rule shows


@pytest.fixture
def document(acme):
    return uuid.UUID(int=99)


def give_readers(kit, document, *principals, level=tenants.Sensitivity.INTERNAL, purpose=""):
    with scope(kit.system.grant):
        acl = tenants.intern_acl(kit.id, tenants.AclSpec(frozenset(principals), level, purpose))
        tenants.assign_acl(kit.id, subject_kind="document", subject_id=document, acl_id=acl.pk)


def why(kit, document, user=None, **options):
    return tenants.explain_access(actor=kit.alice, user_id=user or kit.bob.user_id, subject=("document", document), **options)


def test_chain_names_every_group_on_the_way(acme, document):
    payroll = tenants.create_group(actor=acme.alice, slug="payroll", name="Payroll")
    finance = tenants.create_group(actor=acme.alice, slug="finance", name="Finance")
    tenants.nest_group(actor=acme.alice, child_id=payroll, parent_id=finance)
    tenants.add_to_group(actor=acme.alice, group_id=payroll, user_id=acme.bob.user_id)
    give_readers(acme, document, f"group:{finance}")
    told = why(acme, document)
    assert told.is_allowed
    assert [step.name for step in told.chain] == ["Payroll", "Finance"]
    assert told.through == f"group:{finance}"
    tenants.unnest_group(actor=acme.alice, child_id=payroll, parent_id=finance)
    assert why(acme, document).refusals == ("not_a_reader",)


def test_every_refusal_is_told_and_not_only_the_first(acme, document):
    assert why(acme, document).refusals == ("readers_unknown",)
    give_readers(acme, document)
    assert why(acme, document).refusals == ("nobody_reads",)
    give_readers(acme, document, "role:auditor", level=tenants.Sensitivity.RESTRICTED, purpose="audit")
    assert why(acme, document).refusals == ("not_a_reader", "clearance_too_low")
    assert why(acme, document, purpose="curiosity").refusals == ("not_a_reader", "clearance_too_low", "purpose_differs")
    give_readers(acme, document, "tenant:*", level=tenants.Sensitivity.RESTRICTED)
    assert why(acme, document).refusals == ("clearance_too_low", "purpose_unnamed")


def test_the_past_stays_as_it_was_after_a_deactivation(real_db):
    from tests.builders import make_tenant

    acme, document = make_tenant("acme"), uuid.UUID(int=99)
    give_readers(acme, document, "tenant:*")
    before = clock.now()
    tenants.deactivate_user(actor=acme.alice, user_id=acme.bob.user_id)
    assert why(acme, document).refusals == ("not_active",)
    assert why(acme, document, at=before).is_allowed
    readers = {row.name for row in tenants.who_could_see(actor=acme.alice, subject=("document", document))}
    assert readers == {"Alice"}
    assert {row.name for row in tenants.who_could_see(actor=acme.alice, subject=("document", document), at=before)} == {"Alice", "Bob"}
    between = clock.now()
    tenants.reactivate_user(actor=acme.alice, user_id=acme.bob.user_id)
    assert why(acme, document).is_allowed
    assert why(acme, document, at=between).refusals == ("not_active",)
    assert why(acme, document, at=before).is_allowed


def test_asking_needs_its_permission_and_is_recorded(acme, document):
    with pytest.raises(Denied):
        tenants.explain_access(actor=acme.bob, user_id=acme.alice.user_id, subject=("document", document))
    with pytest.raises(Denied):
        tenants.who_could_see(actor=acme.bob, subject=("document", document))
    auditor = make_user(acme.id, "charlie", "auditor")
    tenants.explain_access(actor=auditor, user_id=acme.alice.user_id, subject=("document", document))
    tenants.who_could_see(actor=auditor, subject=("document", document))
    assert event_codes(acme)[-2:] == ["access.explained", "access.readers_listed"]


def test_GOV_T5_a_foreign_person_or_document_reads_as_absent(acme, globex, document):
    give_readers(globex, document, "tenant:*")
    assert why(acme, document).refusals == ("readers_unknown",)
    assert tenants.who_could_see(actor=acme.alice, subject=("document", document)) == ()
    with pytest.raises(Absent) as foreign:
        why(acme, document, user=globex.bob.user_id)
    with pytest.raises(Absent) as absent:
        why(acme, document, user=uuid.uuid4())
    assert str(foreign.value) == str(absent.value)


def test_readers_that_are_no_ids_of_ours_keep_their_code(acme, document):
    give_readers(acme, document, "user:posix-1001", f"user:{acme.bob.user_id}", "tenant:*")
    assert {name for _, name in why(acme, document).readers} == {"user:posix-1001", "Bob", "everyone"}
