"""Founding, suspending, resuming and exporting a tenant, and accounts without a person."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test import Client

from approvals.models import ActionPolicy
from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.ledger.models import Delivery
from rag4c.ledger.tasks import deliver_event
from rag4c.scope.gate import REGISTRY
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.auth import TenantBackend
from tenants.models import User
from tests.admin.rows import fill_tenant
from tests.builders import PASSWORD, TenantKit, event_codes
from tests.surfaces.doors import browser_of, log_in
from tests.tenants.platform import PLATFORM, make_operator

REASON = "the contract has ended for now"


@pytest.fixture
def operator(db):
    return make_operator("alice")


def platform_codes():
    return event_codes(TenantKit(PLATFORM_TENANT, "platform", PLATFORM, PLATFORM))


def found(operator, slug="globex"):
    return tenants.found_tenant(actor=operator, slug=slug, name="Globex", admin="alice", password=PASSWORD)


def test_operators_see_which_tenants_there_are_and_nobody_else_does(acme, operator):
    assert {info.slug for info in tenants.list_tenants(actor=operator)} == {"acme", "platform"}
    for actor in (acme.alice, acme.system):
        with pytest.raises(Denied):
            tenants.list_tenants(actor=actor)
    with scope(acme.system.grant), connection.cursor() as cursor:  # the function itself looks at the tenant
        cursor.execute("SELECT count(*) FROM rag4c_platform_tenants()")
        assert cursor.fetchone() == (0,)


def test_a_founded_tenant_has_its_admin_and_its_policies(operator):
    tenant_id = found(operator)
    with scope(system_actor(tenant_id).grant):
        assert set(ActionPolicy.objects.values_list("action", flat=True)) == set(REGISTRY)
    _, response = log_in("globex", "alice")
    assert response.status_code == 302
    assert platform_codes()[-1] == "tenant.founded"
    with pytest.raises(Conflict, match="tenant_taken"):
        found(operator)


def test_a_tenant_is_founded_whole_or_not_at_all(operator):
    with pytest.raises(Invalid, match="password_invalid"):
        tenants.found_tenant(actor=operator, slug="globex", name="Globex", admin="alice", password="short")
    assert {info.slug for info in tenants.list_tenants(actor=operator)} == {"platform"}


def test_a_suspension_stops_sessions_tokens_sign_in_and_tasks(acme, operator):
    browser, token = browser_of(acme), tenants.create_token(actor=acme.bob, user_id=acme.bob.user_id, name="script")
    program = Client(headers={"authorization": f"Bearer {token.secret}"})
    fill_tenant(acme)
    with scope(acme.system.grant):
        delivery = Delivery.objects.first()
        Delivery.objects.filter(pk=delivery.pk).update(state="pending")
    assert browser.get("/answers/").status_code == 200
    tenants.suspend_tenant(actor=operator, tenant_id=acme.id, reason=REASON)
    assert browser.get("/answers/").status_code == 302
    assert browser.get("/admin/").status_code == 302
    assert program.get("/api/answers").status_code == 401
    assert log_in("acme")[1].status_code == 401
    assert deliver_event(str(acme.id), str(delivery.pk)) == "absent"
    for person in (acme.alice, acme.bob):
        with pytest.raises(Absent):
            tenants.grant_for(tenant_id=acme.id, user_id=person.user_id)
    with pytest.raises(Conflict, match="tenant_suspended"):
        tenants.suspend_tenant(actor=operator, tenant_id=acme.id, reason=REASON)
    tenants.resume_tenant(actor=operator, tenant_id=acme.id)
    assert browser.get("/answers/").status_code == 200
    assert program.get("/api/answers").status_code == 200
    assert event_codes(acme)[-2:] == ["tenant.suspended", "tenant.resumed"]
    assert platform_codes()[-2:] == ["tenant.suspended", "tenant.resumed"]


def test_nobody_could_see_anything_while_the_tenant_was_suspended(real_db):
    from tests.builders import make_tenant

    acme, operator = make_tenant("acme"), make_operator("alice")
    before = clock.now()
    tenants.suspend_tenant(actor=operator, tenant_id=acme.id, reason=REASON)
    during = clock.now()
    tenants.resume_tenant(actor=operator, tenant_id=acme.id)
    subject = ("document", acme.id)
    told = tenants.explain_access(actor=acme.alice, user_id=acme.bob.user_id, subject=subject, at=during)
    assert told.refusals == ("tenant_suspended",)
    assert tenants.grant_at(tenant_id=acme.id, user_id=acme.bob.user_id, at=before)


def test_the_platform_is_never_suspended_and_only_operators_suspend(acme, operator):
    with pytest.raises(Conflict, match="platform_stays"):
        tenants.suspend_tenant(actor=operator, tenant_id=PLATFORM_TENANT, reason=REASON)
    for actor in (acme.alice, acme.system):
        with pytest.raises(Denied):
            tenants.suspend_tenant(actor=actor, tenant_id=acme.id, reason=REASON)


def test_GOV_T10_an_export_holds_the_tenant_its_digests_and_nothing_else(acme, globex, operator, tmp_path):
    fill_tenant(acme)
    fill_tenant(globex)
    done = tenants.export_tenant(actor=operator, tenant_id=acme.id, folder=tmp_path / "one")
    again = tenants.export_tenant(actor=operator, tenant_id=acme.id, folder=tmp_path / "two")
    assert (done.sha256, done.rows) == (again.sha256, again.rows)
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_bytes())
    assert len(manifest["files"]) == done.files > 40
    for entry in manifest["files"]:
        data = (tmp_path / "one" / entry["name"]).read_bytes()
        assert (len(data), data.count(b"\n"), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["rows"], entry["sha256"])
        assert data == (tmp_path / "two" / entry["name"]).read_bytes()
        assert str(globex.id).encode() not in data
        assert b"md5$" not in data
        assert b"pbkdf2" not in data
    people = [json.loads(line)["username"] for line in (tmp_path / "one" / "tenants.user.jsonl").read_text().splitlines()]
    assert people == ["alice", "bob"]
    with pytest.raises(Conflict, match="folder_not_empty"):
        tenants.export_tenant(actor=operator, tenant_id=acme.id, folder=tmp_path / "one")
    with pytest.raises(Denied):
        tenants.export_tenant(actor=acme.alice, tenant_id=acme.id, folder=tmp_path / "three")
    assert event_codes(acme)[-1] == platform_codes()[-1] == "tenant.exported"


def test_a_service_account_holds_tokens_and_never_signs_in(acme):
    account = tenants.create_service_account(actor=acme.alice, username="nightly", display_name="Nightly sync")
    token = tenants.create_token(actor=acme.alice, user_id=account, name="nightly")
    actor = tenants.find_token_actor(token.secret)
    assert actor.grant.permissions == {"ask", "document.read", "answer.read_own", "source.sync"}
    assert log_in("acme", "nightly")[1].status_code == 401
    for password in ("", "!", PASSWORD):
        assert TenantBackend().authenticate(None, tenant_id=acme.id, username="nightly", password=password) is None
    with pytest.raises(Absent):
        tenants.change_password(actor=acme.alice, user_id=account, password=PASSWORD)
    with scope(acme.system.grant):  # even with a password that no door can give it
        User.objects.filter(pk=account).update(password=make_password(PASSWORD))
    assert TenantBackend().authenticate(None, tenant_id=acme.id, username="nightly", password=PASSWORD) is None
    with scope(acme.system.grant):
        assert TenantBackend().get_user(account) is None
    for role in ("member", "tenant_admin", "approver"):
        with pytest.raises(Invalid, match="role_of_people"):
            tenants.grant_role(actor=acme.alice, user_id=account, role=role)
    with pytest.raises(Invalid, match="role_of_service_accounts"):
        tenants.grant_role(actor=acme.alice, user_id=acme.bob.user_id, role="service_account")


def test_a_person_who_comes_back_is_a_member_and_nothing_more(acme):
    group = tenants.create_group(actor=acme.alice, slug="hr", name="HR")
    tenants.add_to_group(actor=acme.alice, group_id=group, user_id=acme.bob.user_id)
    tenants.grant_role(actor=acme.alice, user_id=acme.bob.user_id, role="knowledge_manager")
    with pytest.raises(Conflict, match="user_active"):
        tenants.reactivate_user(actor=acme.alice, user_id=acme.bob.user_id)
    tenants.deactivate_user(actor=acme.alice, user_id=acme.bob.user_id)
    tenants.reactivate_user(actor=acme.alice, user_id=acme.bob.user_id)
    grant = tenants.grant_for(tenant_id=acme.id, user_id=acme.bob.user_id)
    assert grant.principals == {"tenant:*", f"user:{acme.bob.user_id}", "role:member"}
    assert log_in("acme")[1].status_code == 302
