"""SYS-E12 (machine), SYS-E5 (decision), GOV-T6, R22: what the flows owe to the walls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from documents.models import Blob, IngestJob
from documents.states import INGEST_JOB
from rag4c.scope.manager import scope
from retrieval.models import LexSegment
from tests.builders import PASSWORD, ask, event_codes, make_library, publish, work_off
from verification.models import AnswerRecord, FindingRow

LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n"
ASKED = "How many days of paid leave do employees get a year?"


def test_SYS_E12_restart_resumes_at_the_step_it_was_at(acme):
    library = make_library(acme, {"leave.md": LEAVE})
    from documents import api as documents
    from documents.api.ingest import parse_revision
    from documents.api.steps import run_step

    documents.sync_source(actor=acme.alice, source_id=library.source_id)
    with scope(acme.system.grant):
        job = IngestJob.objects.get()
    assert run_step(tenant_id=str(acme.id), job_id=str(job.pk), step="parsing", work=parse_revision) == "done"
    with scope(acme.system.grant):
        assert IngestJob.objects.get().state == "splitting"
    work_off(acme)  # as a new worker would: nothing is parsed twice
    with scope(acme.system.grant):
        assert IngestJob.objects.get().state == "completed"
    assert event_codes(acme).count("revision.completed") == 1


def test_SYS_E12_states_of_the_job_are_those_of_the_machine():
    assert {code for code, _ in IngestJob._meta.get_field("state").choices} == set(INGEST_JOB.states)


def test_SYS_E5_decision_is_stored_with_all_it_rests_on(acme):
    publish(acme, {"leave.md": LEAVE})
    answer = ask(acme.bob, ASKED)
    with scope(acme.system.grant):
        record = AnswerRecord.objects.get(pk=answer.answer_id)
        layers = set(FindingRow.objects.filter(answer=record).values_list("layer", flat=True))
    assert layers == {"L1", "L2", "L3", "Q"}
    assert len(record.policy_rev) == len(record.visible_sha256) == 64
    assert record.manifest_sha256s


def test_GOV_T6_same_bytes_of_two_tenants_share_no_object_segment_or_view(acme, globex):
    publish(acme, {"leave.md": LEAVE})
    publish(globex, {"leave.md": LEAVE})
    keys, digests = [], []
    for kit in (acme, globex):
        with scope(kit.system.grant):
            keys.append(Blob.objects.get().storage_key)
            digests.append(LexSegment.objects.get().digest)
    assert keys[0] != keys[1]
    assert keys[0].startswith(str(acme.id))
    assert keys[1].startswith(str(globex.id))
    assert digests[0] != digests[1]
    assert all((Path(settings.MEDIA_ROOT) / key).is_file() for key in keys)


@pytest.mark.parametrize("page", ["/answers/{}/", "/answers/{}/lifeline/", "/answers/{}/citations/1/"])
def test_R22_ids_of_another_tenant_open_nothing(acme, globex, page):
    publish(acme, {"leave.md": LEAVE})
    answer = ask(acme.bob, ASKED)
    client = Client()
    assert client.post("/t/globex/login/", {"username": "alice", "password": PASSWORD}).status_code == 302
    foreign = client.get(page.format(answer.answer_id))
    absent = client.get(page.format("01a00000-0000-7000-8000-000000000000"))
    assert foreign.status_code == absent.status_code == 404
    assert _bare(foreign) == _bare(absent)


def _bare(response):
    """The body without the form token, which is drawn anew for every response."""
    return re.sub(rb'(name="csrfmiddlewaretoken" value=")[^"]+', rb"\1", response.content)
