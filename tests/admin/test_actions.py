"""Each action of the admin: its happy path, one refusal, what a foreign selection does, and that only the api writes."""

from __future__ import annotations

import uuid

import pytest
from django.contrib import admin
from django.urls import reverse

from documents import api as documents
from documents.models import DataSource, Document, IngestJob, KnowledgeBase, SyncRun
from rag4c.kernel.grant import Actor, Grant
from rag4c.ledger.models import Event
from rag4c.scope.admin_parts import ACTIONS, actions_for
from rag4c.scope.manager import scope
from retrieval.models import Channel, Manifest, Takedown
from tenants import api as tenants
from tenants.api.access import AclSpec
from tenants.models import ApiToken, Group, RoleAssignment, User
from tenants.roles import KNOWLEDGE_MANAGER, PERMISSIONS
from tests.admin.rows import add_document, sign_in
from tests.builders import PASSWORD, make_user

REASON = "wrong figure, being corrected"
GOVERNED = {
    "tenants.User": {"create-user", "create-service-account", "grant-role", "revoke-role", "deactivate-user", "reactivate-user", "place-person",
                     "set-clearance"},
    "tenants.Group": {"create-group", "add-member", "nest-group"},
    "tenants.GroupNesting": {"end-nesting"},
    "tenants.Membership": {"end-membership"},
    "tenants.OrgUnit": {"create-unit", "move-unit"},
    "tenants.UnitPlacement": {"end-placement"},
    "tenants.Tenant": {"allow-support", "forbid-support", "found-tenant", "suspend-tenant", "resume-tenant", "confirm-break-glass"},
    "tenants.SupportSession": {"end-session"},
    "compliance.Task": {"claim-task", "assign-task", "release-task", "snooze-task", "resolve-task"},
    "compliance.ExportJob": {"request-export"},
    "compliance.SavedSearch": {"save-search", "remove-search"},
    "ledger.Event": {"request-export", "save-search"},
    "ledger.Delivery": {"retry-delivery"},
    "tenants.RoleAssignment": {"end-assignment"},
    "tenants.ApiToken": {"revoke-token"},
    "documents.KnowledgeBase": {"create-base", "draft-manifest"},
    "documents.DataSource": {"sync-source", "set-source-readers", "set-template", "set-acl-mode"},
    "documents.AclTemplate": {"end-template"},
    "tenants.AclChangeSet": {"apply-grants", "withdraw-change"},
    "tenants.PrincipalMapping": {"map-principal", "end-mapping"},
    "documents.IngestJob": {"retry-job"},
    "documents.Document": {"take-down", "end-takedown", "set-readers", "follow-source"},
    "retrieval.Manifest": {"release-manifest"},
    "retrieval.Channel": {"roll-back"},
    "retrieval.Takedown": {"end-this-takedown"},
    "approvals.ApprovalRequest": {"approve", "reject", "comment", "cancel", "execute"},
    "approvals.ActionPolicy": {"set-policy"},
    "approvals.Delegation": {"delegate-votes", "end-delegation"},
    "approvals.Absence": {"set-absence", "end-absence"},
    "approvals.BreakGlass": {"confirm", "dispute"},
}  # fmt: skip
# who reads is for those who manage access, not for those who manage knowledge
ACCESS = {"set-readers", "follow-source", "set-source-readers", "set-template", "set-acl-mode", "end-template"}


def act_url(label, action):
    return reverse(f"admin:{label.lower().replace('.', '_')}_act", args=[action])


def act(client, label, action, rows=(), **fields):
    """Presses the button; returns what the next page tells."""
    response = client.post(act_url(label, action), {"id": [str(row.pk) for row in rows], **fields})
    assert response.status_code == 302, response.content.decode()[:2000]
    return told_by(client, response)


def told_by(client, response):
    return [str(message) for message in client.get(response.headers["Location"]).context["messages"]]


