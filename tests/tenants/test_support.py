"""Platform operators: where they may look, for how long, under which banner, and who reads of it."""

from __future__ import annotations

import json
import re

import pytest
from django.urls import URLPattern, get_resolver

from approvals import api as approvals
from rag4c.kernel.errors import Absent, Blocked, Conflict, Denied, DomainError, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.ledger.models import Event
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants import roles
from tenants.api.support_visits import approve_visit
from tenants.guarded import VisitDraft
from tenants.models import SupportSession, SupportVisit
from tests.builders import TenantKit, make_user, work_off
from tests.surfaces.doors import browser_of, log_in
from tests.tenants.platform import PLATFORM, allow_without_second_person, make_operator

REASON = "ticket 4711: search finds nothing"


@pytest.fixture
def operator(db):
    return make_operator("alice")


@pytest.fixture
def passing(operator):
    allow_without_second_person("support.open", "support.break_glass")
    return operator


def events(tenant_id, code=None):
    with scope(system_actor(tenant_id).grant):
        rows = Event.objects.order_by("at", "id")
        return [(row.code, row.actor, json.loads(bytes(row.canonical))) for row in (rows.filter(code=code) if code else rows)]


def open_session(kit, operator, minutes=30):
    tenants.allow_support(actor=kit.alice, is_allowed=True)
    return tenants.open_acting_session(actor=operator, tenant_id=kit.id, reason=REASON, minutes=minutes)


def act_in(kit, operator, session):
    return tenants.find_acting_actor(operator=operator, tenant_id=kit.id, session_id=session.id)


def test_GOV_A_opening_needs_a_second_person_until_a_policy_says_otherwise(acme, operator):
    tenants.allow_support(actor=acme.alice, is_allowed=True)
    with pytest.raises(Blocked, match="approval_required"):
        tenants.open_acting_session(actor=operator, tenant_id=acme.id, reason=REASON, minutes=30)
    assert tenants.break_glass(actor=operator, tenant_id=acme.id, reason=REASON, minutes=30).kind == "break_glass"  # the second person comes after


def test_GOV_A_an_approved_visit_opens_its_session_once_in_the_other_tenant(acme, operator):
    second = make_operator("bob")
    tenants.allow_support(actor=acme.alice, is_allowed=True)
    with pytest.raises(Blocked) as blocked:
        tenants.open_acting_session(actor=operator, tenant_id=acme.id, reason=REASON, minutes=30)
    asked = approvals.submit_request(actor=operator, action="support.open", payload=blocked.value.data["payload"], reason=REASON)
    with pytest.raises(DomainError):
        approvals.vote(actor=operator, request_id=asked, approves=True)
    approvals.vote(actor=second, request_id=asked, approves=True)
    platform = TenantKit(PLATFORM_TENANT, "platform", operator, second)
    for _ in range(2):  # the approval's delivery, then the visit's
        work_off(platform)
    with scope(PLATFORM.grant):
        visit = SupportVisit.objects.get()
    assert visit.outcome == "opened"
    tenants.open_approved_visit(str(PLATFORM_TENANT), str(visit.pk))
    assert [body["subject"][1] for _, _, body in events(acme.id, "support.session_opened")] == [str(visit.pk)]
    assert tenants.find_acting_actor(operator=operator, tenant_id=acme.id, session_id=visit.pk) is not None


def test_GOV_T8_an_approved_visit_is_refused_where_the_tenant_lets_nobody_in(acme, operator):
    draft = VisitDraft(acme.id, REASON, 30)
    allow_without_second_person("support.open")
    visit = approve_visit(actor=operator, visit=draft)
    tenants.open_approved_visit(str(PLATFORM_TENANT), str(visit))
    with scope(PLATFORM.grant):
        assert SupportVisit.objects.get().outcome == "support_not_allowed"
    assert events(acme.id, "support.session_opened") == []


def test_GOV_T8_only_where_the_tenant_allows_it(acme, passing):
    with pytest.raises(Denied, match="support_not_allowed"):
        tenants.open_acting_session(actor=passing, tenant_id=acme.id, reason=REASON, minutes=30)
    session = open_session(acme, passing)
    assert act_in(acme, passing, session) is not None
    tenants.allow_support(actor=acme.alice, is_allowed=False)
    assert act_in(acme, passing, session) is None


