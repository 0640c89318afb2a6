"""`with scope(grant):` on real Postgres, in a test's transaction and with real commits."""

from __future__ import annotations

import asyncio
import uuid

import pytest
from django.core.exceptions import ObjectDoesNotExist, SynchronousOnlyOperation
from django.db import IntegrityError, ProgrammingError, connection, transaction

from rag4c.kernel.grant import Grant
from rag4c.scope.manager import ForeignScope, NoScope, current_grant, has_scope, outside_scope, scope
from tenants.models import Group, Membership, Tenant
from tests.scope.support import ACME, GLOBEX, make_groups, setting_outside, tenant_setting


def test_GOV_T2_no_scope_no_query(two_tenants):
    with pytest.raises(NoScope):
        Group.objects.all()
    with pytest.raises(NoScope):
        current_grant()
    assert not has_scope()


def test_GOV_T2_sql_outside_a_scope_is_refused_whatever_made_it(two_tenants):
    with pytest.raises(NoScope):
        Group._base_manager.count()
    with pytest.raises(NoScope), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(NoScope), connection.cursor() as cursor:
        cursor.executemany("SELECT %s", [(1,), (2,)])


def test_GOV_T2_a_queryset_that_is_read_after_its_scope_raises_and_is_not_empty(two_tenants):
    make_groups(ACME)
    with scope(ACME):
        rows = Group.objects.all()
    with pytest.raises(NoScope, match="outside a scope"):
        list(rows)


def test_GOV_T2_a_lazy_relation_that_is_read_after_its_scope_raises(two_tenants):
    make_groups(ACME)
    with scope(ACME):
        group = Group.objects.get()
    with pytest.raises(NoScope):
        _ = group.tenant.name


def test_GOV_T2_the_setting_is_gone_after_the_scope_and_an_empty_one_hides_all(two_tenants):
    make_groups(ACME)
    assert setting_outside() in ("", None)
    with outside_scope("probe"):
        assert Group._base_manager.count() == 0  # '' is no uuid: without NULLIF this would be an error


def test_GOV_T3_another_tenant_is_invisible_even_on_the_base_manager(two_tenants):
    (group,) = make_groups(ACME)
    with scope(GLOBEX):
        assert Group.objects.count() == 0
        assert Group._base_manager.count() == 0
        assert Group._base_manager.filter(pk=group.pk).update(name="x") == 0
        with pytest.raises(ObjectDoesNotExist):
            Group._base_manager.get(pk=group.pk)
    with scope(ACME):
        assert Group.objects.get().name == "team"


def test_GOV_T3_the_manager_names_the_tenant_itself(two_tenants):
    with scope(ACME):
        for rows in (Group.objects.all(), Group.objects.visible_to(ACME), Group.objects.filter(slug="team-0")):
            sql, values = rows.query.sql_with_params()
            assert '"tenant_id" = %s' in sql
            assert ACME.tenant_id in values


def test_GOV_T3_raw_sql_in_a_scope_sees_one_tenant(two_tenants):
    make_groups(ACME, 2)
    make_groups(GLOBEX, 3)
    with scope(ACME), connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT tenant_id) FROM tenants_group")
        assert cursor.fetchone() == (2, 1)


def test_GOV_T3_a_row_for_another_tenant_is_refused(two_tenants):
    with scope(ACME), pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Group._base_manager.create(tenant_id=GLOBEX.tenant_id, slug="x", name="x")


def test_GOV_T3_the_tenant_row_of_another_tenant_is_invisible(two_tenants):
    with scope(ACME):
        assert [row.slug for row in Tenant.objects.all()] == ["acme"]


def test_GOV_T4_a_foreign_key_to_another_tenants_row_reads_like_one_to_nothing(real_tenants):
    (group,) = make_groups(ACME)
    told = set()
    for key in (group.pk, uuid.uuid4()):
        user = uuid.uuid4()
        with pytest.raises(IntegrityError) as caught, scope(GLOBEX):
            Membership.objects.create(tenant_id=GLOBEX.tenant_id, group_id=key, user_id=user)
        text = f"{caught.value} {caught.value.__cause__.diag.message_detail}"
        told.add(text.replace(str(key), "KEY").replace(str(user), "USER"))
    assert len(told) == 1


def test_GOV_T4_the_key_error_comes_at_the_statement_and_not_at_commit(real_tenants):
    with scope(ACME), pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(tenant_id=ACME.tenant_id, group_id=uuid.uuid4(), user_id=uuid.uuid4())