def last_event(kit):
    with scope(kit.system.grant):
        return Event.objects.first()


def reload(kit, row):
    with scope(kit.system.grant):
        return type(row).objects.get(pk=row.pk)


def person(kit, name="bob"):
    with scope(kit.system.grant):
        return User.objects.get(username_norm=name)


def test_actions_are_the_governed_list():
    assert {label: {action.name for action in actions} for label, actions in ACTIONS.items()} == GOVERNED


def test_list_action_leads_to_a_page_that_shows_what_will_happen(acme, filled, alice):
    document = filled["documents.Document"]
    listing = reverse("admin:documents_document_changelist")
    response = alice.post(listing, {"action": "take-down", "_selected_action": [str(document.pk)], "index": "0"})
    assert response.status_code == 302
    page = alice.get(response.headers["Location"])
    text = page.content.decode()
    assert "acme-leave.md" in text
    assert "hidden from every channel" in text
    assert 'name="reason"' in text
    with scope(acme.system.grant):
        assert not Takedown.objects.filter(ended_at__isnull=True).exists()


def test_take_down_and_end_it(acme, filled, alice):
    document = filled["documents.Document"]
    told = act(alice, "documents.Document", "take-down", [document], reason=REASON)
    assert told == ["acme-leave.md: taken down: no channel shows it from the next question on."]
    event = last_event(acme)
    assert (event.code, event.channel, event.actor) == ("document.taken_down", "admin", acme.alice.ref)
    assert "takedown_active" in act(alice, "documents.Document", "take-down", [document], reason=REASON)[0]
    act(alice, "documents.Document", "end-takedown", [document])
    assert last_event(acme).code == "document.takedown_ended"
    assert "no_takedown" in act(alice, "documents.Document", "end-takedown", [document])[0]


def test_reason_that_is_too_short_stays_on_the_page(acme, filled, alice):
    response = alice.post(act_url("documents.Document", "take-down"), {"id": [str(filled["documents.Document"].pk)], "reason": "no"})
    assert response.status_code == 200
    assert "scoped-error" in response.content.decode()


def test_takedown_is_ended_from_its_own_list(acme, filled, alice):
    act(alice, "documents.Document", "take-down", [filled["documents.Document"]], reason=REASON)
    with scope(acme.system.grant):
        takedown = Takedown.objects.get(ended_at__isnull=True)
    act(alice, "retrieval.Takedown", "end-this-takedown", [takedown])
    assert reload(acme, takedown).ended_at is not None
    assert "no_takedown" in act(alice, "retrieval.Takedown", "end-this-takedown", [takedown])[0]


def test_retry_reports_each_job_with_its_own_outcome(acme, filled, alice):
    failed = filled["documents.IngestJob"]
    with scope(acme.system.grant):
        document = add_document(filled, filled["documents.DataSource"], filled["documents.DataSource"].acl, "done.md", "completed")
        done = IngestJob.objects.get(revision__document=document)
    told = act(alice, "documents.IngestJob", "retry-job", [failed, done])
    assert sorted("state_move_refused" in line for line in told) == [False, True]
    assert reload(acme, failed).state == "waiting"
    assert reload(acme, done).state == "completed"


def test_sync_reads_the_folder_again(acme, alice, tmp_path):
    (tmp_path / "leave.md").write_text("# Leave\n\nLeave is 25 days.\n")
    base = documents.create_knowledge_base(actor=acme.alice, slug="hr", name="HR")
    source_id = documents.create_folder_source(actor=acme.alice, knowledge_base_id=base, root=tmp_path, acl=AclSpec(frozenset({"tenant:*"})))
    with scope(acme.system.grant):
        source = DataSource.objects.get(pk=source_id)
    told = act(alice, "documents.DataSource", "sync-source", [source])
    assert "1 files: 1 added" in told[0]
    with scope(acme.system.grant):
        assert SyncRun.objects.get().started_by == acme.alice.ref
    (tmp_path / "leave.md").unlink()
    assert "source_empty" in act(alice, "documents.DataSource", "sync-source", [source])[0]


