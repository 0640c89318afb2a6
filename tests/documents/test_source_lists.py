"""Sync of sources that say themselves who reads: POSIX modes and manifests beside the documents (SYS-G5, GOV-B1, B6, B7)."""

from __future__ import annotations

import json
import os
import struct

import pytest

from documents import api as documents
from documents.acl_manifest import FORMAT, MANIFEST_NAME
from documents.models import IngestJob, RefusedFile, Revision
from rag4c.kernel.errors import Absent, Denied, Invalid
from rag4c.scope.manager import scope
from tenants import api as tenants
from tests.builders import ask, make_library
from tests.documents.test_access import LEAVE, PAY, QUESTION, access, may, set_mode, set_template
from tests.tenants.support import STAFF, ask_for_approval, me, only


def write_manifest(library, *rules, folder="", **more):
    place = f"{folder}/{MANIFEST_NAME}" if folder else MANIFEST_NAME
    library.write({place: json.dumps({"format": FORMAT, "rules": list(rules), **more})})


def rule(path, *readers, **more):
    return {"glob" if "*" in path else "path": path, "readers": list(readers), **more}


def manifest_library(kit, files, *rules):
    library = make_library(kit, files)
    set_mode(library, "manifest")
    write_manifest(library, *rules)
    return library


def told(report):
    return {row.path: row.code for row in report.denied}


def counts(kit):
    with scope(kit.system.grant):
        return Revision.objects.count(), IngestJob.objects.count()


def test_SYS_G5_manifest_says_who_reads_and_sensitivity_and_purpose(acme):
    hr = tenants.create_group(actor=acme.alice, slug="hr", name="HR")
    tenants.add_to_group(actor=acme.alice, group_id=hr, user_id=acme.bob.user_id)
    rules = [
        rule("leave.md", "everyone"),
        rule("pay/**", "group:hr", "role:auditor", sensitivity="confidential"),
        rule("deal.md", "user:ALICE", sensitivity="restricted", purpose="merger"),
    ]
    library = manifest_library(acme, {"leave.md": LEAVE, "pay/a.md": PAY, "deal.md": PAY}, *rules)
    report = library.sync()
    assert (report.documents_added, told(report)) == (3, {})  # the manifest itself is no document
    assert access(library, "leave.md").acl == STAFF
    assert access(library, "pay/a.md").acl == only(f"group:{hr}", "role:auditor", level=tenants.Sensitivity.CONFIDENTIAL)
    assert access(library, "deal.md").acl == only(me(acme.alice), level=tenants.Sensitivity.RESTRICTED, purpose="merger")
    assert access(library, "deal.md").origin == "own"


def test_GOV_B1_revocation_in_the_manifest_holds_at_the_next_sync_without_parsing(acme):
    library = manifest_library(acme, {"leave.md": LEAVE}, rule("leave.md", "everyone"))
    library.sync()
    library.release()
    assert ask(acme.bob, QUESTION).status == "answered"
    before = counts(acme)
    ask_for_approval(acme)
    write_manifest(library, rule("leave.md", "user:alice"))
    report = documents.sync_source(actor=acme.alice, source_id=library.source_id)
    assert (report.access.state, report.access.revoked, report.access.granted, report.generation) == ("applied", 1, 0, 1)
    assert ask(acme.bob, QUESTION).status == "abstained"
    assert counts(acme) == before
    write_manifest(library, rule("leave.md", "user:alice", "user:bob"))
    report = documents.sync_source(actor=acme.alice, source_id=library.source_id)
    assert (report.access.state, report.access.blocked) == ("waiting", "approval_required")
    assert report.access.payload["gains"] == [str(acme.bob.user_id)]
    assert ask(acme.bob, QUESTION).status == "abstained"
    ask_for_approval(acme, "none")
    tenants.apply_acl_grants(actor=acme.alice, change_set_id=report.access.id)
    assert ask(acme.bob, QUESTION).status == "answered"


def test_GOV_B6_unknown_reader_or_key_denies_that_file_with_a_code_and_a_sentence(acme):
    rules = [rule("a.md", "user:nobody-here"), {"path": "b.md", "reader": ["everyone"]}, rule("c.md", "everyone"), rule("d.md", "tenant:*")]
    library = manifest_library(acme, dict.fromkeys(["a.md", "b.md", "c.md", "d.md", "e.md"], LEAVE), *rules)
    report = library.sync()
    assert told(report) == {"a.md": "acl_reader_unknown", "b.md": "acl_rule_invalid", "d.md": "acl_reader_unknown", "e.md": "acl_missing"}
    assert [path for path in ("a.md", "b.md", "c.md", "d.md", "e.md") if may(library, acme.alice, path)] == ["c.md"]
    assert all(row.message.startswith(("Nobody may read it", "The source says nothing")) for row in report.denied)
    with scope(acme.system.grant):
        assert RefusedFile.objects.filter(code="acl_reader_unknown").count() == 2


