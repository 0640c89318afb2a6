"""Two people at once: nests never close a circle, and the last admin never leaves."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from rag4c.kernel.errors import Conflict
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import GroupNesting, RoleAssignment, UnitParent
from tests.builders import make_tenant, make_user

ROUNDS = 30


def together(*calls):
    """Starts all at the same moment; returns the code of each refusal, or None."""
    barrier, codes = threading.Barrier(len(calls)), [None] * len(calls)

    def run(n):
        barrier.wait()
        try:
            calls[n]()
        except Conflict as error:
            codes[n] = error.code
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return codes


@pytest.fixture
def acme(real_db):
    return make_tenant("acme")


def test_two_nestings_at_once_never_make_a_cycle(acme):
    for n in range(ROUNDS):
        a, b = (tenants.create_group(actor=acme.alice, slug=f"{name}{n}", name=name) for name in "ab")
        codes = together(
            lambda a=a, b=b: tenants.nest_group(actor=acme.alice, child_id=a, parent_id=b),
            lambda a=a, b=b: tenants.nest_group(actor=acme.alice, child_id=b, parent_id=a),
        )
        assert sorted(codes, key=str) == [None, "group_cycle"]
        with scope(acme.system.grant):
            assert GroupNesting.objects.filter(child_id__in=[a, b]).count() == 1


def test_two_moves_at_once_never_make_a_cycle(acme):
    for n in range(ROUNDS):
        a, b = (tenants.create_unit(actor=acme.alice, slug=f"{name}{n}", name=name) for name in "ab")
        codes = together(
            lambda a=a, b=b: tenants.move_unit(actor=acme.alice, unit_id=a, parent_id=b),
            lambda a=a, b=b: tenants.move_unit(actor=acme.alice, unit_id=b, parent_id=a),
        )
        assert sorted(codes, key=str) == [None, "unit_cycle"]
        with scope(acme.system.grant):
            assert UnitParent.objects.filter(unit_id__in=[a, b]).count() == 1


def test_the_last_two_admins_cannot_lose_their_roles_at_once(acme):
    charlie = make_user(acme.id, "charlie", "tenant_admin")
    for _ in range(ROUNDS):
        codes = together(
            lambda: tenants.revoke_role(actor=acme.alice, user_id=charlie.user_id, role="tenant_admin"),
            lambda: tenants.revoke_role(actor=charlie, user_id=acme.alice.user_id, role="tenant_admin"),
        )
        assert sorted(codes, key=str) == [None, "last_admin"]
        with scope(acme.system.grant):
            assert RoleAssignment.objects.filter(role="tenant_admin", valid_to__isnull=True).count() == 1
        for person in (acme.alice, charlie):
            tenants.grant_role(actor=acme.system, user_id=person.user_id, role="tenant_admin")


def test_the_last_two_admins_cannot_be_deactivated_at_once(acme):
    charlie = make_user(acme.id, "charlie", "tenant_admin")
    codes = together(
        lambda: tenants.deactivate_user(actor=acme.alice, user_id=charlie.user_id),
        lambda: tenants.deactivate_user(actor=charlie, user_id=acme.alice.user_id),
    )
    assert sorted(codes, key=str) == [None, "last_admin"]