def test_create_base_and_draft_its_manifest(acme, alice):
    act(alice, "documents.KnowledgeBase", "create-base", slug="it", name="IT", workspace="main")
    assert "knowledge_base_taken" in act(alice, "documents.KnowledgeBase", "create-base", slug="it", name="IT", workspace="main")[0]
    with scope(acme.system.grant):
        base = KnowledgeBase.objects.get(slug="it")
    assert "manifest #1 holds 0 documents" in act(alice, "documents.KnowledgeBase", "draft-manifest", [base])[0]
    with scope(acme.system.grant):
        assert Manifest.objects.get().created_by == acme.alice.ref


def test_release_and_roll_back(acme, filled, alice):
    with scope(acme.system.grant):
        older = Manifest.objects.get(seq=1)
    live = filled["retrieval.Channel"]
    assert "live serves it now" in act(alice, "retrieval.Manifest", "release-manifest", [older], channel="live", reason="figures are right here")[0]
    assert reload(acme, live).manifest_id == older.pk
    assert "rolled back" in act(alice, "retrieval.Channel", "roll-back", [live], reason="they were not")[0]
    assert reload(acme, live).manifest_id == filled["retrieval.Manifest"].pk
    with scope(acme.system.grant):
        staging = Channel.objects.get(name="staging")
    assert "nothing_to_roll_back" in act(alice, "retrieval.Channel", "roll-back", [staging], reason="try")[0]


def test_create_person_who_can_sign_in(acme, alice):
    told = act(alice, "tenants.User", "create-user", username="charlie", display_name="Charlie", password=PASSWORD, role="knowledge_manager")
    assert told == ["charlie can sign in now."]
    assert "knowledge_manager" in {row.role for row in roles_of(acme, "charlie")}
    assert "username_taken" in act(alice, "tenants.User", "create-user", username="charlie", password=PASSWORD, role="member")[0]
    assert "password_invalid" in act(alice, "tenants.User", "create-user", username="dana", password="short", role="member")[0]


def roles_of(kit, name):
    with scope(kit.system.grant):
        return list(RoleAssignment.objects.filter(user__username_norm=name, valid_to__isnull=True))


def test_grant_and_revoke_a_role(acme, alice):
    bob = person(acme)
    act(alice, "tenants.User", "grant-role", [bob], role="knowledge_manager")
    assert {row.role for row in roles_of(acme, "bob")} == {"member", "knowledge_manager"}
    act(alice, "tenants.User", "revoke-role", [bob], role="knowledge_manager")
    assert {row.role for row in roles_of(acme, "bob")} == {"member"}
    assert "last_admin" in act(alice, "tenants.User", "revoke-role", [person(acme, "alice")], role="tenant_admin")[0]
    act(alice, "tenants.RoleAssignment", "end-assignment", roles_of(acme, "bob"))
    assert roles_of(acme, "bob") == []
    assert "last_admin" in act(alice, "tenants.RoleAssignment", "end-assignment", roles_of(acme, "alice"))[0]


def test_deactivate_a_person(acme, alice):
    act(alice, "tenants.User", "deactivate-user", [person(acme)])
    assert not person(acme).is_active
    assert "last_admin" in act(alice, "tenants.User", "deactivate-user", [person(acme, "alice")])[0]


def test_revoke_a_token(acme, alice):
    token_id = tenants.create_token(actor=acme.bob, user_id=acme.bob.user_id, name="script").id
    with scope(acme.system.grant):
        token = ApiToken.objects.get(pk=token_id)
    act(alice, "tenants.ApiToken", "revoke-token", [token])
    assert reload(acme, token).revoked_at is not None


