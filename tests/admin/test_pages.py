"""Every page of every registered model: with data, with none, for a member, and for ids of another tenant."""

from __future__ import annotations

import inspect
import uuid

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from documents.models import Document
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.manager import scope
from tenants import api as tenants
from tests.admin.rows import add_document, fill_tenant, sign_in

ADMINS = {model._meta.label: entry for model, entry in admin.site._registry.items()}
PREFIX = {label: f"admin:{entry.opts.app_label}_{entry.opts.model_name}" for label, entry in ADMINS.items()}
WANTED = {"documents.KnowledgeBase", "documents.DataSource", "documents.Document", "documents.IngestJob", "documents.SyncRun", "retrieval.Channel",
          "retrieval.Manifest", "retrieval.Release", "retrieval.Takedown", "verification.AnswerRecord", "tenants.User", "tenants.Group",
          "tenants.RoleAssignment", "tenants.AclSet", "tenants.ApiToken", "approvals.ActionPolicy", "approvals.ApprovalRequest", "approvals.Delegation", "approvals.Absence", "approvals.BreakGlass", "ledger.Event", "ledger.Delivery"}  # fmt: skip


def keys_of(kit, label):
    with scope(kit.system.grant):
        model = ADMINS[label].model
        rows = model.objects.filter(pk=kit.id) if label == "tenants.Tenant" else model.objects.all()
        return list(rows.order_by("pk").values_list("pk", flat=True))


def list_url(label):
    return reverse(f"{PREFIX[label]}_changelist")


def test_all_governed_kinds_have_a_page():
    assert set(ADMINS) >= WANTED


def test_list_of_an_empty_tenant_says_what_belongs_there(alice):
    for label in sorted(ADMINS):
        response = alice.get(list_url(label))
        assert response.status_code == 200, label
        if not response.context["cl"].result_count:
            assert str(ADMINS[label].empty_text)[:20] in response.content.decode().replace("&#x27;", "'")
        assert label in {"tenants.Tenant", "ledger.Event"} or str(ADMINS[label].empty_text)


def test_list_object_and_history_render_with_data(acme, filled, alice):
    for label in sorted(ADMINS):
        keys = keys_of(acme, label)
        assert keys, f"no row of {label} was made"
        assert alice.get(list_url(label)).context["cl"].result_count > 0
        page = alice.get(reverse(f"{PREFIX[label]}_change", args=[keys[-1]]))
        assert page.status_code == 200, label
        assert "scoped-headline" in page.content.decode()
        assert alice.get(reverse(f"{PREFIX[label]}_history", args=[keys[-1]])).status_code == 200


def test_search_and_every_filter_choice_work(acme, filled, alice):
    for label in sorted(ADMINS):
        page = alice.get(list_url(label), {"q": "leave"})
        assert page.status_code == 200, label
        for spec in page.context["cl"].filter_specs:
            for choice in spec.choices(page.context["cl"]):
                assert alice.get(list_url(label) + choice["query_string"]).status_code == 200


def test_SYS_B3_foreign_id_reads_exactly_like_an_absent_one(acme, alice, globex, foreign):
    for label in sorted(ADMINS):
        absent, theirs = uuid.uuid4(), keys_of(globex, label)[-1]
        for name in ("change", "history", "delete"):
            answers = [alice.get(reverse(f"{PREFIX[label]}_{name}", args=[key])) for key in (theirs, absent)]
            seen = [(answer.status_code, answer.headers.get("Location")) for answer in answers]
            assert seen[0] == seen[1], (label, name)
            assert seen[0][0] in {302, 403}
        posts = [alice.post(reverse(f"{PREFIX[label]}_change", args=[key])) for key in (theirs, absent)]
        assert [post.status_code for post in posts] == [403, 403]
        searches = [alice.get(list_url(label), {"q": str(key)}) for key in (theirs, absent)]
        assert [search.context["cl"].result_count for search in searches] == [0, 0]


def test_lists_show_no_row_of_another_tenant(acme, filled, alice, globex, foreign):
    for label in sorted(ADMINS):
        page = alice.get(list_url(label)).content.decode()
        assert "globex" not in page.lower(), label