def test_GOV_B6_broken_manifest_denies_everything_below_it_and_templates_do_not_help(acme):
    library = manifest_library(acme, {"a.md": LEAVE, "hr/b.md": LEAVE, "hr/deep/c.md": LEAVE, "it/d.md": LEAVE}, rule("**", "everyone"))
    write_manifest(library, rule("c.md", "everyone"), folder="hr/deep")
    set_template(library, "hr", STAFF)
    library.sync()
    assert all(may(library, acme.bob, path) for path in ("a.md", "hr/b.md", "hr/deep/c.md", "it/d.md"))
    library.write({f"hr/{MANIFEST_NAME}": "{not json"})
    report = library.sync()
    assert told(report) == {"hr/b.md": "acl_manifest_broken", "hr/deep/c.md": "acl_manifest_broken"}
    assert [may(library, acme.bob, path) for path in ("a.md", "hr/b.md", "hr/deep/c.md", "it/d.md")] == [True, False, False, True]


def test_SYS_G5_files_that_the_manifest_does_not_name_get_a_template(acme):
    library = manifest_library(acme, {"hr/a.md": LEAVE, "it/b.md": LEAVE}, rule("other.md", "everyone"))
    set_template(library, "hr", STAFF)
    assert told(library.sync()) == {"it/b.md": "acl_missing"}
    assert access(library, "hr/a.md").origin == "template"
    assert not may(library, acme.bob, "it/b.md")


def test_SYS_G5_nearest_manifest_that_says_something_counts(acme):
    library = manifest_library(acme, {"hr/a.md": LEAVE, "hr/b.md": LEAVE}, rule("hr/*", "everyone"))
    write_manifest(library, rule("a.md", "user:alice"), folder="hr")
    library.sync()
    assert [may(library, acme.bob, path) for path in ("hr/a.md", "hr/b.md")] == [False, True]


def test_GOV_B6_manifest_that_is_a_link_out_of_the_source_counts_as_broken(acme, tmp_path):
    library = manifest_library(acme, {"a.md": LEAVE}, rule("a.md", "user:alice"))
    library.sync()
    outside = tmp_path / "acl.json"
    outside.write_text(json.dumps({"format": FORMAT, "rules": [rule("a.md", "everyone")]}))
    (library.folder / MANIFEST_NAME).unlink()
    (library.folder / MANIFEST_NAME).symlink_to(outside)
    assert told(library.sync()) == {"a.md": "acl_manifest_broken"}
    assert not may(library, acme.alice, "a.md")


def test_GOV_B6_huge_manifest_and_a_folder_of_that_name_count_as_broken(acme):
    library = manifest_library(acme, {"a.md": LEAVE}, rule("a.md", "everyone"))
    library.write({MANIFEST_NAME: json.dumps({"format": FORMAT, "rules": [rule("a.md", "everyone")]}) + " " * (1 << 20)})
    assert told(library.sync()) == {"a.md": "acl_manifest_broken"}
    (library.folder / MANIFEST_NAME).unlink()
    (library.folder / MANIFEST_NAME).mkdir()
    assert told(library.sync()) == {"a.md": "acl_manifest_broken"}


def test_GOV_B7_manifest_that_is_lost_gives_nobody_more(acme):
    library = manifest_library(acme, {"a.md": LEAVE}, rule("a.md", "user:alice"))
    library.sync()
    (library.folder / MANIFEST_NAME).unlink()
    library.sync()  # the source's own readers are everyone, but the mode does not fall back on them
    assert not may(library, acme.bob, "a.md")
    assert not may(library, acme.alice, "a.md")


def test_GOV_B6_readers_of_a_file_that_cannot_be_taken_any_more_follow_the_source_too(acme):
    library = manifest_library(acme, {"a.md": LEAVE}, rule("a.md", "everyone"))
    library.sync()
    library.release()
    library.write({"a.md": ""})
    write_manifest(library, rule("a.md", "user:alice"))
    report = library.sync()
    assert [row.code for row in report.refused] == ["empty_file"]
    assert ask(acme.alice, QUESTION).status == "answered"  # the last good state is served
    assert ask(acme.bob, QUESTION).status == "abstained"


@pytest.fixture
def posix(acme):
    """A source with mode `posix`, whose files belong to whoever runs the tests: Alice, and the group HR with Bob in it."""
    hr = tenants.create_group(actor=acme.alice, slug="hr", name="HR")
    tenants.add_to_group(actor=acme.alice, group_id=hr, user_id=acme.bob.user_id)
    tenants.map_principal(actor=acme.alice, kind="user", external=str(os.getuid()), word="user:alice")
    tenants.map_principal(actor=acme.alice, kind="group", external=str(os.getgid()), word="group:hr")
    library = make_library(acme, {"a.md": LEAVE, "b.md": PAY, "deep/c.md": LEAVE}, readers=frozenset())
    set_mode(library, "posix")
    library.folder.chmod(0o755)
    (library.folder / "deep").chmod(0o755)
    for path, mode in (("a.md", 0o640), ("b.md", 0o600), ("deep/c.md", 0o640)):
        (library.folder / path).chmod(mode)
    return library


