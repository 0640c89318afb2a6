"""Exports of the ledger: the folder, the same bytes again, what a filter leaves out, and a writer that is killed between files."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import zipfile

import pytest

from compliance import api as compliance
from compliance import rules
from compliance.models import ExportJob
from compliance.rules import AuditQuery
from rag4c.kernel.errors import Absent, Blocked, Conflict, Denied, DomainError, Invalid, Transient
from rag4c.ledger import api as ledger
from rag4c.ledger.models import Delivery, Event
from rag4c.scope.manager import scope
from tests.compliance.conftest import VERIFIER


def codes_of(audit, prefix="audit."):
    with scope(audit.kit.system.grant):
        return list(Event.objects.filter(code__startswith=prefix).order_by("at", "id").values_list("code", flat=True))


def content_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_folder_is_the_one_of_the_design(audit, verify):
    audit.record(3)
    audit.seal()
    folder = audit.export()
    files = content_of(folder)
    names = {name for name in files if not name.startswith("checkpoints/")}
    assert names == {"events-00001.jsonl", "seals.jsonl", "manifest.json", "manifest.sig", "VERIFY.md", "verify_export.py"}
    manifest = json.loads(files["manifest.json"])
    assert set(manifest) == {
        "format", "tenant", "query", "from_seq", "to_seq", "count", "files", "first_prev", "last_hash", "prev_export_sha256",
    }  # fmt: skip
    lines = [json.loads(line) for line in files["events-00001.jsonl"].splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, manifest["to_seq"] + 1))
    assert set(lines[0]) == {"seq", "hash", "canonical"}
    assert (manifest["count"], manifest["first_prev"], manifest["last_hash"]) == (len(lines), "0" * 64, lines[-1]["hash"])
    assert {entry["name"] for entry in manifest["files"]} == set(files) - {"manifest.json", "manifest.sig"}
    assert len(files["manifest.sig"]) == 64
    assert files["verify_export.py"] == VERIFIER.read_bytes()
    assert verify(folder) == 0


def test_the_verifier_imports_the_standard_library_and_cryptography_only():
    found = set()
    for node in ast.walk(ast.parse(VERIFIER.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    assert found <= {*sys.stdlib_module_names, "cryptography"}
    assert found >= {"hashlib", "json", "cryptography"}


def test_the_verifier_of_the_folder_runs_alone_in_an_empty_folder(audit, verify_alone):
    audit.record()
    audit.seal()
    folder = audit.export()
    done = verify_alone(folder)
    assert (done.returncode, done.stdout.splitlines()[0], done.stderr) == (0, "WHOLE", "")
    said = json.loads(verify_alone(folder, "--json").stdout)
    assert (said["code"], said["events"], said["left_out"]) == (0, said["to_seq"], 0)
    assert verify_alone(folder, "--nonsense").returncode == 1


def test_the_same_numbers_give_the_same_bytes_whatever_happened_since(audit, verify):
    audit.record(4)
    audit.seal()
    first = audit.export(views=frozenset(rules.VIEWS))
    to_seq = json.loads((first / "manifest.json").read_bytes())["to_seq"]
    audit.record(4)
    audit.seal()
    audit.export()
    again = audit.export(to_seq=to_seq, views=frozenset(rules.VIEWS))
    assert again != first
    assert content_of(again) == content_of(first)
    archives = [zipfile.ZipFile(folder.with_suffix(".zip")) for folder in (first, again)]
    assert [archive.testzip() for archive in archives] == [None, None]


def test_each_export_names_the_one_before_and_goes_on_where_it_ended(audit, verify):
    audit.record(2)
    audit.seal()
    first = audit.export()
    manifest = json.loads((first / "manifest.json").read_bytes())
    audit.record(2)
    audit.seal()
    second = audit.export(from_seq=manifest["to_seq"] + 1)
    follows = json.loads((second / "manifest.json").read_bytes())
    assert (follows["from_seq"], follows["first_prev"]) == (manifest["to_seq"] + 1, manifest["last_hash"])
    with scope(audit.kit.system.grant):
        jobs = list(ExportJob.objects.order_by("pk"))
    assert (jobs[0].prev_export_sha256, jobs[1].prev_export_sha256) == ("0" * 64, jobs[0].manifest_sha256)
    last = sorted((first / "checkpoints").glob("0*.json"))[-1]
    assert verify(second, "--checkpoint", last) == 0
    inside = audit.export(from_seq=manifest["to_seq"])
    assert json.loads((inside / "manifest.json").read_bytes())["from_seq"] == 1  # moved back to the beginning of its checkpoint
    assert verify(inside) == 0


def test_a_filtered_export_carries_the_hashes_of_what_it_left_out(audit, verify, capsys):
    audit.record(3, code="thing.kept")
    audit.record(5, code="thing.left")
    audit.record(2, code="thing.kept")
    audit.seal()
    folder = audit.export(query=AuditQuery(code="thing.kept"))
    manifest = json.loads((folder / "manifest.json").read_bytes())
    events = [json.loads(line) for line in (folder / "events-00001.jsonl").read_bytes().splitlines()]
    assert (manifest["query"], manifest["count"], len(events)) == ({"code": "thing.kept"}, 5, 5)
    assert b"thing.left" not in b"".join(content_of(folder).values())
    assert len((folder / "seals.jsonl").read_bytes().splitlines()) == manifest["to_seq"]
    assert verify(folder, "--json") == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == manifest["to_seq"] - 5


@pytest.mark.parametrize(
    ("query", "count"),
    [({"code": "thing.*"}, 3), ({"subject_kind": "thing", "subject_id": "2"}, 1), ({"actor": "system", "code": "thing.happened"}, 3),
     ({"channel": "nowhere"}, 0), ({"since": "2999-01-01T00:00:00+00:00"}, 0), ({"until": "1999-01-01T00:00:00+00:00"}, 0),
     ({"since": "1999-01-01T00:00:00+00:00", "code": "thing.happened"}, 3)],
)  # fmt: skip
def test_a_query_is_answered_field_by_field(audit, verify, query, count):
    audit.record(3)
    audit.seal()
    folder = audit.export(query=AuditQuery(**query))
    assert json.loads((folder / "manifest.json").read_bytes())["count"] == count
    assert verify(folder) == 0


def test_no_file_has_more_lines_than_said(audit, verify, monkeypatch):
    monkeypatch.setattr(rules, "LINES_PER_FILE", 4)
    monkeypatch.setattr("compliance.api.exporting.PAGE", 3)
    audit.record(10)
    audit.seal()
    folder = audit.export()
    counts = [len(path.read_bytes().splitlines()) for path in sorted(folder.glob("events-*.jsonl"))]
    assert counts[:-1] == [4] * (len(counts) - 1)
    assert len(counts) >= 3
    assert verify(folder) == 0


EXPORT = (
    "from compliance import api, rules\nfrom compliance.api import exporting\nrules.LINES_PER_FILE = 4\nexporting.PAGE = 3\n"
    "api.run_export({tenant!r}, {job!r})\n"
)


@pytest.mark.parametrize("point", ["export.file.before", "export.file.after", "export.file.after@2", "export.finish.before", "export.finish.after"])
def test_GOV_U_an_export_whose_writer_is_killed_goes_on_and_ends_in_the_same_bytes(audit, verify, real_db, own_cluster, monkeypatch, point):
    monkeypatch.setattr(rules, "LINES_PER_FILE", 4)
    monkeypatch.setattr("compliance.api.exporting.PAGE", 3)
    audit.record(9)
    audit.seal()
    whole = audit.export()
    to_seq = json.loads((whole / "manifest.json").read_bytes())["to_seq"]
    job_id = compliance.request_export(actor=audit.auditor, to_seq=to_seq)
    name, _, at = point.partition("@")
    code = EXPORT.format(tenant=str(audit.kit.id), job=str(job_id))
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "rag4c.settings", "RAG4C_FAILPOINTS": f"{name}=kill@{at or 1}"}
    killed = subprocess.run([sys.executable, "-c", f"import django; django.setup()\n{code}"], env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    if point != "export.finish.after":
        with pytest.raises(Transient) as caught:  # the dead writer's lease
            compliance.run_export(str(audit.kit.id), str(job_id))
        assert caught.value.code == "export_running"
        with postgres_clones_owner(own_cluster, real_db) as owner:
            owner.execute("UPDATE compliance_exportjob SET lease_until = now() - interval '1 second' WHERE state = 'running'")
    compliance.run_export(str(audit.kit.id), str(job_id))
    folder = compliance.read_export(actor=audit.auditor, job_id=job_id).folder
    assert content_of(folder) == content_of(whole)
    assert codes_of(audit).count("audit.exported") == 2
    assert verify(folder) == 0


def postgres_clones_owner(clones, dbname):
    import psycopg

    return psycopg.connect(clones.dsn("rag4c_owner", dbname), autocommit=True)


def test_GOV_F2_a_writer_that_lost_its_lease_changes_nothing(audit, monkeypatch):
    from compliance.api import exporting

    audit.record(3)
    audit.seal()
    job_id = compliance.request_export(actor=audit.auditor)
    claim = exporting._claim(str(audit.kit.id), str(job_id))
    with scope(audit.kit.system.grant):
        ExportJob.objects.filter(pk=job_id).update(fence=claim.fence + 1)
        with pytest.raises(Conflict) as caught:
            exporting._keep(claim, count=99)
        assert caught.value.code == "lease_lost"
        assert ExportJob.objects.get(pk=job_id).count == 0


def test_an_export_is_owed_until_it_is_written(audit):
    audit.seal()
    job_id = compliance.request_export(actor=audit.auditor)
    assert compliance.read_export(actor=audit.auditor, job_id=job_id).state == "waiting"
    with scope(audit.kit.system.grant):
        delivery = Delivery.objects.get(handler="compliance.export")
    assert ledger.deliver(tenant_id=str(audit.kit.id), delivery_id=str(delivery.pk)) == "done"
    info = compliance.read_export(actor=audit.auditor, job_id=job_id)
    assert (info.state, info.progress) == ("done", 1.0)


def test_GOV_U13_asking_writing_and_taking_an_export_are_events(audit):
    audit.seal()
    job_id = compliance.request_export(actor=audit.auditor)
    with pytest.raises(Conflict) as caught:
        compliance.find_export_file(actor=audit.auditor, job_id=job_id)
    assert caught.value.code == "export_unfinished"
    compliance.run_export(str(audit.kit.id), str(job_id))
    assert compliance.find_export_file(actor=audit.auditor, job_id=job_id).suffix == ".zip"
    assert codes_of(audit) == ["audit.export_requested", "audit.exported", "audit.export_downloaded"]


def test_exports_are_for_those_who_may_and_of_their_tenant(audit):
    from tests.builders import make_tenant, make_user

    audit.seal()
    with pytest.raises(Denied):
        compliance.request_export(actor=audit.kit.bob)
    job_id = compliance.request_export(actor=audit.auditor)
    globex = make_tenant("globex")
    stranger = make_user(globex.id, "charlie", "auditor")
    with pytest.raises(Absent):
        compliance.read_export(actor=stranger, job_id=job_id)
    with pytest.raises(Denied):
        compliance.read_export(actor=audit.kit.bob, job_id=job_id)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"to_seq": 2}, "to_seq_unconfirmed"), ({"from_seq": 0}, "from_seq_invalid"), ({"from_seq": 999}, "from_seq_invalid"),
     ({"views": frozenset({"pdf"})}, "view_unknown"), ({"query": AuditQuery(since="yesterday")}, "query_invalid"),
     ({"query": AuditQuery(since="2026-01-01")}, "query_invalid"), ({"query": AuditQuery(code="x" * 81)}, "query_invalid")],
)  # fmt: skip
def test_what_cannot_be_exported_is_refused_with_a_sentence(audit, options, code):
    audit.record(3)
    audit.seal()
    ledger.write_checkpoint(tenant_id=str(audit.kit.id))
    with pytest.raises(Invalid) as caught:
        compliance.request_export(actor=audit.auditor, **options)
    assert caught.value.code == code
    assert len(caught.value.message) > 20


def test_an_unsealed_ledger_cannot_be_exported(audit):
    with pytest.raises(Conflict) as caught:
        compliance.request_export(actor=audit.auditor)
    assert caught.value.code == "nothing_sealed"


def test_GOV_A_an_export_is_a_guarded_action(audit):
    from approvals.models import ActionPolicy

    audit.seal()
    with scope(audit.kit.system.grant):
        ActionPolicy.objects.create(tenant_id=audit.kit.id, action="audit.export", rev=2, mode="second_person")
    with pytest.raises((Blocked, DomainError)) as caught:
        compliance.request_export(actor=audit.auditor)
    assert caught.value.code == "approval_required"


def test_views_are_there_when_asked_for(audit, verify):
    audit.record(1, note="=1+1", code="role.granted", role="auditor")
    audit.seal()
    folder = audit.export(views=frozenset(rules.VIEWS))
    rows = (folder / "events.csv").read_text().splitlines()
    events = [json.loads(line) for line in (folder / "events.ocsf.jsonl").read_bytes().splitlines()]
    assert len(rows) == len(events) + 1
    assert [fault for event in events for fault in rules.find_ocsf_faults(event)] == []
    assert {3001, 3004, 3005} == {event["class_uid"] for event in events}
    assert verify(folder) == 0
