"""GOV-T1 to T10 for what crosses tenants: the functions that may, and the probes of counts, searches, errors and exports."""

from __future__ import annotations

import uuid

import psycopg
import pytest
from django.db import IntegrityError
from django.urls import reverse
from psycopg import sql

from rag4c.kernel.errors import DomainError
from rag4c.kernel.grant import PLATFORM_TENANT
from rag4c.scope.manager import ForeignScope, scope
from tenants import api as tenants
from tests.admin.rows import fill_tenant, sign_in
from tests.builders import PASSWORD, event_codes, make_tenant, make_user
from tests.tenants.platform import PLATFORM, make_operator

ABSENT = uuid.UUID("01920000-0000-7000-8000-000000000000")


def refusal(call):
    """What a door answers: code, sentence and data."""
    with pytest.raises(DomainError) as caught:
        call()
    return type(caught.value).__name__, caught.value.code, caught.value.message, caught.value.data


def make_other(kit):
    """Ids of Globex, and one of each kind that nobody has."""
    group = tenants.create_group(actor=kit.alice, slug="secret", name="Secret")
    unit = tenants.create_unit(actor=kit.alice, slug="vault", name="Vault")
    token = tenants.create_token(actor=kit.alice, user_id=kit.bob.user_id, name="script").id
    return {"user": kit.bob.user_id, "group": group, "unit": unit, "token": token, "session": kit.id}


def doors(kit, ids):
    """Every door of tenants that takes an id, with ids of somebody."""
    actor, own = kit.alice, kit.bob.user_id
    return {
        "grant_role": lambda: tenants.grant_role(actor=actor, user_id=ids["user"], role="auditor"),
        "revoke_role": lambda: tenants.revoke_role(actor=actor, user_id=ids["user"], role="member"),
        "set_clearance": lambda: tenants.set_clearance(actor=actor, user_id=ids["user"], level=tenants.Sensitivity.PUBLIC),
        "change_password": lambda: tenants.change_password(actor=actor, user_id=ids["user"], password=PASSWORD),
        "deactivate_user": lambda: tenants.deactivate_user(actor=actor, user_id=ids["user"]),
        "reactivate_user": lambda: tenants.reactivate_user(actor=actor, user_id=ids["user"]),
        "create_token": lambda: tenants.create_token(actor=actor, user_id=ids["user"], name="x"),
        "revoke_token": lambda: tenants.revoke_token(actor=actor, token_id=ids["token"]),
        "add_to_group": lambda: tenants.add_to_group(actor=actor, group_id=ids["group"], user_id=own),
        "nest_group": lambda: tenants.nest_group(actor=actor, child_id=ids["group"], parent_id=ids["group"]),
        "move_unit": lambda: tenants.move_unit(actor=actor, unit_id=ids["unit"], parent_id=None),
        "place_in_unit": lambda: tenants.place_in_unit(actor=actor, user_id=own, unit_id=ids["unit"]),
        "create_unit": lambda: tenants.create_unit(actor=actor, slug="below", name="Below", parent_id=ids["unit"]),
        "explain_access": lambda: tenants.explain_access(actor=actor, user_id=ids["user"], subject=("document", ABSENT)),
        "end_acting_session": lambda: tenants.end_acting_session(actor=actor, session_id=ids["session"]),
        "grant_for": lambda: tenants.grant_for(tenant_id=kit.id, user_id=ids["user"]),
    }


def test_GOV_T5_every_door_says_the_same_of_a_foreign_id_and_an_absent_one(acme, globex):
    foreign = make_other(globex)
    theirs, nobodys = doors(acme, foreign), doors(acme, dict.fromkeys(foreign, ABSENT))
    for name in theirs:
        assert refusal(theirs[name]) == refusal(nobodys[name]), name
    assert event_codes(globex)[-1] == "token.created"  # nothing happened there


