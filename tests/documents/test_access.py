"""Readers in a sync and through the doors of documents: GOV-B1, B4, B6, B7, SYS-G5."""

from __future__ import annotations

import pytest

from documents import api as documents
from documents.models import IngestJob, RefusedFile, Revision
from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from tenants import api as tenants
from tests.builders import ask, make_library, make_user, publish
from tests.tenants.support import NOBODY, REASON, STAFF, ask_for_approval, me, only, reads

LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n"
PAY = "# Pay\n\nThe bonus pool is 90,000 euros a year.\n"
QUESTION = "How many days of paid leave do employees get a year?"


def may(library, person, path):
    return reads(library.kit, person, library.document_id(path))


def access(library, path):
    return documents.show_document_access(actor=library.kit.alice, document_id=library.document_id(path))


def set_template(library, prefix, acl):
    return documents.set_acl_template(actor=library.kit.alice, source_id=library.source_id, path_prefix=prefix, acl=acl, reason=REASON)


def set_mode(library, mode):
    documents.set_acl_mode(actor=library.kit.alice, source_id=library.source_id, mode=mode)


def set_readers(library, acl):
    return documents.set_source_readers(actor=library.kit.alice, source_id=library.source_id, acl=acl, reason=REASON)


def pin(library, path, acl):
    ids = [library.document_id(path)]
    return documents.set_document_readers(actor=library.kit.alice, document_ids=ids, acl=acl, reason=REASON)


def test_SYS_G5_files_without_a_list_get_the_template_of_the_longest_prefix(acme):
    files = {"hr/leave.md": LEAVE, "hr/pay/bonus.md": PAY, "hr-private/x.md": LEAVE, "it/y.md": LEAVE}
    library = make_library(acme, files, readers=frozenset())
    set_mode(library, "template")
    set_template(library, "hr", STAFF)
    set_template(library, "hr/pay", only(me(acme.alice)))
    library.sync()
    assert [may(library, acme.bob, path) for path in files] == [True, False, False, False]
    assert may(library, acme.alice, "hr/pay/bonus.md")
    assert [access(library, path).origin for path in files] == ["template", "template", "readers", "readers"]
    assert [row.path_prefix for row in documents.list_acl_templates(actor=acme.alice)] == ["hr", "hr/pay"]


def test_SYS_G5_template_that_narrows_holds_at_once_and_for_what_comes_later(acme):
    library = publish(acme, {"hr/leave.md": LEAVE, "it/y.md": PAY})
    set_mode(library, "template")
    library.sync()
    assert ask(acme.bob, QUESTION).status == "answered"
    set_template(library, "hr", only(me(acme.alice)))
    assert ask(acme.bob, QUESTION).status == "abstained"
    assert may(library, acme.bob, "it/y.md")
    library.write({"hr/new.md": PAY})
    library.sync()
    assert not may(library, acme.bob, "hr/new.md")


def test_GOV_B1_template_that_widens_waits_with_its_files(acme):
    library = make_library(acme, {"hr/leave.md": LEAVE}, readers=frozenset())
    set_mode(library, "template")
    library.sync()
    ask_for_approval(acme)
    change = set_template(library, "hr", STAFF)
    assert (change.state, change.granted) == ("waiting", 2)  # the template and the file
    library.write({"hr/new.md": PAY})
    library.sync()
    assert not may(library, acme.bob, "hr/leave.md")
    assert not may(library, acme.bob, "hr/new.md")
    ask_for_approval(acme, "none")
    tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)
    assert may(library, acme.bob, "hr/leave.md")
    library.sync()
    assert may(library, acme.bob, "hr/new.md")


def test_SYS_G5_ended_template_gives_way_to_the_shorter_prefix(acme):
    library = make_library(acme, {"hr/pay/bonus.md": PAY}, readers=frozenset())
    set_mode(library, "template")
    set_template(library, "hr", only(me(acme.bob)))
    set_template(library, "hr/pay", only(me(acme.alice)))
    library.sync()
    assert not may(library, acme.bob, "hr/pay/bonus.md")
    documents.end_acl_template(actor=acme.alice, source_id=library.source_id, path_prefix="hr/pay", reason=REASON)
    assert may(library, acme.bob, "hr/pay/bonus.md")
    assert not may(library, acme.alice, "hr/pay/bonus.md")
    with pytest.raises(Absent):
        documents.end_acl_template(actor=acme.alice, source_id=library.source_id, path_prefix="hr/pay", reason=REASON)


