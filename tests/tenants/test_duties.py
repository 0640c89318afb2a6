"""Segregation of duties, and which role is for which account."""

from __future__ import annotations

import itertools

import pytest

from rag4c.kernel.errors import Conflict, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.ledger.models import Event
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants import duties, roles
from tests.architecture.sources import load_script
from tests.builders import PASSWORD, make_user


def test_an_auditor_never_becomes_admin_and_no_admin_auditor(acme):
    auditor = make_user(acme.id, "charlie", "auditor")
    with pytest.raises(Conflict, match="roles_conflict"):
        tenants.grant_role(actor=acme.alice, user_id=auditor.user_id, role="tenant_admin")
    with pytest.raises(Conflict, match="roles_conflict"):
        tenants.grant_role(actor=acme.system, user_id=acme.alice.user_id, role="auditor")
    assert tenants.grant_for(tenant_id=acme.id, user_id=auditor.user_id).permissions == roles.PERMISSIONS["auditor"]


def test_a_conflict_that_is_only_warned_of_stands_in_the_event(acme):
    person = make_user(acme.id, "charlie", "knowledge_manager")
    warned = tenants.grant_role(actor=acme.alice, user_id=person.user_id, role="approver")
    assert [(row.one, row.other) for row in warned] == [("approver", "knowledge_manager")]
    with scope(acme.system.grant):
        assert b'"warned":["approver+knowledge_manager"]' in bytes(Event.objects.first().canonical)


def test_a_role_that_ended_conflicts_no_more(acme):
    person = make_user(acme.id, "charlie", "auditor")
    tenants.revoke_role(actor=acme.alice, user_id=person.user_id, role="auditor")
    tenants.grant_role(actor=acme.alice, user_id=person.user_id, role="tenant_admin")


def test_nobody_outside_the_platform_becomes_an_operator(acme):
    for actor in (acme.alice, acme.system):
        with pytest.raises(Invalid, match="role_of_platform"):
            tenants.grant_role(actor=actor, user_id=acme.alice.user_id, role="platform_operator")
    with pytest.raises(Invalid, match="role_of_platform"):
        tenants.create_user(actor=acme.alice, username="charlie", password=PASSWORD, role="platform_operator")


def test_the_table_names_known_roles_and_each_pair_once():
    pairs = [frozenset({row.one, row.other}) for row in duties.CONFLICTS]
    assert len(pairs) == len(set(pairs))
    assert all(len(pair) == 2 and pair <= set(roles.PERMISSIONS) for pair in pairs)
    assert {row.effect for row in duties.CONFLICTS} == {"refuse", "warn"}


def test_find_conflicts_is_the_table_in_both_directions():
    for one, other in itertools.permutations(roles.PERMISSIONS, 2):
        expected = {row for row in duties.CONFLICTS if {row.one, row.other} == {one, other}}
        assert set(duties.find_conflicts([one], other)) == expected
    assert duties.find_conflicts(["auditor"], "auditor") == ()


def test_support_may_only_look():
    assert set(roles.all_permissions()) >= roles.SUPPORT
    changing = {permission for permission in roles.SUPPORT if permission.split(".")[-1] not in {"list", "read", "explain"}}
    assert changing == set()


def test_the_roles_page_is_that_of_the_code():
    assert load_script("write_roles").compare() == []


def test_platform_people_may_be_operators(db):
    platform = system_actor(PLATFORM_TENANT, channel="cli")
    from approvals.api import seed_policies

    seed_policies(tenant_id=PLATFORM_TENANT)
    user_id = tenants.create_user(actor=platform, username="alice", password=PASSWORD, role="platform_operator")
    assert "tenant.create" in tenants.grant_for(tenant_id=PLATFORM_TENANT, user_id=user_id).permissions
