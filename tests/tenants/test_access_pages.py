"""Admin pages about access, roles and operators, as people click them."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants import roles
from tenants.models import GroupNesting, OrgUnit, SupportSession, Tenant, UnitParent, UnitPlacement, User
from tests.admin.rows import fill_tenant, sign_in
from tests.admin.test_actions import act, last_event, person
from tests.builders import make_user
from tests.tenants.platform import allow_without_second_person, make_operator

ASK = "/admin/tenants/aclassignment/ask/"


@pytest.fixture
def alice(acme):
    return sign_in("acme", "alice")


@pytest.fixture
def filled(acme):
    return fill_tenant(acme)


def text_of(response):
    assert response.status_code == 200
    return re.sub(r'value="\w{64}"|\s+', " ", response.content.decode())  # without the masked CSRF token


def test_the_question_page_answers_why_and_who(acme, filled, alice):
    page = text_of(alice.get(ASK, {"document": "acme-leave.md", "person": "bob"}))
    assert "✓</span> Bob may read acme-leave.md." in page
    assert "Everybody of the tenant is a reader." in page
    listed = text_of(alice.get(ASK, {"document": "handbook/acme-leave.md"}))
    assert "2 people may read acme-leave.md." in listed
    past = text_of(alice.get(ASK, {"document": "acme-leave.md", "person": "bob", "at": "2020-01-01 10:00"}))
    assert "could not read acme-leave.md on 2020-01-01 10:00 UTC" in past
    assert last_event(acme).code == "access.explained"


def test_the_question_page_shows_the_chain(acme, filled, alice):
    staff = tenants.find_group(actor=acme.alice, slug="staff")
    with scope(acme.system.grant):
        acl = tenants.intern_acl(acme.id, tenants.AclSpec(frozenset({f"group:{staff}"})))
        tenants.assign_acl(acme.id, subject_kind="document", subject_id=filled["documents.Document"].pk, acl_id=acl.pk)
    page = text_of(alice.get(ASK, {"document": "acme-leave.md", "person": "bob"}))
    assert re.search(r"Bob → HR \(group, since [\d-]+\) → Staff \(group, since", page)
    assert "None of its readers was this person" in text_of(alice.get(ASK, {"document": "acme-leave.md", "person": "alice"}))


def test_GOV_T10_the_question_page_says_the_same_of_foreign_and_absent(acme, filled, globex, alice):
    fill_tenant(globex)
    make_user(globex.id, "charlie", "member")
    answers = [text_of(alice.get(ASK, {"document": name, "person": "bob"})).replace(name, "X") for name in ("globex-leave.md", "nothing-at-all")]
    assert answers[0] == answers[1]
    answers = [text_of(alice.get(ASK, {"document": "acme-leave.md", "person": name})).replace(name, "X") for name in ("charlie", "nobody")]
    assert answers[0] == answers[1]


def test_the_question_page_is_for_those_who_may_explain(acme, filled):
    make_user(acme.id, "charlie", "knowledge_manager")
    assert sign_in("acme", "charlie").get(ASK).status_code == 404
    assert sign_in("acme", "bob").get(ASK).status_code == 302


def test_the_matrix_page_is_the_table_of_the_code(acme, alice):
    page = text_of(alice.get("/admin/tenants/roleassignment/matrix/"))
    for permission in roles.all_permissions():
        row = re.search(rf"<th scope=\"row\"><code>{re.escape(permission)}</code></th>(.*?)</tr>", page)[1]
        assert [("✓" in cell) for cell in row.split("</td>")[:-1]] == [permission in held for held in roles.PERMISSIONS.values()], permission
    assert page.count("✕ refused") >= 4


def test_units_groups_and_people_by_buttons(acme, filled, alice):
    bob = person(acme)
    act(alice, "tenants.OrgUnit", "create-unit", slug="east", name="East", parent="sales")
    with scope(acme.system.grant):
        east, sales = (OrgUnit.objects.get(slug=slug) for slug in ("east", "sales"))
        assert UnitParent.objects.get(valid_to__isnull=True).parent_id == sales.pk
    assert "unit_cycle" in act(alice, "tenants.OrgUnit", "move-unit", [sales], parent="east")[0]
    act(alice, "tenants.OrgUnit", "move-unit", [east], parent="")
    act(alice, "tenants.User", "place-person", [bob], unit="east")
    with scope(acme.system.grant):
        placed = UnitPlacement.objects.get(valid_to__isnull=True)
        nested = GroupNesting.objects.get(valid_to__isnull=True)
        inner, outer = nested.child, nested.parent
    assert placed.unit_id == east.pk
    act(alice, "tenants.UnitPlacement", "end-placement", [placed])
    assert "group_cycle" in act(alice, "tenants.Group", "nest-group", [outer], group="hr")[0]
    act(alice, "tenants.GroupNesting", "end-nesting", [nested])
    act(alice, "tenants.Group", "nest-group", [outer], group="hr")
    act(alice, "tenants.Group", "add-member", [outer], person="alice")
    act(alice, "tenants.User", "set-clearance", [bob], level="3")
    grant = tenants.grant_for(tenant_id=acme.id, user_id=acme.alice.user_id)
    assert {f"group:{inner.pk}", f"group:{outer.pk}"} <= grant.principals
    assert tenants.grant_for(tenant_id=acme.id, user_id=acme.bob.user_id).clearance == tenants.Sensitivity.RESTRICTED
    act(alice, "tenants.User", "deactivate-user", [bob])
    act(alice, "tenants.User", "reactivate-user", [person(acme)])
    assert person(acme).is_active
    act(alice, "tenants.User", "create-service-account", username="nightly", display_name="")
    assert person(acme, "nightly").kind == "service"
    assert "Warning:" in act(alice, "tenants.User", "grant-role", [person(acme, "alice")], role="approver")[0]


def test_operator_founds_looks_in_and_suspends_by_the_pages(acme, filled, alice):
    make_operator("alice")
    allow_without_second_person("support.open", "support.break_glass")
    operator = sign_in("platform", "alice")
    page = text_of(operator.get("/admin/tenants/tenant/all/"))
    assert "lets nobody in" in page
    assert alice.get("/admin/tenants/tenant/all/").status_code == 404
    opened = {"tenant": "acme", "kind": "support", "minutes": "30", "reason": "search finds nothing"}
    assert "support_not_allowed" in text_of(operator.post("/admin/tenants/tenant/all/", opened))
    with scope(acme.system.grant):
        own = Tenant.objects.get(pk=acme.id)
    act(alice, "tenants.Tenant", "allow-support", [own])
    response = operator.post("/admin/tenants/tenant/all/", opened)
    assert response.headers["Location"] == reverse("admin:index")
    assert 'class="acting"' in text_of(operator.get("/admin/documents/document/"))
    assert "acme-leave.md" in text_of(operator.get("/admin/documents/document/"))
    assert "25 days" not in operator.get("/admin/documents/chunkversion/").content.decode()
    assert operator.get("/admin/tenants/user/").status_code == 403
    assert operator.get("/admin/tenants/tenant/all/").status_code == 404
    with scope(acme.system.grant):
        session = SupportSession.objects.exclude(permit="").get()
    act(alice, "tenants.SupportSession", "end-session", [session])
    assert 'class="acting"' not in text_of(operator.get("/admin/"))
    told = act(operator, "tenants.Tenant", "found-tenant", slug="globex", name="Globex", admin="charlie", password="a long pass phrase")
    assert "/t/globex/login/" in told[0]
    act(operator, "tenants.Tenant", "suspend-tenant", slug="globex", reason="the contract has ended")
    assert tenants.find_tenant_id("globex") is None
    act(operator, "tenants.Tenant", "resume-tenant", slug="globex")
    assert tenants.find_tenant_id("globex") is not None


def test_an_operator_goes_back_into_an_open_session_of_their_own_only(acme):
    allow_without_second_person("support.break_glass")
    first = make_operator("alice")
    make_operator("bob")
    session = tenants.break_glass(actor=first, tenant_id=acme.id, reason="nobody answers and data leaks", minutes=30)
    fields = {"tenant": "acme", "session": str(session.id)}
    bob, alice = sign_in("platform", "bob"), sign_in("platform", "alice")
    assert "it is over" in text_of(bob.post("/admin/tenants/tenant/all/", fields))
    assert alice.post("/admin/tenants/tenant/all/", fields).status_code == 302
    assert "Break-glass session" in text_of(alice.get("/admin/"))


def test_break_glass_is_confirmed_on_a_page_by_another(acme, filled):
    first = make_operator("alice")
    make_operator("bob")
    allow_without_second_person("support.break_glass")
    session = tenants.break_glass(actor=first, tenant_id=acme.id, reason="nobody answers and data leaks", minutes=30)
    fields = {"slug": "acme", "session": str(session.id)}
    assert "second_person_needed" in act(sign_in("platform", "alice"), "tenants.Tenant", "confirm-break-glass", **fields)[0]
    assert act(sign_in("platform", "bob"), "tenants.Tenant", "confirm-break-glass", **fields) == ["confirmed."]
    with scope(acme.system.grant):
        assert User.objects.count() == 2
