"""Who read what, and who was refused what: recorded where it happens, with ids and codes only."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from compliance import api as compliance
from compliance.rules import AuditQuery
from rag4c.kernel import clock
from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.ledger.models import Event
from rag4c.scope import refusals
from rag4c.scope.manager import scope
from tenants import api as tenants
from tests.admin.rows import fill_tenant, sign_in
from tests.builders import ask, make_user, publish
from tests.surfaces.doors import browser_of, program_of
from verification import api as verification

QUESTION = "How many days of annual leave do employees get?"


@pytest.fixture(autouse=True)
def static_folder(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path


@pytest.fixture
def library(acme):
    return publish(acme, {"leave.md": "# Leave\n\nEmployees get 25 days of annual leave.\n", "rooms.md": "# Rooms\n\nRoom 1 seats 8 people.\n"})


def events(kit, *codes):
    with scope(kit.system.grant):
        return [(row.code, row.actor, row.subject_kind, row.subject_id, json.loads(bytes(row.canonical))["data"])
                for row in Event.objects.filter(code__in=codes).order_by("at", "id")]  # fmt: skip


def test_reading_an_answer_a_citation_and_a_lifeline_is_one_event_each(acme, library):
    leave = str(library.document_id("leave.md"))
    answer = ask(acme.bob, QUESTION)
    verification.read_answer(actor=acme.bob, answer_id=answer.answer_id)
    verification.read_cited_document(actor=acme.bob, answer_id=answer.answer_id, n=1)
    verification.read_lifeline(actor=acme.bob, answer_id=answer.answer_id)
    found = events(acme, "answer.read", "citation.read", "lifeline.read")
    assert [(row[0], row[1]) for row in found] == [
        ("answer.read", acme.bob.ref), ("answer.read", acme.bob.ref), ("citation.read", acme.bob.ref), ("lifeline.read", acme.bob.ref),
    ]  # fmt: skip
    assert found[1][2:] == ("answer", str(answer.answer_id), {"documents": [leave]})
    assert found[2][2:] == ("document", leave, {"answer": str(answer.answer_id), "n": 1})


def test_GOV_U6_readings_hold_ids_and_no_text(acme, library):
    answer = ask(acme.bob, QUESTION)
    verification.read_cited_document(actor=acme.bob, answer_id=answer.answer_id, n=1)
    with scope(acme.system.grant):
        bodies = b"".join(bytes(row.canonical) for row in Event.objects.all())
    assert b"annual leave" not in bodies
    assert b"leave.md" not in bodies


def test_GOV_U5_what_was_absent_was_not_read(acme, library):
    answer = ask(acme.bob, QUESTION)
    before = len(events(acme, "answer.read"))
    charlie = make_user(acme.id, "charlie", "member")
    with pytest.raises(Absent):
        verification.read_answer(actor=charlie, answer_id=answer.answer_id)
    assert len(events(acme, "answer.read")) == before


def test_who_read_a_document_is_answered_from_readings_and_answers(acme, library):
    leave, rooms = library.document_id("leave.md"), library.document_id("rooms.md")
    answer = ask(acme.bob, QUESTION)
    verification.read_cited_document(actor=acme.alice, answer_id=answer.answer_id, n=1)
    found = compliance.who_read(actor=acme.alice, document_id=leave)
    assert [(row.who, row.how, row.through) for row in found] == [
        (acme.alice.ref, "citation.read", str(answer.answer_id)), (acme.bob.ref, "answer.read", str(answer.answer_id)),
    ]  # fmt: skip
    assert compliance.who_read(actor=acme.alice, document_id=rooms) == []
    assert compliance.who_read(actor=acme.alice, document_id=leave, until=clock.now() - timedelta(days=1)) == []
    assert len(compliance.who_read(actor=acme.alice, document_id=leave, since=clock.now() - timedelta(days=1))) == 2


def test_GOV_U13_asking_who_read_is_itself_recorded_and_not_for_everybody(acme, library):
    leave = library.document_id("leave.md")
    compliance.who_read(actor=acme.alice, document_id=leave)
    assert events(acme, "audit.read") == [("audit.read", acme.alice.ref, "document_readers", str(leave), {})]
    with pytest.raises(Denied):
        compliance.who_read(actor=acme.bob, document_id=leave)


def test_a_document_that_was_withheld_from_the_reader_was_not_read(acme, library):
    leave = library.document_id("leave.md")
    answer = ask(acme.bob, QUESTION)
    with scope(acme.system.grant):
        secret = tenants.intern_acl(acme.id, tenants.AclSpec(frozenset({"user:nobody"})))
        tenants.assign_acl(acme.id, subject_kind="document", subject_id=leave, acl_id=secret.pk)
    verification.read_answer(actor=acme.bob, answer_id=answer.answer_id)
    assert [row.how for row in compliance.who_read(actor=acme.alice, document_id=leave)] == ["answer.read"]  # the first time only


def test_GOV_U13_pages_of_the_ledger_and_of_content_are_recorded_when_opened(acme):
    rows, alice = fill_tenant(acme), sign_in("acme", "alice")
    with scope(acme.system.grant):
        event = Event.objects.first()
    alice.get("/admin/ledger/event/?code__exact=role.granted")
    alice.get(f"/admin/ledger/event/{event.pk}/change/")
    chunk = rows["documents.ChunkVersion"]
    alice.get(f"/admin/documents/chunkversion/{chunk.pk}/change/")
    alice.get(f"/admin/verification/answerrecord/{rows['verification.AnswerRecord'].pk}/change/")
    found = events(acme, "audit.searched", "audit.read", "document.read", "answer.read")
    assert [row[0] for row in found] == ["audit.searched", "audit.read", "document.read", "answer.read"]
    assert found[1][2:4] == ("event", str(event.pk))
    assert found[2][2:] == ("document", str(rows["documents.Document"].pk), {"page": "chunkversion", "id": str(chunk.pk)})


def test_GOV_U5_a_refusal_over_rest_is_recorded_after_the_rollback_with_its_code_only(acme):
    response = program_of(acme.bob).get("/api/documents?knowledge_base=01920000-0000-7000-8000-000000000000")
    assert response.status_code == 403
    assert events(acme, "api_documents.refused") == [("api_documents.refused", acme.bob.ref, "action", "api_documents", {"code": "not_allowed"})]


def test_GOV_U5_a_refused_admin_action_is_recorded(acme):
    fill_tenant(acme)
    alice = sign_in("acme", "alice")
    alice.post("/admin/tenants/user/act/revoke-role/", {"id": [str(acme.alice.user_id)], "role": "tenant_admin"})
    assert [row[4] for row in events(acme, "revoke_role.refused")] == [{"code": "last_admin"}]


def test_GOV_U5_what_is_absent_or_invalid_or_asked_by_a_stranger_is_no_refused_attempt(acme, client):
    browser = browser_of(acme, "alice")
    browser.get("/answers/01920000-0000-7000-8000-000000000000/")
    program_of(acme.bob).post("/api/query", {"question": ""}, content_type="application/json")
    client.get("/api/documents")
    with scope(acme.system.grant):
        assert not Event.objects.filter(code__endswith=".refused").exists()


def test_GOV_U5_a_guarded_action_is_named_by_its_code_and_inside_a_scope_nothing_is_written(acme):
    error = Conflict("approval_required", "Ask.", {"action": "channel.release"})
    with scope(acme.bob.grant):
        refusals.note_refusal(acme.bob, "page", error)
    refusals.note_refusal(acme.bob, "page", error)
    assert [row[3] for row in events(acme, "channel.release.refused")] == ["channel.release"]
    refusals.note_refusal(acme.bob, "x" * 200, Denied("not_allowed"))
    refusals.note_refusal(acme.bob, "Ünder Scores!", Denied("not_allowed"))
    with scope(acme.system.grant):
        assert Event.objects.filter(code__in=["x" * 72 + ".refused", "nder_scores.refused"]).count() == 2


def test_a_refusal_that_cannot_be_written_is_logged_and_the_answer_goes_out(acme, monkeypatch, capsys):
    from django.db import OperationalError

    def fail(*_):
        raise OperationalError("gone")

    before = list(refusals._recorder)
    refusals.install_refusals(fail)
    try:
        assert program_of(acme.bob).get("/api/documents").status_code == 403
    finally:
        refusals.install_refusals(before[0])


def test_saved_searches_are_ones_own(acme):
    search_id = compliance.save_search(actor=acme.alice, name=" roles ", query=AuditQuery(code="role.*", actor="system"))
    with pytest.raises(Conflict):
        compliance.save_search(actor=acme.alice, name="roles", query=AuditQuery(code="x"))
    for name, query in (("", AuditQuery(code="x")), ("empty", AuditQuery())):
        with pytest.raises(Invalid):
            compliance.save_search(actor=acme.alice, name=name, query=query)
    charlie = make_user(acme.id, "charlie", "compliance_officer")
    with pytest.raises(Absent):
        compliance.remove_search(actor=charlie, search_id=search_id)
    page = sign_in("acme", "alice").get("/admin/compliance/savedsearch/").content.decode()
    assert "actor__exact=system&amp;code__startswith=role." in page
    assert (
        "roles" not in sign_in("acme", "charlie").get("/admin/compliance/savedsearch/").content.decode().split("<table", 1)[-1].split("</table", 1)[0]
    )
    compliance.remove_search(actor=acme.alice, search_id=search_id)
    assert sign_in("acme", "alice").get("/admin/compliance/savedsearch/").context["cl"].result_count == 0


def test_the_link_of_a_saved_search_finds_what_it_says(acme):
    alice = sign_in("acme", "alice")
    page = alice.get("/admin/ledger/event/?actor__exact=system&code__startswith=role.&at__gte=2020-01-01T00%3A00%3A00%2B00%3A00")
    with scope(acme.alice.grant):
        assert {row.code for row in page.context["cl"].queryset} == {"role.granted"}


def test_an_export_is_asked_for_in_the_admin_and_taken_as_an_archive(audit, settings):
    alice, officer = sign_in("acme", "alice"), make_user(audit.kit.id, "dora", "compliance_officer")
    audit.seal()
    assert alice.get("/admin/compliance/exportjob/act/request-export/").status_code == 404  # her roles read the ledger, they do not export it
    client = sign_in("acme", "dora")
    done = client.post("/admin/compliance/exportjob/act/request-export/", {"code": "role.*", "views": ["csv"]})
    assert done.status_code == 302
    from compliance.models import ExportJob

    with scope(audit.kit.system.grant):
        job = ExportJob.objects.get()
    assert (job.query, job.views, job.requested_by) == ({"code": "role.*"}, "csv", officer.ref)
    address = f"/admin/compliance/exportjob/{job.pk}/download/"
    assert client.get(address).status_code == 409
    compliance.run_export(str(audit.kit.id), str(job.pk))
    response = client.get(address)
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/zip")
    assert b"".join(response.streaming_content)[:2] == b"PK"
    assert alice.get(address).status_code == 403
    assert client.get("/admin/compliance/exportjob/nonsense/download/").status_code == 404
    assert client.get("/admin/compliance/exportjob/01920000-0000-7000-8000-000000000000/download/").status_code == 404
    assert [row[0] for row in events(audit.kit, "audit.export_downloaded")] == ["audit.export_downloaded"]
