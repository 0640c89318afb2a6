"""The grant: units, nested groups, and how few queries it takes."""

from __future__ import annotations

import itertools
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from rag4c.kernel import clock
from rag4c.kernel.errors import Conflict
from rag4c.kernel.grant import Grant, Sensitivity
from tenants import acl as rules
from tenants import api as tenants
from tenants.nesting import refuse_edge


def make_groups(kit, count):
    return [tenants.create_group(actor=kit.alice, slug=f"g{n}", name=f"G{n}") for n in range(count)]


def make_units(kit, count):
    units = [tenants.create_unit(actor=kit.alice, slug="u0", name="U0")]
    for n in range(1, count):
        units.append(tenants.create_unit(actor=kit.alice, slug=f"u{n}", name=f"U{n}", parent_id=units[-1]))
    return units


def grant_of(kit):
    return tenants.grant_for(tenant_id=kit.id, user_id=kit.bob.user_id)


def test_SYS_C1_principals_include_all_units_above_and_all_groups_around(acme):
    units, groups = make_units(acme, 4), make_groups(acme, 5)
    for child, parent in itertools.pairwise(groups):
        tenants.nest_group(actor=acme.alice, child_id=child, parent_id=parent)
    tenants.place_in_unit(actor=acme.alice, user_id=acme.bob.user_id, unit_id=units[2])
    tenants.add_to_group(actor=acme.alice, group_id=groups[1], user_id=acme.bob.user_id)
    assert grant_of(acme).principals == {
        "tenant:*", "role:member", f"user:{acme.bob.user_id}", *(f"unit:{key}" for key in units[:3]), *(f"group:{key}" for key in groups[1:])
    }  # fmt: skip


def test_SYS_C1_a_grant_takes_at_most_four_queries(acme):
    units, groups = make_units(acme, 3), make_groups(acme, 5)
    for child, parent in itertools.pairwise(groups):
        tenants.nest_group(actor=acme.alice, child_id=child, parent_id=parent)
    tenants.place_in_unit(actor=acme.alice, user_id=acme.bob.user_id, unit_id=units[2])
    tenants.add_to_group(actor=acme.alice, group_id=groups[0], user_id=acme.bob.user_id)
    for read in (grant_of, lambda kit: tenants.grant_at(tenant_id=kit.id, user_id=kit.bob.user_id, at=clock.now())):
        with CaptureQueriesContext(connection) as seen:
            read(acme)
        sent = [query["sql"] for query in seen if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))]
        assert len(sent) <= 4, sent


def test_moving_a_unit_takes_its_people_along(acme):
    sales, east = make_units(acme, 1)[0], tenants.create_unit(actor=acme.alice, slug="east", name="East")
    tenants.place_in_unit(actor=acme.alice, user_id=acme.bob.user_id, unit_id=east)
    before = grant_of(acme)
    tenants.move_unit(actor=acme.alice, unit_id=east, parent_id=sales)
    after = grant_of(acme)
    assert after.principals - before.principals == {f"unit:{sales}"}
    assert after.acl_rev > before.acl_rev
    tenants.move_unit(actor=acme.alice, unit_id=east, parent_id=None)
    assert grant_of(acme).principals == before.principals
    tenants.remove_from_unit(actor=acme.alice, user_id=acme.bob.user_id)
    assert f"unit:{east}" not in grant_of(acme).principals


def test_cycles_are_refused_with_a_code(acme):
    groups, units = make_groups(acme, 3), make_units(acme, 3)
    tenants.nest_group(actor=acme.alice, child_id=groups[0], parent_id=groups[1])
    tenants.nest_group(actor=acme.alice, child_id=groups[1], parent_id=groups[2])
    for child, parent in ((groups[2], groups[0]), (groups[1], groups[0]), (groups[0], groups[0])):
        with pytest.raises(Conflict, match="group_cycle"):
            tenants.nest_group(actor=acme.alice, child_id=child, parent_id=parent)
    for parent in (units[2], units[0]):
        with pytest.raises(Conflict, match="unit_cycle"):
            tenants.move_unit(actor=acme.alice, unit_id=units[0], parent_id=parent)


def test_a_sixth_group_in_a_chain_is_refused(acme):
    groups = make_groups(acme, 6)
    for child, parent in itertools.pairwise(groups[:5]):
        tenants.nest_group(actor=acme.alice, child_id=child, parent_id=parent)
    with pytest.raises(Conflict, match="group_too_deep"):
        tenants.nest_group(actor=acme.alice, child_id=groups[4], parent_id=groups[5])
    with pytest.raises(Conflict, match="group_too_deep"):
        tenants.nest_group(actor=acme.alice, child_id=groups[5], parent_id=groups[0])
    tenants.nest_group(actor=acme.alice, child_id=groups[5], parent_id=groups[1])


def test_a_unit_thirteen_levels_down_is_refused(acme):
    units = make_units(acme, 12)
    with pytest.raises(Conflict, match="unit_too_deep"):
        tenants.create_unit(actor=acme.alice, slug="deeper", name="Deeper", parent_id=units[-1])


def reaches(edges, start, goal):
    seen, todo = set(), [start]
    while todo:
        node = todo.pop()
        if node == goal:
            return True
        if node not in seen:
            seen.add(node)
            todo += [high for low, high in edges if low == node]
    return False


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40))
def test_no_order_of_nestings_makes_a_cycle_or_a_chain_too_long(wishes):
    edges = []
    for child, parent in wishes:
        code = refuse_edge(edges, child, parent, 4)
        assert (code == "cycle") == (child == parent or reaches(edges, parent, child))
        if code is None:
            edges.append((child, parent))
    for start in range(8):
        level, longest = {start}, 1
        while level := {high for low, high in edges if low in level}:
            longest += 1
            assert longest <= 4


principal = st.sampled_from(["tenant:*", "user:a", "group:b", "unit:c"])
specs = st.builds(rules.AclSpec, st.frozensets(principal, max_size=3), st.sampled_from(Sensitivity), st.sampled_from(["", "audit"]))
grants = st.builds(
    Grant,
    st.just(uuid.UUID(int=1)),
    principals=st.frozensets(principal),
    clearance=st.sampled_from(Sensitivity),
    purpose=st.sampled_from(["", "audit", "x"]),
)


@settings(max_examples=300, deadline=None)
@given(grants, specs)
def test_refusals_are_empty_exactly_when_the_rule_is_satisfied(grant, spec):
    assert (rules.refusals(grant, spec) == ()) == rules.satisfies(grant, spec)