def test_GOV_T8_both_ledgers_know_operator_and_session(acme, passing):
    session = open_session(acme, passing)
    for tenant_id in (acme.id, PLATFORM_TENANT):
        _, _, body = events(tenant_id, "support.session_opened")[-1]
        assert body["subject"] == ["support_session", str(session.id)]
        assert body["data"]["by"] == passing.ref
        assert body["data"]["tenant"] == str(acme.id)
        assert REASON not in json.dumps(body)
    acting, _ = act_in(acme, passing, session)
    tenants.who_could_see(actor=acting, subject=("document", session.id))
    _, ref, _ = events(acme.id, "access.readers_listed")[-1]
    assert ref == f"operator:{passing.user_id.hex}:{session.id.hex}"
    assert len(ref) <= 80


def test_an_acting_operator_looks_and_changes_nothing(acme, passing):
    acting, _ = act_in(acme, passing, open_session(acme, passing))
    assert acting.grant.permissions == roles.SUPPORT
    assert acting.grant.principals == frozenset()
    assert acting.grant.clearance == tenants.Sensitivity.PUBLIC
    for change in (
        lambda: tenants.create_group(actor=acting, slug="x", name="X"),
        lambda: tenants.grant_role(actor=acting, user_id=acme.bob.user_id, role="auditor"),
        lambda: tenants.allow_support(actor=acting, is_allowed=True),
        lambda: tenants.deactivate_user(actor=acting, user_id=acme.bob.user_id),
    ):
        with pytest.raises(Denied):
            change()


def test_time_is_limited_by_the_databases_clock(acme, passing):
    session = open_session(acme, passing)
    with scope(acme.system.grant):
        SupportSession.objects.update(opened_at="2026-01-01T00:00:00Z", expires_at="2026-01-01T00:30:00Z")
    assert act_in(acme, passing, session) is None
    for minutes in (4, 241):
        with pytest.raises(Invalid, match="minutes_invalid"):
            tenants.open_acting_session(actor=passing, tenant_id=acme.id, reason=REASON, minutes=minutes)
    with pytest.raises(Invalid, match="reason_invalid"):
        tenants.open_acting_session(actor=passing, tenant_id=acme.id, reason="because", minutes=30)


def test_the_tenants_admin_ends_it_and_so_does_the_operator(acme, globex, passing):
    first, second = open_session(acme, passing), open_session(acme, passing)
    with pytest.raises(Denied):
        tenants.end_acting_session(actor=acme.bob, session_id=first.id)
    with pytest.raises(Absent):
        tenants.end_acting_session(actor=globex.alice, session_id=first.id)
    tenants.end_acting_session(actor=acme.alice, session_id=first.id)
    assert act_in(acme, passing, first) is None
    acting, _ = act_in(acme, passing, second)
    with pytest.raises(Denied):
        tenants.end_acting_session(actor=acting, session_id=first.id)
    tenants.end_acting_session(actor=acting, session_id=second.id)
    assert act_in(acme, passing, second) is None
    for tenant_id in (acme.id, PLATFORM_TENANT):
        assert len(events(tenant_id, "support.session_ended")) == 2


def test_a_session_is_its_operators_alone_and_ends_with_the_role(acme, passing):
    session = open_session(acme, passing)
    assert act_in(acme, make_operator("bob"), session) is None
    tenants.revoke_role(actor=PLATFORM, user_id=passing.user_id, role="platform_operator")
    after = tenants.actor_for_user(tenant_id=PLATFORM_TENANT, user_id=passing.user_id)
    assert act_in(acme, after, session) is None


def test_nobody_but_operators_opens(acme, globex):
    tenants.allow_support(actor=globex.alice, is_allowed=True)
    for actor in (acme.alice, acme.system):
        with pytest.raises(Denied, match="not_allowed"):
            tenants.open_acting_session(actor=actor, tenant_id=globex.id, reason=REASON, minutes=30)
    with pytest.raises(Denied, match="person_needed"):
        tenants.open_acting_session(actor=PLATFORM, tenant_id=globex.id, reason=REASON, minutes=30)


