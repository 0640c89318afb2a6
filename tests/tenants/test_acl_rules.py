"""Narrower, wider and the two steps of a change: pure, against the rule that readers are judged by (GOV-B1)."""

from __future__ import annotations

import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from rag4c.kernel.grant import EVERYONE, Grant, Sensitivity
from tenants.acl import DENY_ALL, AclSpec, is_within, meet, satisfies, simplify, split_change

NAMES = (EVERYONE, "user:1", "user:2", "group:hr", "role:member")
specs = st.builds(AclSpec, st.frozensets(st.sampled_from(NAMES), max_size=4), st.sampled_from(Sensitivity), st.sampled_from(["", "audit", "payroll"]))
# a person's whole grant always holds the principal of everyone
grants = st.builds(
    lambda held, level, purpose: Grant(uuid.UUID(int=1), principals=held | {EVERYONE}, clearance=level, purpose=purpose),
    st.frozensets(st.sampled_from(NAMES), max_size=3),
    st.sampled_from(Sensitivity),
    st.sampled_from(["", "audit", "payroll"]),
)
small = settings(max_examples=200, deadline=None)


@small
@given(specs, specs, grants)
def test_GOV_B1_what_is_called_narrower_admits_nobody_else(narrow, wide, grant):
    if is_within(narrow, wide):
        assert satisfies(grant, wide) or not satisfies(grant, narrow)


@small
@given(specs, grants)
def test_GOV_B1_simplifying_changes_no_reader(acl, grant):
    assert satisfies(grant, simplify(acl)) == satisfies(grant, acl)
    assert simplify(simplify(acl)) == simplify(acl)


@small
@given(specs, specs, specs)
def test_GOV_B1_narrower_is_a_partial_order(one, two, three):
    assert is_within(one, one)
    if is_within(one, two) and is_within(two, three):
        assert is_within(one, three)
    if is_within(one, two) and is_within(two, one):
        assert simplify(one) == simplify(two)


@small
@given(specs, specs, specs)
def test_GOV_B1_meet_is_a_lower_bound_and_a_semilattice(one, two, three):
    both = meet(one, two)
    assert is_within(both, one)
    assert is_within(both, two)
    assert both == meet(two, one)
    assert meet(one, one) == simplify(one)
    assert meet(meet(one, two), three) == meet(one, meet(two, three))


@small
@given(specs, specs, grants)
def test_GOV_B1_the_first_step_only_takes_the_second_only_gives_and_they_end_at_the_target(old, new, grant):
    steps = split_change(old, new)
    assert is_within(steps.interim, old)  # nobody gains before the gate
    assert is_within(steps.interim, new)  # who is to lose has lost already
    assert satisfies(grant, steps.new) == satisfies(grant, new)  # revoke, then grant: the target
    assert steps.revokes or steps.interim == simplify(old)
    assert steps.grants is not is_within(new, old)  # what is not provably narrower is a grant


def test_GOV_B1_examples():
    staff, hr, both = (AclSpec(frozenset(names)) for names in ({EVERYONE}, {"group:hr"}, {"group:hr", "user:1"}))
    assert is_within(hr, staff)
    assert not is_within(staff, hr)
    assert is_within(hr, both)
    assert is_within(AclSpec(hr.principals, Sensitivity.CONFIDENTIAL), hr)
    assert not is_within(hr, AclSpec(hr.principals, Sensitivity.CONFIDENTIAL))
    audit, payroll = (AclSpec(hr.principals, Sensitivity.RESTRICTED, purpose) for purpose in ("audit", "payroll"))
    assert meet(audit, payroll) == DENY_ALL  # another purpose is another set of readers: it waits, and nobody reads meanwhile
    assert is_within(DENY_ALL, audit)
    assert split_change(AclSpec(frozenset({"user:1", "user:2"})), AclSpec(frozenset({"user:2", "group:hr"}))).interim.principals == {"user:2"}
