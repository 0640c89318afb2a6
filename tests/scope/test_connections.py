"""Threads, the pool, a dead server and forked children: a tenant never crosses, a connection never leaks."""

from __future__ import annotations

import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import OperationalError, connection, connections

from rag4c.scope.manager import NoScope, has_scope, outside_scope, scope
from tenants.models import Group
from tests.scope.support import ACME, GLOBEX, make_groups, setting_outside, tenant_setting

THREADS, ROUNDS = 8, 40


def pool_stats():
    return connection.pool.get_stats()


def test_GOV_T2_threads_do_not_cross_tenants_even_when_some_fail(real_tenants):
    make_groups(ACME, 2)
    make_groups(GLOBEX, 3)
    crossed = []

    def work(seed):
        chance = random.Random(seed)  # noqa: S311  # a seeded schedule
        try:
            for _ in range(ROUNDS):
                grant, expected = chance.choice([(ACME, 2), (GLOBEX, 3)])
                try:
                    with scope(grant):
                        if Group._base_manager.count() != expected or tenant_setting() != str(grant.tenant_id):
                            crossed.append(grant)
                        if chance.random() < 0.2:
                            raise ValueError("on purpose")
                except ValueError:
                    pass
                if has_scope():
                    crossed.append("open")
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as threads:
        for done in [threads.submit(work, seed) for seed in range(THREADS)]:
            done.result()
    assert crossed == []
    assert setting_outside() in ("", None)


def test_a_thread_does_not_inherit_the_scope_of_its_parent(real_tenants):
    seen = []

    def look():
        seen.append(has_scope())
        try:
            Group.objects.count()
        except NoScope:
            seen.append("refused")

    with scope(ACME):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [False, "refused"]


def test_the_outermost_scope_gives_its_connection_back_at_once(real_tenants):
    with scope(ACME):
        make_groups(ACME)
        with scope(ACME):
            pass
        assert connection.connection is not None  # the inner scope keeps it
        busy = pool_stats()
        assert busy["pool_size"] - busy["pool_available"] == 1
    assert connection.connection is None
    free = pool_stats()
    assert free["pool_size"] == free["pool_available"]


def test_outside_scope_gives_its_connection_back_and_not_that_of_a_scope_around_it(real_tenants):
    with outside_scope("probe"), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert connection.connection is None
    with scope(ACME):
        with outside_scope("probe"):
            assert Group._base_manager.count() == 0
        assert connection.connection is not None
        make_groups(ACME)
    with scope(ACME):
        assert Group.objects.count() == 1


def test_an_error_gives_the_connection_back_too(real_tenants):
    with pytest.raises(ValueError, match="on purpose"), scope(ACME):
        make_groups(ACME)
        raise ValueError("on purpose")
    free = pool_stats()
    assert free["pool_size"] == free["pool_available"]


def test_more_threads_than_connections_wait_and_all_finish(real_tenants):
    def work(_):
        with scope(ACME):
            return Group.objects.count()

    with ThreadPoolExecutor(20) as threads:
        assert list(threads.map(work, range(60))) == [0] * 60


def test_after_the_server_cut_all_connections_one_unit_of_work_fails_and_not_one_for_each(real_tenants, postgres_clones):
    def work(_):
        with scope(ACME):
            barrier.wait(timeout=20)
            return Group.objects.count()

    barrier = threading.Barrier(4)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert pool_stats()["pool_available"] >= 4
    with psycopg.connect(postgres_clones.dsn("postgres", "postgres"), autocommit=True) as superuser:
        superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [real_tenants])
    failed = 0
    for _ in range(8):
        try:
            with scope(ACME):
                Group.objects.count()
        except OperationalError:
            failed += 1
    assert failed == 1


def test_a_forked_child_that_forgets_the_pool_leaves_the_parents_connections_alone(real_tenants):
    from rag4c.celery import forget_inherited_pool

    make_groups(ACME, 2)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            forget_inherited_pool()
            with scope(ACME):
                status = 0 if Group.objects.count() == 2 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for _ in range(3):
        with scope(ACME):
            assert Group.objects.count() == 2


def test_every_new_connection_of_the_app_has_the_wall(real_tenants):
    def look():
        try:
            with pytest.raises(NoScope), connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            return True
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(look).result()