def test_GOV_A13_break_glass_is_alerted_and_confirmed_by_another_in_time(acme, passing):
    session = tenants.break_glass(actor=passing, tenant_id=acme.id, reason=REASON, minutes=30)
    assert act_in(acme, passing, session) is not None  # although Acme lets nobody in
    for tenant_id in (acme.id, PLATFORM_TENANT):
        assert len(events(tenant_id, "support.glass_broken")) == 1
    with pytest.raises(Denied, match="second_person_needed"):
        tenants.confirm_break_glass(actor=passing, tenant_id=acme.id, session_id=session.id)
    second = make_operator("bob")
    tenants.confirm_break_glass(actor=second, tenant_id=acme.id, session_id=session.id)
    with pytest.raises(Conflict, match="confirmed_already"):
        tenants.confirm_break_glass(actor=second, tenant_id=acme.id, session_id=session.id)
    late = tenants.break_glass(actor=passing, tenant_id=acme.id, reason=REASON, minutes=30)
    with scope(acme.system.grant):
        SupportSession.objects.filter(pk=late.id).update(confirm_until="2026-01-01T00:00:00Z")
    assert act_in(acme, passing, session) is not None
    assert act_in(acme, passing, late) is None  # nobody confirmed it in time
    with pytest.raises(Conflict, match="confirm_too_late"):
        tenants.confirm_break_glass(actor=second, tenant_id=acme.id, session_id=late.id)


def browser_in(kit, operator, session):
    client, _ = log_in("platform", operator_name(operator))
    store = client.session
    store["_rag4c_acting"] = [str(kit.id), str(session.id)]
    store.save()
    return client


def operator_name(operator):
    from tenants.models import User

    with scope(PLATFORM.grant):
        return User.objects.get(pk=operator.user_id).username


def plain_pages():
    """Addresses without parameters, of pages and of the admin."""
    admin = next(entry for entry in get_resolver().url_patterns if getattr(entry, "app_name", "") == "admin")
    lists = {
        f"/admin/{match[1]}/{match[2]}/" for match in (re.fullmatch(r"(\w+)/(\w+)/", str(entry.pattern)) for entry in admin.url_patterns) if match
    }
    staff = {f"/{entry.pattern}" for entry in get_resolver().url_patterns if isinstance(entry, URLPattern) and "<" not in str(entry.pattern)}
    return sorted(lists | staff | {"/admin/", "/", "/answers/", "/help/"})


def test_the_banner_is_on_every_page_while_acting(acme, passing):
    session = open_session(acme, passing)
    client = browser_in(acme, passing, session)
    seen = 0
    for path in plain_pages():
        response = client.get(path)
        if response.status_code == 200 and response.headers["Content-Type"].startswith("text/html") and "/api/" not in path:
            assert 'class="acting"' in response.content.decode(), path
            assert "Acme" in response.content.decode(), path
            seen += 1
    assert seen >= 10
    response = client.post("/support/end/")
    assert response.status_code == 302
    assert 'class="acting"' not in client.get("/help/").content.decode()
    assert act_in(acme, passing, session) is None


def test_a_session_that_is_over_leaves_the_operator_at_home(acme, passing):
    session = open_session(acme, passing)
    client = browser_in(acme, passing, session)
    tenants.end_acting_session(actor=acme.alice, session_id=session.id)
    page = client.get("/help/").content.decode()
    assert 'class="acting"' not in page
    assert "_rag4c_acting" not in client.session


def test_a_member_cannot_act_by_writing_the_session_of_another(acme, globex, passing):
    session = open_session(acme, passing)
    client = browser_of(globex, "alice")
    store = client.session
    store["_rag4c_acting"] = [str(acme.id), str(session.id)]
    store.save()
    assert 'class="acting"' not in client.get("/help/").content.decode()


def test_an_auditor_of_the_tenant_sees_who_came(acme, passing):
    open_session(acme, passing)
    auditor = make_user(acme.id, "charlie", "auditor")
    assert "ledger.read" in auditor.grant.permissions
    assert events(acme.id, "support.session_opened")[0][1] == "system"