def test_GOV_T4_the_same_name_is_free_in_another_tenant(two_tenants):
    make_groups(ACME, prefix="hr")
    make_groups(GLOBEX, prefix="hr")
    with scope(ACME), pytest.raises(IntegrityError), transaction.atomic():
        Group.objects.create(tenant_id=ACME.tenant_id, slug="hr-0", name="hr")


def test_GOV_T5_a_foreign_id_is_absent_for_every_door(acme, globex):
    from rag4c.kernel.errors import Absent
    from tenants import api as tenants

    group = tenants.create_group(actor=acme.alice, slug="hr", name="HR")
    for key in (group, uuid.uuid4()):
        with pytest.raises(Absent) as caught:
            tenants.add_to_group(actor=globex.alice, group_id=key, user_id=globex.bob.user_id)
        assert (caught.value.code, caught.value.message, caught.value.data) == ("group", "There is no such group.", {})


def test_nested_scopes_of_the_same_tenant_are_savepoints(two_tenants):
    with scope(ACME):
        make_groups(ACME)
        with pytest.raises(ValueError, match="inner"), scope(ACME):
            make_groups(ACME, prefix="lost")
            raise ValueError("inner")
        assert tenant_setting() == str(ACME.tenant_id)
        assert Group.objects.count() == 1
    assert setting_outside() in ("", None)


def test_a_scope_of_another_tenant_inside_a_scope_is_refused(two_tenants):
    with scope(ACME):
        with pytest.raises(ForeignScope), scope(GLOBEX):
            pytest.fail("the inner scope was opened")
        assert tenant_setting() == str(ACME.tenant_id)
        assert current_grant() is ACME
        make_groups(ACME)


def test_the_inner_grant_holds_inside_and_the_outer_one_after(two_tenants):
    narrow = Grant(ACME.tenant_id, principals=frozenset({"user:x"}))
    with scope(ACME):
        with scope(narrow):
            assert current_grant() is narrow
        assert current_grant() is ACME


def test_one_tenant_after_another_on_the_same_connection(two_tenants):
    make_groups(ACME, 2)
    make_groups(GLOBEX, 1)
    for _ in range(3):
        for grant, count in ((ACME, 2), (GLOBEX, 1)):
            with scope(grant):
                assert Group._base_manager.count() == count
        assert setting_outside() in ("", None)


def test_an_error_rolls_back_and_closes_the_scope(two_tenants):
    with pytest.raises(ValueError, match="outer"), scope(ACME):
        make_groups(ACME)
        raise ValueError("outer")
    assert not has_scope()
    assert setting_outside() in ("", None)
    with scope(ACME):
        assert Group.objects.count() == 0


def test_a_failed_statement_leaves_the_next_scope_usable(two_tenants):
    with pytest.raises(ProgrammingError), scope(ACME), connection.cursor() as cursor:
        cursor.execute("SELECT nothing_here")
    with scope(GLOBEX):
        assert tenant_setting() == str(GLOBEX.tenant_id)


def test_a_setting_changed_by_hand_does_not_outlive_the_scope(two_tenants):
    with scope(ACME):
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('rag4c.tenant', %s, true)", [str(GLOBEX.tenant_id)])
        assert Group.objects.count() == 0
    assert setting_outside() in ("", None)


def test_sql_outside_needs_a_listed_reason(two_tenants):
    with pytest.raises(NoScope, match="curiosity"), outside_scope("curiosity"):
        pytest.fail("an unlisted reason was let in")
    with outside_scope("probe"), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(NoScope), connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_a_scope_cannot_be_opened_in_async_code(two_tenants):
    async def ask():
        with scope(ACME):
            pytest.fail("a scope was opened on the event loop")

    with pytest.raises(SynchronousOnlyOperation):
        asyncio.run(ask())
    assert not has_scope()


def test_visible_to_is_part_of_every_manager(two_tenants):
    make_groups(ACME, 2)
    with scope(ACME):
        assert Group.objects.visible_to(ACME).count() == 2
        assert Group.objects.visible_to(GLOBEX).count() == 0


def test_bulk_writes_and_iterators_stay_inside(two_tenants):
    with scope(ACME):
        Group.objects.bulk_create(Group(tenant_id=ACME.tenant_id, slug=f"g{n}", name="n") for n in range(1200))
        assert sum(1 for _ in Group.objects.iterator(chunk_size=200)) == 1200
    make_groups(GLOBEX)
    with scope(GLOBEX):
        assert Group.objects.count() == 1
