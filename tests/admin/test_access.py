"""Who reads, in the admin: shown before it is done, told by name, and only through the doors (GOV-B1, B3)."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from documents.models import AclTemplate, DataSource, Document
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models_access import AclChangeLine, AclChangeSet, PrincipalMapping
from tests.admin.test_actions import act, act_url, last_event, told_by
from tests.builders import make_library
from tests.tenants.support import ask_for_approval, me, only, reads

REASON = "asked for by the owner"
FIELDS = {"sensitivity": "INTERNAL", "purpose": "", "reason": REASON}


@pytest.fixture
def library(acme):
    made = make_library(acme, {"hr/leave.md": "# Leave\n\nLeave is 25 days.\n"}, readers=frozenset({me(acme.alice)}))
    made.sync()
    return made


def row_of(kit, model, **lookup):
    with scope(kit.system.grant):
        return model.objects.filter(**lookup).latest("pk")


def rehearse(client, label, action, row, **fields):
    """Sends the form once; returns the page with what would happen."""
    response = client.post(act_url(label, action), {"id": [str(row.pk)], **FIELDS, **fields})
    assert response.status_code == 200
    return response


def press_twice(client, label, action, row, **fields):
    """Sends the form, reads what will happen, sends it again; returns what the next page tells."""
    token = re.search(r'name="rehearsed" value="(\w+)"', rehearse(client, label, action, row, **fields).content.decode()).group(1)
    response = client.post(act_url(label, action), {"id": [str(row.pk)], **FIELDS, **fields, "rehearsed": token})
    assert response.status_code == 302
    return told_by(client, response)


def test_GOV_B3_readers_are_shown_by_name_before_they_are_set(acme, alice, library):
    document = row_of(acme, Document)
    page = alice.get(f"{act_url('documents.Document', 'set-readers')}?id={document.pk}").content.decode()
    assert "read now by: Alice (internal)" in page
    text = rehearse(alice, "documents.Document", "set-readers", document, readers="user:alice, user:bob").content.decode()
    assert "Gains by name: Bob." in text
    assert "hr/leave.md" in text
    assert not reads(acme, acme.bob, document.pk)
    told = press_twice(alice, "documents.Document", "set-readers", document, readers="user:alice, user:bob")
    assert "0 objects narrowed at once, 1 widened." in told[0]
    assert reads(acme, acme.bob, document.pk)
    page = alice.get(reverse("admin:documents_document_change", args=[document.pk])).content.decode()
    assert "Who may read: Alice, Bob (internal)." in page
    assert "Changes of readers: 1" in page


def test_fields_that_differ_from_what_was_shown_are_shown_again(acme, alice, library):
    document = row_of(acme, Document)
    shown = rehearse(alice, "documents.Document", "set-readers", document, readers="user:bob").content.decode()
    token = re.search(r'name="rehearsed" value="(\w+)"', shown).group(1)
    again = alice.post(act_url("documents.Document", "set-readers"), {"id": [str(document.pk)], **FIELDS, "readers": "everyone", "rehearsed": token})
    assert again.status_code == 200
    assert "everyone of the tenant" in again.content.decode()
    assert not reads(acme, acme.bob, document.pk)


def test_GOV_B6_reader_who_is_not_known_is_told_and_changes_nothing(acme, alice, library):
    document = row_of(acme, Document)
    assert "reader_unknown" in act(alice, "documents.Document", "set-readers", [document], readers="user:nobody-here", **FIELDS)[0]
    with scope(acme.system.grant):
        assert not AclChangeSet.objects.exists()


def test_GOV_B1_grant_that_waits_says_so_and_is_applied_or_withdrawn_on_its_page(acme, alice, library):
    ask_for_approval(acme)
    source = row_of(acme, DataSource)
    assert "waits for an approval" in press_twice(alice, "documents.DataSource", "set-source-readers", source, readers="everyone")[0]
    change = row_of(acme, AclChangeSet)
    page = alice.get(reverse("admin:tenants_aclchangeset_change", args=[change.pk])).content.decode()
    assert "Gains: everyone of the tenant whose clearance suffices." in page
    assert "Readers: Alice (internal) → everyone (internal)." in page
    assert change.payload_sha256 in page
    assert alice.get("/admin/").context["tiles"]
    offered = alice.post(act_url("tenants.AclChangeSet", "apply-grants"), {"id": [str(change.pk)]}).content.decode()
    assert "Request approval" in offered
    assert "everyone (internal)" in offered  # the diff of exactly what will run
    ask_for_approval(acme, "none")
    assert "2 objects have more readers now." in act(alice, "tenants.AclChangeSet", "apply-grants", [change])[0]
    ask_for_approval(acme)
    press_twice(alice, "documents.DataSource", "set-source-readers", source, readers="user:bob")
    press_twice(alice, "documents.DataSource", "set-source-readers", source, readers="everyone")
    waiting = row_of(acme, AclChangeSet, state="waiting")
    act(alice, "tenants.AclChangeSet", "withdraw-change", [waiting])
    assert last_event(acme).code == "acl.change_withdrawn"


def test_GOV_B1_revocation_shows_who_loses(acme, alice, library):
    document = row_of(acme, Document)
    text = rehearse(alice, "documents.Document", "set-readers", document, readers="").content.decode()
    assert "Loses: Alice." in text
    assert "Alice (internal) → nobody" in text


def test_template_is_set_and_ended(acme, alice, library):
    source = row_of(acme, DataSource)
    act(alice, "documents.DataSource", "set-acl-mode", [source], mode="template")
    assert "acl_mode_unchanged" in act(alice, "documents.DataSource", "set-acl-mode", [source], mode="template")[0]
    press_twice(alice, "documents.DataSource", "set-template", source, path_prefix="hr", readers="user:bob")
    document = row_of(acme, Document)
    assert reads(acme, acme.bob, document.pk)
    template = row_of(acme, AclTemplate)
    assert "Bob (internal)" in alice.get(reverse("admin:documents_acltemplate_change", args=[template.pk])).content.decode()
    act(alice, "documents.AclTemplate", "end-template", [template], reason=REASON)
    assert not reads(acme, acme.bob, document.pk)
    assert "ended" in alice.get(reverse("admin:documents_acltemplate_changelist")).content.decode()
    assert "acl_template" in act(alice, "documents.AclTemplate", "end-template", [template], reason=REASON)[0]


def test_document_follows_its_source_again(acme, alice, library):
    document = row_of(acme, Document)
    tenants.propose_acl_change(actor=acme.alice, lines=[tenants.AclLine("document", document.pk, document.path, only(me(acme.bob)))], reason=REASON)
    assert "follows its source from the next sync on" in act(alice, "documents.Document", "follow-source", [document])[0]
    assert "already" in act(alice, "documents.Document", "follow-source", [document])[0]


def test_mapping_is_made_and_ended(acme, alice):
    act(alice, "tenants.PrincipalMapping", "map-principal", kind="group", external="2000", word="role:member")
    row = row_of(acme, PrincipalMapping)
    assert row.principal == "role:member"
    act(alice, "tenants.PrincipalMapping", "end-mapping", [row])
    assert "mapping" in act(alice, "tenants.PrincipalMapping", "end-mapping", [row])[0]


def test_objects_of_a_change_are_listed_with_their_move(acme, alice, library):
    document = row_of(acme, Document)
    press_twice(alice, "documents.Document", "set-readers", document, readers="user:bob")
    line = row_of(acme, AclChangeLine)
    page = alice.get(reverse("admin:tenants_aclchangeline_changelist"), {"subject_id__exact": str(document.pk)})
    assert page.context["cl"].result_count == 1
    assert "nobody" in alice.get(reverse("admin:tenants_aclchangeline_change", args=[line.pk])).content.decode()