def test_member_is_sent_away_from_every_page(acme, filled, bob):
    for label in sorted(ADMINS):
        for address in (list_url(label), reverse(f"{PREFIX[label]}_change", args=[keys_of(acme, label)[-1]])):
            response = bob.get(address)
            assert response.status_code == 302
            assert response.headers["Location"].startswith("/admin/login/")
        assert bob.get("/admin/login/?next=/admin/").headers["Location"] == "/"


def test_stranger_comes_back_after_signing_in(client, db):
    response = client.get("/admin/", follow=False)
    assert response.headers["Location"] == "/admin/login/?next=/admin/"
    assert client.get(response.headers["Location"]).headers["Location"] == "/?next=%2Fadmin%2F"


def test_knowledge_manager_sees_knowledge_but_not_people(acme, filled):
    from tests.builders import make_user

    make_user(acme.id, "charlie", "knowledge_manager")
    charlie = sign_in("acme", "charlie")
    assert charlie.get(list_url("documents.Document")).status_code == 200
    for label in ("tenants.User", "verification.AnswerRecord", "ledger.Event", "tenants.ApiToken"):
        assert charlie.get(list_url(label)).status_code == 403
    page = charlie.get("/admin/").content.decode()
    assert list_url("documents.IngestJob") in page
    assert list_url("tenants.User") not in page


def test_GOV_B_content_of_unreadable_documents_is_absent(acme, filled, alice):
    with scope(acme.system.grant):
        secret = tenants.intern_acl(acme.id, tenants.AclSpec(frozenset({"tenant:*"}), tenants.Sensitivity.RESTRICTED, "audit"))
        document = Document.objects.get()
        chunk = document.chunk_versions.get()
        tenants.assign_acl(acme.id, subject_kind="document", subject_id=document.pk, acl_id=secret.pk)
    for label in (
        "documents.ChunkVersion",
        "documents.Element",
        "documents.Fact",
        "documents.ParseAttempt",
        "documents.RevisionChunk",
        "verification.Citation",
    ):
        assert alice.get(list_url(label)).context["cl"].result_count == 0
    assert alice.get(reverse("admin:documents_chunkversion_change", args=[chunk.pk])).status_code == 302
    assert (
        "25 days" not in alice.get(reverse("admin:verification_answerrecord_change", args=[filled["verification.AnswerRecord"].pk])).content.decode()
    )


def test_queries_of_a_list_do_not_grow_with_rows(acme, alice):
    rows = fill_tenant(acme)
    few = {label: count_queries(alice, label) for label in ADMINS}
    with scope(acme.system.grant):
        for n in range(6):
            add_document(rows, rows["documents.DataSource"], rows["documents.DataSource"].acl, f"more-{n}.md")
    assert {label: count_queries(alice, label) for label in ADMINS} == few


def count_queries(client, label):
    with CaptureQueriesContext(connection) as seen:
        assert client.get(list_url(label)).status_code == 200
    return len(seen)


def test_every_admin_class_is_scoped_short_and_saves_nothing():
    for label, entry in ADMINS.items():
        own = type(entry)
        assert isinstance(entry, ScopedAdmin), label
        assert not {"save_model", "delete_model", "save_related", "save_formset", "delete_queryset"} & set(vars(own)), label
        assert len(inspect.getsource(own).splitlines()) <= 31, label  # the decorator and 30 lines


def test_nothing_can_be_added_or_deleted_and_djangos_log_stays_empty(acme, filled, alice):
    for label in ADMINS:
        assert alice.get(reverse(f"{PREFIX[label]}_add")).status_code == 403
        assert alice.post(
            list_url(label), {"action": "delete_selected", "_selected_action": [str(keys_of(acme, label)[-1])], "index": "0"}
        ).status_code in {200, 302}
    with scope(acme.system.grant):
        assert not LogEntry.objects.exists()
        assert Document.objects.count() == 1


def test_search_palette_and_password_form_are_off(alice):
    assert alice.get("/admin/search/?s=user&extended=1").content == b""
    assert alice.get("/admin/password_change/").headers["Location"] == "/admin/"
    assert alice.post("/admin/logout/").headers["Location"] == "/"
    assert alice.get("/admin/").status_code == 302