def read_by(library, path):
    return [name for name, person in (("alice", library.kit.alice), ("bob", library.kit.bob)) if may(library, person, path)]


def test_SYS_G5_owner_group_and_mode_say_who_reads(posix):
    assert told(posix.sync()) == {}
    assert [read_by(posix, path) for path in ("a.md", "b.md", "deep/c.md")] == [["alice", "bob"], ["alice"], ["alice", "bob"]]


def test_GOV_B1_chmod_revokes_at_the_next_sync_without_parsing_and_widens_through_the_gate(posix):
    acme = posix.kit
    posix.sync()
    before = counts(acme)
    ask_for_approval(acme)
    (posix.folder / "a.md").chmod(0o600)
    (posix.folder / "b.md").chmod(0o640)
    report = documents.sync_source(actor=acme.alice, source_id=posix.source_id)
    assert (report.access.state, report.access.revoked, report.access.granted) == ("waiting", 1, 1)
    assert [read_by(posix, path) for path in ("a.md", "b.md")] == [["alice"], ["alice"]]
    assert counts(acme) == before


def test_GOV_B6_folder_that_nobody_may_pass_hides_what_is_in_it(posix):
    posix.sync()
    (posix.folder / "deep").chmod(0o700)
    assert told(posix.sync()) == {}
    assert read_by(posix, "deep/c.md") == ["alice"]
    (posix.folder / "deep").chmod(0o705)
    assert told(posix.sync()) == {"deep/c.md": "acl_unknown"}
    assert read_by(posix, "deep/c.md") == []


def test_GOV_B6_unmapped_users_and_groups_are_named_and_read_nothing(posix):
    acme = posix.kit
    tenants.end_principal_mapping(actor=acme.alice, kind="user", external=str(os.getuid()))
    report = posix.sync()
    assert told(report)["b.md"] == "acl_unmapped"
    assert [row.path for row in report.denied if row.path.startswith("user ")] != []
    assert [read_by(posix, path) for path in ("a.md", "b.md")] == [["bob"], []]
    with scope(acme.system.grant):
        assert RefusedFile.objects.filter(code="acl_unmapped").exists()


def test_SYS_G5_everybody_else_is_a_mapping_of_its_own(posix):
    acme = posix.kit
    (posix.folder / "a.md").chmod(0o644)
    posix.sync()
    assert not access(posix, "a.md").everyone
    tenants.map_principal(actor=acme.alice, kind="other", external="*", word="everyone")
    posix.sync()
    assert access(posix, "a.md").everyone
    assert not access(posix, "b.md").everyone


def test_SYS_G5_posix_acl_of_a_real_file(posix):
    entries = [(1, 6, 0xFFFFFFFF), (2, 4, 4_000_001), (4, 0, 0xFFFFFFFF), (16, 4, 0xFFFFFFFF), (32, 0, 0xFFFFFFFF)]
    data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(posix.folder / "a.md", "system.posix_acl_access", data)
    except OSError:
        pytest.skip("this file system keeps no POSIX ACL")
    tenants.map_principal(actor=posix.kit.alice, kind="user", external="4000001", word="user:bob")
    posix.sync()
    assert read_by(posix, "a.md") == ["alice", "bob"]
    assert not access(posix, "a.md").acl.principals & {"tenant:*"}


def test_GOV_B6_twin_in_another_unicode_form_lends_its_mode_to_nobody(posix):
    for composed, other in (("r\u00e9sum\u00e9.md", "re\u0301sume\u0301.md"), ("\u00c5.md", "\u212b.md")):  # the twin is met before, and after
        posix.write({composed: LEAVE, other: PAY})
        (posix.folder / composed).chmod(0o600)
        (posix.folder / other).chmod(0o640)
        posix.sync()
        assert read_by(posix, composed) == ["alice"]


def test_mappings_are_doors_of_tenant_admins_and_refuse_nonsense(acme):
    for bad in (("user", ""), ("robot", "1"), ("other", "1"), ("user", "*"), ("user", "a\x00b")):
        with pytest.raises(Invalid, match="mapping_invalid"):
            tenants.map_principal(actor=acme.alice, kind=bad[0], external=bad[1], word="everyone")
    for word in ("user:nobody", "group:none", "role:none", "alice", "tenant:*", ""):
        with pytest.raises(Invalid, match="reader_unknown"):
            tenants.map_principal(actor=acme.alice, kind="user", external="1", word=word)
    with pytest.raises(Denied):
        tenants.map_principal(actor=acme.bob, kind="user", external="1", word="everyone")
    with pytest.raises(Absent):
        tenants.end_principal_mapping(actor=acme.alice, kind="user", external="1")
    tenants.map_principal(actor=acme.alice, kind="user", external="1", word="user:bob")
    tenants.map_principal(actor=acme.alice, kind="user", external="1", word="user:alice")
    assert [(row.kind, row.external, row.principal) for row in tenants.list_principal_mappings(actor=acme.alice)] == [("user", "1", me(acme.alice))]
