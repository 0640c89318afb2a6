"""Channels and manifests against Postgres: GOV-C2, C5, C8."""

from __future__ import annotations

import threading
import time

import psycopg
from django.db import connections, transaction

from rag4c.kernel.errors import Conflict
from rag4c.scope.manager import scope
from retrieval import api as retrieval
from retrieval.models import Channel, Manifest
from tests.builders import ask, make_tenant, publish
from verification.models import AnswerRecord

LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n"
ASKED = "How many days of paid leave do employees get a year?"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"


def draft_next(library, days):
    library.write({"leave.md": LEAVE.replace("25 days", f"{days} days")})
    library.sync()
    return retrieval.draft_manifest(actor=library.kit.alice, knowledge_base_id=library.base_id).id


def release(library, manifest_id, channel="live"):
    return retrieval.release(actor=library.kit.alice, knowledge_base_id=library.base_id, channel=channel, manifest_id=manifest_id)


def wait_for_lock(dsn, dbname, timeout_s=20.0):
    deadline = time.monotonic() + timeout_s
    with psycopg.connect(dsn, autocommit=True) as conn:
        while not conn.execute(WAITS, [dbname]).fetchone()[0]:
            assert time.monotonic() < deadline, "nobody waited for the channel's row"
            time.sleep(0.02)


def test_GOV_C2_of_two_moves_at_once_one_is_told_that_the_channel_moved(real_db, postgres_clones):
    library = publish(make_tenant("acme"), {"leave.md": LEAVE})
    second, third = draft_next(library, 26), draft_next(library, 27)
    told = []

    def move():
        try:
            told.append(release(library, third))
        except Conflict as error:
            told.append(error.code)
        finally:
            connections.close_all()

    late = threading.Thread(target=move)
    with scope(library.kit.alice.grant), transaction.atomic():
        assert release(library, second) == 2
        late.start()  # reads the revision before the other's commit, and meets its row lock
        wait_for_lock(postgres_clones.dsn("postgres", "postgres"), real_db)
    late.join(30)
    assert told == ["channel_moved"]
    with scope(library.kit.system.grant):
        assert [row.manifest_id for row in Channel.objects.filter(name="live")] == [second]
    moves = retrieval.list_releases(actor=library.kit.alice, knowledge_base_id=library.base_id, channel="live")
    assert [move.channel_rev for move in moves] == [2, 1]


def test_GOV_C5_the_answer_names_the_manifest_that_it_was_read_from(acme):
    library = publish(acme, {"leave.md": LEAVE})
    first = ask(acme.bob, ASKED)
    release(library, draft_next(library, 26))
    second = ask(acme.bob, ASKED)
    with scope(acme.system.grant):
        digests = list(Manifest.objects.order_by("seq").values_list("sha256", flat=True))
        records = [AnswerRecord.objects.get(pk=answer.answer_id) for answer in (first, second)]
    assert [record.manifest_sha256s for record in records] == [[digest] for digest in digests]
    assert records[0].visible_sha256 != records[1].visible_sha256


def test_GOV_C8_the_same_digest_goes_from_channel_to_channel_and_nothing_is_built_again(acme):
    library = publish(acme, {"leave.md": LEAVE}, channels=())
    manifest_id = retrieval.draft_manifest(actor=acme.alice, knowledge_base_id=library.base_id).id
    for channel in ("dev", "staging", "live"):
        assert release(library, manifest_id, channel) == 1
    with scope(acme.system.grant):
        assert Manifest.objects.count() == 1
        assert set(Channel.objects.values_list("manifest_id", flat=True)) == {manifest_id}
