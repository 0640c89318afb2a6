"""Serving under a login that row-level security does not bind is refused (GOV-T3)."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest
from psycopg import sql

from rag4c.kernel.errors import Denied
from rag4c.scope.startcheck import check_login

CHECK = "import django; django.setup(); from rag4c.scope.startcheck import check_login; check_login(); print('served')"


def run_as(user, dbname, clones, password=None):
    """check_login in a process of its own, which is logged in as `user`."""
    code = f"from django.conf import settings; settings.DATABASES['default'].update(USER={user!r}, OPTIONS={{}}); {CHECK}"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "rag4c.settings", "RAG4C_DB_NAME": dbname}
    environment["RAG4C_DB_PASSWORD_APP"] = password or clones.passwords[user]
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("user", ["rag4c_app", "rag4c_system"])
def test_GOV_T3_the_two_serving_logins_are_accepted(real_db, postgres_clones, user):
    result = run_as(user, real_db, postgres_clones)
    assert result.stdout == "served\n", result.stderr


@pytest.mark.parametrize(("user", "power"), [("postgres", "superuser"), ("rag4c_owner", "owner")])
def test_GOV_T3_superuser_and_owner_are_refused(real_db, postgres_clones, user, power):
    result = run_as(user, real_db, postgres_clones)
    assert result.returncode != 0
    assert "login_too_powerful" in result.stderr
    assert power in result.stderr or "not bound by row-level security" in result.stderr


def test_GOV_T3_a_login_that_bypasses_row_security_or_is_a_member_of_the_owner_is_refused(real_db, postgres_clones):
    name, password = f"test_{real_db[-8:]}", "x" * 20
    with psycopg.connect(postgres_clones.dsn("postgres", real_db), autocommit=True) as superuser:
        superuser.execute(sql.SQL("CREATE ROLE {} LOGIN BYPASSRLS PASSWORD {}").format(sql.Identifier(name), sql.Literal(password)))
        try:
            superuser.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(real_db), sql.Identifier(name)))
            assert "login_too_powerful" in run_as(name, real_db, postgres_clones, password).stderr
            superuser.execute(sql.SQL("ALTER ROLE {} NOBYPASSRLS").format(sql.Identifier(name)))
            assert run_as(name, real_db, postgres_clones, password).stdout == "served\n"
            superuser.execute(sql.SQL("GRANT rag4c_owner TO {}").format(sql.Identifier(name)))
            assert "login_too_powerful" in run_as(name, real_db, postgres_clones, password).stderr
        finally:
            superuser.execute(sql.SQL("DROP OWNED BY {0}").format(sql.Identifier(name)))
            superuser.execute(sql.SQL("DROP ROLE {0}").format(sql.Identifier(name)))


def test_GOV_T3_the_login_of_this_test_run_is_accepted(db):
    check_login()


def test_the_refusal_names_the_powers_and_no_secret(real_db, postgres_clones):
    from django.db import connections

    settings = connections.settings["default"]
    before = dict(settings)
    connections["default"].close()
    connections["default"].close_pool()
    settings.update(USER="rag4c_owner", PASSWORD=postgres_clones.passwords["rag4c_owner"])
    try:
        with pytest.raises(Denied) as caught:
            check_login()
        assert (caught.value.code, caught.value.data) == ("login_too_powerful", {"powers": ["owner"]})
    finally:
        connections["default"].close()
        connections["default"].close_pool()
        settings.update(before)