def test_GOV_T10_names_of_another_tenant_are_neither_found_nor_taken(acme, globex):
    make_other(globex)
    make_user(globex.id, "charlie", "member")
    for foreign, absent in (
        (lambda: tenants.find_user(actor=acme.alice, username="charlie"), lambda: tenants.find_user(actor=acme.alice, username="nobody")),
        (lambda: tenants.find_group(actor=acme.alice, slug="secret"), lambda: tenants.find_group(actor=acme.alice, slug="nothing")),
        (lambda: tenants.find_unit(actor=acme.alice, slug="vault"), lambda: tenants.find_unit(actor=acme.alice, slug="nothing")),
    ):
        assert refusal(foreign) == refusal(absent)
    make_other(acme)
    tenants.create_user(actor=acme.alice, username="charlie", password=PASSWORD)


def test_GOV_T10_counts_and_searches_of_lists_do_not_move_with_another_tenant(acme, globex):
    fill_tenant(acme)
    alice = sign_in("acme", "alice")
    labels = (
        "user",
        "group",
        "orgunit",
        "unitplacement",
        "groupnesting",
        "membership",
        "roleassignment",
        "aclassignment",
        "supportsession",
        "apitoken",
    )
    lists = [reverse(f"admin:tenants_{label}_changelist") for label in labels]

    def counts():
        return [alice.get(address, {"q": term}).context["cl"].result_count for address in lists for term in ("", "hr", "globex")]

    before = counts()
    fill_tenant(globex)
    make_user(globex.id, "hr-person", "member")
    assert counts() == before


def test_GOV_T10_a_wrong_sign_in_says_the_same_whatever_is_there(acme, globex, client):
    tenants.create_service_account(actor=acme.alice, username="nightly")
    operator = make_operator("alice")
    tenants.suspend_tenant(actor=operator, tenant_id=globex.id, reason="the contract has ended")
    answers = set()
    for slug, name in (("acme", "bob"), ("acme", "nobody"), ("acme", "nightly"), ("globex", "alice"), ("nowhere", "alice")):
        response = client.post(f"/t/{slug}/login/", {"username": name, "password": "not this one"})
        page = response.content.decode().replace(slug, "SLUG").replace(f'value="{name}"', 'value="NAME"')
        answers.add((response.status_code, len(page.replace(page[page.find("csrfmiddlewaretoken") : page.find("csrfmiddlewaretoken") + 95], ""))))
    assert len(answers) == 1


def test_GOV_T8_operators_write_in_one_tenant_at_a_time(acme, globex):
    with scope(acme.system.grant), pytest.raises(ForeignScope):
        tenants.suspend_tenant(actor=PLATFORM, tenant_id=globex.id, reason="the contract has ended")
    assert tenants.find_tenant_id("globex") == globex.id
    assert "tenant.suspended" not in event_codes(globex)


def test_GOV_T8_what_an_operator_does_is_in_both_ledgers_or_in_none(real_db, postgres_clones):
    """The record in the platform's ledger fails: the tenant stays in use, and its ledger says nothing."""
    acme, operator = make_tenant("acme"), make_operator("alice")
    with psycopg.connect(postgres_clones.dsn("rag4c_owner", real_db), autocommit=True) as owner:
        owner.execute(
            sql.SQL("ALTER TABLE ledger_event ADD CONSTRAINT closed CHECK (tenant_id <> {} OR code <> 'tenant.suspended')").format(
                sql.Literal(PLATFORM_TENANT)
            )
        )
    with pytest.raises(IntegrityError):
        tenants.suspend_tenant(actor=operator, tenant_id=acme.id, reason="the contract has ended")
    assert tenants.find_tenant_id("acme") == acme.id
    assert "tenant.suspended" not in event_codes(acme)


def test_GOV_T8_functions_across_tenants_belong_to_one_named_role(postgres_clones, worker_name, django_db_setup):
    name = f"rag4c_test_{worker_name}"
    with psycopg.connect(postgres_clones.dsn("rag4c_system", name)) as system, pytest.raises(psycopg.errors.InsufficientPrivilege):
        system.execute("SELECT * FROM rag4c_platform_tenants()")
    with psycopg.connect(postgres_clones.dsn("rag4c_app", name), autocommit=True) as app:
        assert app.execute("SELECT count(*) FROM rag4c_platform_tenants()").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("SELECT * FROM rag4c_tenant_ids()")