def test_create_a_group(acme, alice):
    act(alice, "tenants.Group", "create-group", slug="hr", name="HR")
    with scope(acme.system.grant):
        assert Group.objects.get().name == "HR"
    assert "group_taken" in act(alice, "tenants.Group", "create-group", slug="hr", name="HR")[0]


@pytest.mark.parametrize(("label", "action"), sorted((label, name) for label, names in GOVERNED.items() for name in names))
def test_action_is_absent_for_those_whose_grant_lacks_the_permission(acme, bob, label, action):
    assert bob.get(act_url(label, action)).status_code == 302  # to the start page
    make_user(acme.id, "charlie", "knowledge_manager")
    charlie = sign_in("acme", "charlie")
    needed = {next(row.permission for row in ACTIONS[label] if row.name == action), view_permission_of(label)}
    seen = charlie.get(act_url(label, action)).status_code
    assert seen in ({200, 302} if needed <= PERMISSIONS[KNOWLEDGE_MANAGER] else {404})


def view_permission_of(label):
    return next(page.view_permission for model, page in admin.site._registry.items() if model._meta.label == label)


def test_buttons_follow_the_grant_and_not_the_role(rf):
    request = rf.get("/")
    for permissions, shown in (({"document.list"}, set()), ({"document.list", "release"}, GOVERNED["documents.Document"] - ACCESS)):
        request.actor = Actor(Grant(uuid.uuid4(), permissions=frozenset(permissions)))
        assert {action.name for action in actions_for(request, Document)} == shown


def test_SYS_B3_foreign_selection_is_as_good_as_none(acme, alice, globex, foreign):
    for label, names in GOVERNED.items():
        for name in names & {action.name for action in ACTIONS[label] if action.needs_object}:
            fields = {"reason": REASON, "channel": "live", "role": "member"}
            for key in (str(foreign_key(globex, label)), str(uuid.uuid4()), "nonsense"):
                answer = alice.post(act_url(label, name), {"id": [key], **fields})
                assert (answer.status_code, answer.headers.get("Location")) == (302, reverse(list_name(label))), (label, name)
                assert told_by(alice, answer) == ["Nothing of this list is selected."]


def list_name(label):
    return f"admin:{label.lower().replace('.', '_')}_changelist"


def foreign_key(kit, label):
    from django.apps import apps

    with scope(kit.system.grant):
        return apps.get_model(label).objects.order_by("-pk").first().pk


def test_more_than_two_hundred_are_not_acted_on_at_once(acme, filled, alice, monkeypatch):
    monkeypatch.setattr("rag4c.scope.admin_actions.MAX_SELECTED", 0)
    listing = reverse("admin:documents_document_changelist")
    response = alice.post(listing, {"action": "take-down", "_selected_action": [str(filled["documents.Document"].pk)], "index": "0"})
    assert response.headers["Location"] == listing


def test_action_from_an_object_page_comes_back_to_it(acme, filled, alice):
    document = filled["documents.Document"]
    page = alice.get(reverse("admin:documents_document_change", args=[document.pk])).content.decode()
    assert f"{act_url('documents.Document', 'take-down')}?id={document.pk}&amp;from=object" in page
    assert "It is not taken down." in page
    response = alice.post(act_url("documents.Document", "take-down"), {"id": [str(document.pk)], "from": "object", "reason": REASON})
    assert response.headers["Location"] == reverse("admin:documents_document_change", args=[document.pk])


def test_actions_run_outside_any_scope_of_the_page(acme, filled, alice, monkeypatch):
    from dataclasses import replace

    from rag4c.scope.manager import has_scope

    seen = []
    take_down = next(action for action in ACTIONS["documents.Document"] if action.name == "take-down")
    spied = replace(take_down, call=lambda actor, row, fields: seen.append(has_scope()) or "done")
    monkeypatch.setitem(ACTIONS, "documents.Document", [spied])
    act(alice, "documents.Document", "take-down", [filled["documents.Document"]], reason=REASON)
    assert seen == [False]