def test_GOV_B1_readers_of_a_source_are_narrowed_at_once_and_widened_through_the_gate(acme):
    library = publish(acme, {"leave.md": LEAVE})
    ask_for_approval(acme)
    assert set_readers(library, only(me(acme.alice))).state == "applied"
    assert ask(acme.bob, QUESTION).status == "abstained"
    change = set_readers(library, STAFF)
    assert (change.state, change.blocked, change.granted) == ("waiting", "approval_required", 2)
    library.sync()
    assert ask(acme.bob, QUESTION).status == "abstained"
    ask_for_approval(acme, "none")
    tenants.apply_acl_grants(actor=acme.alice, change_set_id=change.id)
    assert ask(acme.bob, QUESTION).status == "answered"


def test_GOV_B1_change_of_readers_parses_and_embeds_nothing(acme):
    library = publish(acme, {"leave.md": LEAVE})
    set_readers(library, only(me(acme.alice)))
    report = library.sync()
    assert (report.documents_reused, report.documents_updated, report.generation) == (1, 0, 1)
    with scope(acme.system.grant):
        assert (Revision.objects.count(), IngestJob.objects.count()) == (1, 1)


def test_GOV_B4_set_that_changed_after_the_search_is_checked_before_text_enters_a_pack(acme):
    library = publish(acme, {"leave.md": LEAVE})
    visible = retrieval.visible_set(grant=acme.bob.grant, knowledge_base_ids=[library.base_id], channel="live")
    assert visible.chunks
    pin(library, "leave.md", only(me(acme.alice)))
    found = retrieval.gather(grant=acme.bob.grant, question=QUESTION, visible=visible)
    assert isinstance(found.outcome, retrieval.Insufficient)
    assert not retrieval.visible_set(grant=acme.bob.grant, knowledge_base_ids=[library.base_id], channel="live").chunks


def test_GOV_B4_another_purpose_after_the_search_is_seen_too(acme):
    library = publish(acme, {"leave.md": LEAVE})
    kept = tenants.Sensitivity.RESTRICTED
    tenants.set_clearance(actor=acme.alice, user_id=acme.bob.user_id, level=kept)
    pin(library, "leave.md", only("tenant:*", level=kept, purpose="audit"))
    grant = tenants.grant_for(tenant_id=acme.id, user_id=acme.bob.user_id, purpose="audit")
    visible = retrieval.visible_set(grant=grant, knowledge_base_ids=[library.base_id], channel="live")
    assert visible.chunks
    pin(library, "leave.md", only("tenant:*", level=kept, purpose="payroll"))
    assert isinstance(retrieval.gather(grant=grant, question=QUESTION, visible=visible).outcome, retrieval.Insufficient)


def test_GOV_B4_stored_answer_is_cut_by_the_set_of_now(acme):
    from verification import api as verification

    library = publish(acme, {"leave.md": LEAVE})
    answer = ask(acme.bob, QUESTION)
    pin(library, "leave.md", only(me(acme.alice)))
    again = verification.read_answer(actor=acme.bob, answer_id=answer.answer_id)
    assert all(citation.is_withheld for citation in again.citations)
    assert "25" not in again.answer


def test_GOV_B7_rollback_never_brings_back_an_older_wider_set(acme):
    library = publish(acme, {"leave.md": LEAVE})
    pin(library, "leave.md", only(me(acme.alice)))
    library.write({"leave.md": LEAVE.replace("25", "26")})
    library.sync()
    library.release()
    retrieval.rollback(actor=acme.alice, knowledge_base_id=library.base_id, channel="live")
    assert "25 days" in ask(acme.alice, QUESTION).answer
    assert ask(acme.bob, QUESTION).status == "abstained"


def test_GOV_B7_file_that_comes_back_has_the_readers_of_now(acme):
    library = publish(acme, {"leave.md": LEAVE, "pay.md": PAY})
    (library.folder / "leave.md").unlink()
    library.sync()
    set_readers(library, only(me(acme.alice)))
    library.write({"leave.md": LEAVE})
    library.sync()
    library.release()
    assert not may(library, acme.bob, "leave.md")
    assert ask(acme.bob, QUESTION).status == "abstained"


def test_GOV_B7_sync_never_widens_what_a_person_narrowed_until_they_let_it(acme):
    library = publish(acme, {"leave.md": LEAVE})
    pin(library, "leave.md", only(me(acme.alice)))
    assert library.sync().access is None
    assert not may(library, acme.bob, "leave.md")
    set_readers(library, only(me(acme.bob)))
    library.sync()  # the source narrows as well: what both allow is nobody
    assert access(library, "leave.md").acl == NOBODY
    documents.follow_source(actor=acme.alice, document_ids=[library.document_id("leave.md")])
    assert not may(library, acme.bob, "leave.md")
    assert library.sync().access.state == "applied"
    assert may(library, acme.bob, "leave.md")


def test_GOV_B1_widening_found_by_a_sync_is_asked_once_and_lapses_when_the_source_changes_again(acme):
    library = make_library(acme, {"hr/leave.md": LEAVE}, readers=frozenset())
    library.sync()
    set_readers(library, only(me(acme.alice)))
    set_template(library, "hr", STAFF)  # no effect in this mode
    ask_for_approval(acme)
    set_mode(library, "template")
    first = library.sync().access
    assert (first.state, first.origin, first.blocked) == ("waiting", "sync", "approval_required")
    assert library.sync().access is None
    waiting = tenants.list_acl_changes(actor=acme.alice, state="waiting")
    assert [row.id for row in waiting] == [first.id]
    set_mode(library, "none")
    library.sync()
    assert tenants.read_acl_change(actor=acme.alice, change_set_id=first.id).state == "stale"
    ask_for_approval(acme, "none")
    with pytest.raises(Conflict, match="acl_change_closed"):
        tenants.apply_acl_grants(actor=acme.alice, change_set_id=first.id)


def test_GOV_B6_source_without_named_readers_shows_nobody_anything(acme):
    library = make_library(acme, {"leave.md": LEAVE}, readers=frozenset())
    library.sync()
    assert not may(library, acme.alice, "leave.md")


def test_doors_refuse_members_strangers_and_nonsense(acme, globex):
    library = make_library(acme, {"leave.md": LEAVE})
    library.sync()
    charlie = make_user(acme.id, "charlie", "knowledge_manager")
    for door in (
        lambda actor: documents.set_source_readers(actor=actor, source_id=library.source_id, acl=NOBODY, reason=REASON),
        lambda actor: documents.set_acl_template(actor=actor, source_id=library.source_id, path_prefix="hr", acl=NOBODY, reason=REASON),
        lambda actor: documents.end_acl_template(actor=actor, source_id=library.source_id, path_prefix="hr", reason=REASON),
        lambda actor: documents.set_acl_mode(actor=actor, source_id=library.source_id, mode="posix"),
        lambda actor: documents.show_document_access(actor=actor, document_id=library.document_id("leave.md")),
        lambda actor: pin_as(actor, library),
    ):
        for person in (acme.bob, charlie):
            with pytest.raises(Denied):
                door(person)
        with pytest.raises(Absent):
            door(globex.alice)
    with pytest.raises(Invalid, match="parent_path"):
        set_template(library, "hr/../it", STAFF)
    with pytest.raises(Invalid, match="acl_mode_invalid"):
        set_mode(library, "windows")
    with pytest.raises(Conflict, match="acl_mode_unchanged"):
        set_mode(library, "none")


def pin_as(actor, library):
    ids = [library.document_id("leave.md")]
    return documents.set_document_readers(actor=actor, document_ids=ids, acl=NOBODY, reason=REASON)


def test_knowledge_manager_syncs_narrower_and_wider_alike_when_no_approval_is_needed(acme):
    library = make_library(acme, {"leave.md": LEAVE}, readers=frozenset())
    set_mode(library, "template")
    charlie = make_user(acme.id, "charlie", "knowledge_manager")
    documents.sync_source(actor=charlie, source_id=library.source_id)
    set_template(library, "leave.md", STAFF)
    report = documents.sync_source(actor=charlie, source_id=library.source_id)
    assert may(library, acme.bob, "leave.md")
    assert report.access is None  # the door had brought it in line already
    with scope(acme.system.grant):
        assert not RefusedFile.objects.exists()
