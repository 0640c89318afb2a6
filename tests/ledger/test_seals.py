"""The sealer against real Postgres: nothing lost, no gap, whoever writes and rolls back meanwhile; and what only the owner could do shows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, ObjectNotInPrerequisiteState

from rag4c.kernel import clock
from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.errors import Conflict, DomainError, Unavailable
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.ledger import api, chain, keys, sink, tasks
from rag4c.ledger.models import Checkpoint, Event, Seal
from rag4c.ledger.partitions import ensure_event_partitions
from rag4c.ledger.pruning import Stubbed, begin_incarnation, prune_month
from rag4c.scope.manager import scope
from tests.scope.support import ACME, GLOBEX

TENANT = str(ACME.tenant_id)
INSERT = (
    "INSERT INTO ledger_event (id, tenant_id, code, actor, channel, subject_kind, subject_id, canonical) "
    "VALUES (gen_random_uuid(), %s, 'thing.happened', 'system', 'api', 'thing', %s, %s)"
)


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch, settings):
    """A key and a sink of this test's own."""
    monkeypatch.setenv("RAG4C_HOME", str(tmp_path))
    keys.ensure_signing_key()
    location = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path / "sink")}}
    settings.STORAGES = {**settings.STORAGES, "checkpoints": location}
    return tmp_path


@pytest.fixture
def owner(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("rag4c_owner", real_tenants), autocommit=True) as conn:
        yield conn


@pytest.fixture
def superuser(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("postgres", real_tenants), autocommit=True) as conn:
        yield conn


@pytest.fixture
def system(real_tenants, own_cluster):
    with psycopg.connect(own_cluster.dsn("rag4c_system", real_tenants), autocommit=True) as conn:
        yield conn


@pytest.fixture
def sealed_platform(system):
    """What the initialising wrote in the platform's own ledger is sealed already."""
    system.execute("SELECT rag4c_seal(%s, 5000)", [PLATFORM_TENANT])


@pytest.fixture
def new_writer(real_tenants, own_cluster):
    """Opens connections of the app inside Acme."""

    def connect():
        conn = psycopg.connect(own_cluster.dsn("rag4c_app", real_tenants))
        conn.execute("SELECT set_config('rag4c.tenant', %s, false)", [TENANT])
        conn.commit()
        return conn

    return connect


def record(actor, count=1, code="thing.happened"):
    for number in range(count):
        with scope(actor.grant):
            api.record(actor, code, subject=("thing", number))


def seal(system, tenant=TENANT, limit=1000):
    return system.execute("SELECT rag4c_seal(%s, %s)", [tenant, limit]).fetchone()[0]


def seals(owner, tenant=TENANT):
    return owner.execute(
        "SELECT s.seq, s.prev, s.hash, e.canonical, e.subject_id FROM ledger_seal s JOIN ledger_event e ON e.id = s.event_id "
        "WHERE s.tenant_id = %s ORDER BY s.seq", [tenant]
    ).fetchall()  # fmt: skip


def faults():
    return [(fault.seq, fault.code) for fault in api.verify_audit(tenant_id=TENANT).faults]


def write_some(conn, number, kept):
    """Transactions of one writer: slow ones, and three of ten rolled back."""
    random = Random(number)  # noqa: S311  # delays, nothing secret
    for turn in range(40):
        key = f"{number}-{turn}"
        conn.execute(INSERT, [TENANT, key, canonical_json({"key": key})])
        time.sleep(random.random() * 0.02)
        if random.random() < 0.3:
            conn.rollback()
        else:
            conn.commit()
            kept.append(key)


def run_all(threads):
    for thread in threads:
        thread.start()
    return threads


def test_GOV_U1_eight_writers_with_delays_and_rollbacks_and_two_sealers_lose_nothing(owner, system, new_writer, real_tenants, own_cluster):
    kept, stop = [], threading.Event()

    def write(number):
        with new_writer() as conn:
            write_some(conn, number, kept)

    def seal_on():
        with psycopg.connect(own_cluster.dsn("rag4c_system", real_tenants), autocommit=True) as conn:
            while not stop.is_set():
                seal(conn, limit=7)

    sealers = run_all([threading.Thread(target=seal_on) for _ in range(2)])
    for thread in run_all([threading.Thread(target=write, args=(number,)) for number in range(8)]):
        thread.join()
    stop.set()
    for thread in sealers:
        thread.join()
    while seal(system):
        pass
    rows = seals(owner)
    assert len(kept) > 150
    assert sorted(row[4] for row in rows) == sorted(kept)  # 0 lost, 0 doubled
    assert [row[0] for row in rows] == list(range(1, len(kept) + 1))
    assert chain.verify_chain(chain.Link(*row[:4]) for row in rows) == []


def test_GOV_U1_an_event_of_an_open_transaction_holds_up_what_came_after_it(real_tenants, alice, owner, system, new_writer):
    with new_writer() as early:
        early.execute(INSERT, [TENANT, "early", b"{}"])
        record(alice, 3)
        assert seal(system) == 0
        early.commit()
    assert seal(system) == 4
    assert seals(owner)[0][4] == "early"  # ordered by transaction, not by commit


def test_GOV_U1_the_platform_and_each_tenant_have_chains_of_their_own(real_tenants, alice, owner, system):
    for tenant in (TENANT, str(GLOBEX.tenant_id), str(PLATFORM_TENANT)):
        record(system_actor(tenant), 2)
        assert seal(system, tenant) >= 2
        assert [row[0] for row in seals(owner, tenant)][:2] == [1, 2]
        assert seals(owner, tenant)[0][1] == bytes(32)


def test_GOV_U1_after_a_restore_the_next_incarnation_comes_after_all_before(real_tenants, alice, owner, system):
    record(alice, 2)
    seal(system)
    owner.execute("INSERT INTO ledger_incarnation (n) VALUES (2)")
    record(alice)
    with scope(ACME):
        assert Event.objects.first().incarnation == 2
    assert seal(system) == 1
    assert faults() == []


def test_GOV_U1_a_counter_that_was_set_back_is_refused_until_a_new_incarnation(real_tenants, alice, owner, superuser, system):
    record(alice)
    superuser.execute("ALTER TABLE ledger_event DISABLE TRIGGER USER")
    superuser.execute("UPDATE ledger_event SET xid = '900000000' WHERE tenant_id = %s", [TENANT])  # as a restored dump would hold
    superuser.execute("INSERT INTO ledger_incarnation (n) VALUES (2)")
    assert seal(system) == 1  # rows of an earlier incarnation are all committed
    superuser.execute("DELETE FROM ledger_incarnation WHERE n = 2")
    superuser.execute("ALTER TABLE ledger_event ENABLE TRIGGER USER")
    record(alice)
    with pytest.raises(ObjectNotInPrerequisiteState, match="transaction counter"):
        seal(system)
    superuser.execute("INSERT INTO ledger_incarnation (n) VALUES (2)")
    record(alice)
    assert seal(system) == 1
    assert (2, "event_behind_head") in faults()  # the one that was written before somebody said so


def test_GOV_U1_the_writer_cannot_choose_its_place(real_tenants, alice, owner, new_writer):
    with new_writer() as conn:
        conn.execute(INSERT.replace("(id,", "(xid, incarnation, id,").replace("(gen", "('3', 7, gen"), [TENANT, "1", b"{}"])
        assert conn.execute("SELECT xid = pg_current_xact_id(), incarnation FROM ledger_event").fetchone() == (True, 1)


def test_GOV_U2_database_and_python_compute_the_same_chain(real_tenants, alice, owner, system):
    record(alice, 5)
    assert (seal(system, limit=2), seal(system, limit=2), seal(system, limit=2), seal(system)) == (2, 2, 1, 0)
    prev = chain.GENESIS
    for _, found_prev, found_hash, canonical, _ in seals(owner):
        assert (found_prev, found_hash) == (prev, chain.leaf_hash(prev, canonical))
        prev = found_hash


@pytest.mark.parametrize("table", ["ledger_seal", "ledger_checkpoint"])
def test_GOV_U7_seals_and_checkpoints_are_never_changed_even_by_the_owner(real_tenants, alice, owner, system, new_writer, table):
    record(alice)
    seal(system)
    api.write_checkpoint(tenant_id=TENANT)
    for statement in (f"UPDATE {table} SET seq = 9", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
        with pytest.raises(InsufficientPrivilege, match="append-only"):
            owner.execute(statement)
        with new_writer() as conn, pytest.raises(InsufficientPrivilege):
            conn.execute(statement)


def test_GOV_U7_only_the_sealer_writes_seals_and_only_by_its_function(real_tenants, alice, system, new_writer):
    record(alice)
    for statement in ("SELECT rag4c_seal(%s, 5)", "INSERT INTO ledger_seal (tenant_id, seq) VALUES (%s, 1)"):
        with new_writer() as conn, pytest.raises(InsufficientPrivilege):
            conn.execute(statement, [TENANT])
    for statement in ("INSERT INTO ledger_seal (tenant_id, seq) VALUES (%s, 1)", "SELECT * FROM ledger_seal WHERE tenant_id = %s"):
        with pytest.raises(InsufficientPrivilege):
            system.execute(statement, [TENANT])


def run_system(code, dbname, **extra):
    environment = {**os.environ, "RAG4C_DB_ROLE": "system", "RAG4C_DB_NAME": dbname, "DJANGO_SETTINGS_MODULE": "rag4c.settings", **extra}
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"], env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(("point", "sealed"), [("seal.commit.before", 0), ("seal.commit.after", 3)])
def test_GOV_U1_a_sealer_killed_on_either_side_of_its_commit_leaves_a_whole_chain(real_tenants, sealed_platform, alice, owner, point, sealed):
    record(alice, 3)
    killed = run_system("from rag4c.ledger import api; api.seal_all()", real_tenants, RAG4C_FAILPOINTS=f"{point}=kill")
    assert killed.returncode == -signal.SIGKILL
    assert len(seals(owner)) == sealed
    assert run_system("from rag4c.ledger import api; print(api.seal_all())", real_tenants).stdout.strip() == str(3 - sealed)
    assert faults() == []


def test_GOV_T8_the_sealing_task_seals_every_tenant_and_asks_for_checkpoints(real_tenants, sealed_platform, broker, alice, as_login, monkeypatch):
    record(alice, 3)
    monkeypatch.setenv("RAG4C_CHECKPOINT_SEALS", "2")
    as_login("rag4c_system")
    asked = []
    monkeypatch.setattr(tasks.write_checkpoint, "apply_async", lambda words, **_: asked.append(words))
    assert tasks.seal_events() == 3
    assert [words[0] for words in asked] == [TENANT]
    assert api.find_waiting() == []
    as_login("rag4c_app")
    assert tasks.write_checkpoint(*asked[0]) == 3
    as_login("rag4c_system")
    assert api.find_unchecked_chains() == []


def test_GOV_U10_lag_and_the_transaction_that_holds_sealing_are_figures(real_tenants, sealed_platform, alice, system, new_writer, monkeypatch):
    assert (api.read_seal_lag().waiting_tenants, api.read_seal_lag().code) == (0, "ok")
    record(alice)
    waiting = api.read_seal_lag()
    assert waiting.waiting_tenants == 1
    assert 0 <= waiting.lag_s < 60
    assert waiting.holder_pid == 0
    monkeypatch.setattr("rag4c.ledger.api.sealing.DELAYED_S", 0)
    assert api.read_seal_lag().code == "seal_delayed"
    seal(system)
    with new_writer() as early:
        early.execute(INSERT, [TENANT, "early", b"{}"])
        record(alice)
        assert seal(system) == 0
        held = api.read_seal_lag()
        assert (held.code, held.holder_pid) == ("seal_held", early.info.backend_pid)
        assert held.oldest_transaction_s > 0
        early.commit()
    seal(system)
    assert api.read_seal_lag().waiting_tenants == 0


def test_GOV_U10_an_event_that_waits_too_long_is_reported_once(real_tenants, alice):
    record(alice)
    with scope(ACME):
        event_id = str(Event.objects.get().pk)
    assert tasks.report_delay(TENANT, event_id) is True
    assert tasks.report_delay(TENANT, event_id) is False
    with scope(ACME):
        assert [(row.code, row.subject_id) for row in Event.objects.filter(code="seal.delayed")] == [("seal.delayed", event_id)]


def chain_of(alice, system, count=6):
    """Two checkpoints over a chain of `count` + 1."""
    record(alice, count)
    seal(system)
    assert api.write_checkpoint(tenant_id=TENANT) == count
    record(alice)
    seal(system)
    assert api.write_checkpoint(tenant_id=TENANT) == count + 1


def test_GOV_U8_checkpoints_are_signed_chained_and_kept_outside(real_tenants, alice, system, folders):
    chain_of(alice, system)
    names = sink.list_names(sink.find_sink(), TENANT)
    assert names == [f"{TENANT}/000000000006.json", f"{TENANT}/000000000007.json"]
    first, second = (api.read_checkpoint_file(sink.read(sink.find_sink(), name)) for name in names)
    assert (first[0].from_seq, first[0].seq, second[0].from_seq, second[0].prev) == (1, 6, 7, first[0].digest().hex())
    assert keys.load_ring().is_signed(first[0].key, first[0].digest(), first[1])
    verdict = api.verify_audit(tenant_id=TENANT)
    assert (verdict.is_whole, verdict.events, verdict.head_seq, verdict.checkpoints, verdict.checked_seq, verdict.claim) == (
        True, 7, 7, 2, 7, "tamper-evident",
    )  # fmt: skip


def test_GOV_U8_without_a_sink_the_claim_is_smaller_and_says_so(real_tenants, alice, system, settings):
    settings.STORAGES = {name: value for name, value in settings.STORAGES.items() if name != "checkpoints"}
    chain_of(alice, system)
    verdict = api.verify_audit(tenant_id=TENANT)
    assert (verdict.is_whole, verdict.claim) == (True, "tamper-evident to others")


@pytest.mark.parametrize("point", ["seal.checkpoint.before", "seal.checkpoint.after", "seal.sink.before", "seal.sink.after"])
def test_GOV_U8_a_crash_around_a_checkpoint_is_made_good(real_tenants, alice, system, folders, point):
    record(alice, 3)
    seal(system)
    code = f"from rag4c.ledger import api; api.write_checkpoint(tenant_id={TENANT!r})"
    environment = {**os.environ, "RAG4C_DB_NAME": real_tenants, "DJANGO_SETTINGS_MODULE": "rag4c.settings", "RAG4C_FAILPOINTS": f"{point}=kill",
                   "RAG4C_CHECKPOINT_DIR": str(folders / "sink")}  # fmt: skip
    killed = subprocess.run([sys.executable, "-c", f"import django; django.setup()\n{code}"], env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    record(alice)
    seal(system)
    assert api.write_checkpoint(tenant_id=TENANT) == 4
    assert faults() == []
    with scope(ACME):
        assert len(sink.list_names(sink.find_sink(), TENANT)) == Checkpoint.objects.count()


def test_GOV_U8_a_file_that_a_crash_cut_short_is_written_again_and_another_one_is_refused(real_tenants, alice, system):
    record(alice)
    seal(system)
    api.write_checkpoint(tenant_id=TENANT)
    store, name = sink.find_sink(), sink.checkpoint_name(TENANT, 1)
    whole = sink.read(store, name)
    path = Path(store.path(name))
    path.write_bytes(whole[:20])
    api.write_checkpoint(tenant_id=TENANT)
    assert sink.read(store, name) == whole
    path.write_bytes(whole.replace(b'"seq":1', b'"seq":2'))
    with pytest.raises(Conflict) as caught:
        api.write_checkpoint(tenant_id=TENANT)
    assert caught.value.code == "checkpoint_forked"


@contextmanager
def triggers_off(owner, *tables):
    """What an owner can do who means it."""
    for table in tables:
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    yield
    for table in tables:
        owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE ledger_event SET canonical = canonical || ' '::bytea WHERE id = {event}", [(4, "hash_wrong")]),
        ("UPDATE ledger_event SET code = 'thing.other' WHERE id = {event}", [(4, "columns_differ")]),
        ("UPDATE ledger_event SET actor = 'user:x' WHERE id = {event}", [(4, "columns_differ")]),
        ("UPDATE ledger_event SET subject_id = 'x' WHERE id = {event}", [(4, "columns_differ")]),
        ("UPDATE ledger_event SET xid = '5' WHERE id = {event}", [(4, "columns_differ")]),
        ("DELETE FROM ledger_event WHERE id = {event}", [(4, "event_missing")]),
        ("UPDATE ledger_seal SET hash = sha256('x') WHERE event_id = {event}", [(1, "checkpoint_differs"), (4, "hash_wrong"), (5, "link_broken")]),
        ("UPDATE ledger_seal SET prev = sha256('x') WHERE event_id = {event}", [(4, "link_broken")]),
        ("DELETE FROM ledger_seal WHERE event_id = {event}", [(1, "checkpoint_differs"), (4, "seq_gap"), (7, "event_behind_head")]),
        ("DELETE FROM ledger_seal WHERE seq = 7", [(7, "checkpoint_beyond_head")]),
        ("UPDATE ledger_seal SET xid = '1' WHERE event_id = {event}", [(4, "columns_differ"), (4, "order_broken")]),
        ("DELETE FROM ledger_checkpoint WHERE seq = 7", []),  # the sink decides
        ("UPDATE ledger_checkpoint SET signature = 'x' WHERE seq = 7", [(7, "checkpoint_missing")]),
    ],
)  # fmt: skip
def test_GOV_U9_an_owner_who_switches_the_triggers_off_is_named_with_the_number(real_tenants, alice, system, owner, statement, found):
    chain_of(alice, system)
    (event,) = owner.execute("SELECT event_id FROM ledger_seal WHERE tenant_id = %s AND seq = 4", [TENANT]).fetchone()
    with triggers_off(owner, "ledger_event", "ledger_seal", "ledger_checkpoint"):
        owner.execute(statement.format(event=f"'{event}'"))
    assert faults() == found


def test_GOV_U8_a_chain_written_anew_is_whole_in_itself_and_contradicts_the_sink(real_tenants, alice, system, owner, own_cluster):
    chain_of(alice, system)
    with triggers_off(owner, "ledger_event", "ledger_seal", "ledger_checkpoint"):
        owner.execute("DELETE FROM ledger_seal WHERE tenant_id = %s AND seq >= 4", [TENANT])
        owner.execute("DELETE FROM ledger_checkpoint WHERE tenant_id = %s", [TENANT])
        owner.execute("UPDATE ledger_event SET code = 'thing.other', canonical = replace(convert_from(canonical, 'UTF8'), 'thing.happened', "
                      "'thing.other')::bytea WHERE tenant_id = %s AND subject_id = '4'", [TENANT])  # fmt: skip
    while seal(system):
        pass
    assert faults() == [(1, "checkpoint_differs"), (7, "checkpoint_differs")]


def test_GOV_U8_a_forged_checkpoint_in_the_sink_is_named(real_tenants, alice, system):
    chain_of(alice, system)
    store, name = sink.find_sink(), sink.checkpoint_name(TENANT, 7)
    fields = json.loads(sink.read(store, name))
    Path(store.path(name)).write_bytes(canonical_json({**fields, "hash": "0" * 64}))
    assert faults() == [(7, "checkpoint_missing"), (7, "checkpoint_signature")]
    Path(store.path(name)).write_bytes(b"no json")
    assert faults() == [(0, "checkpoint_unreadable"), (7, "checkpoint_missing")]


def test_GOV_U11_a_new_key_is_signed_by_the_old_one_and_old_checkpoints_stay_good(real_tenants, alice, system, folders):
    chain_of(alice, system)
    old = keys.load_signer()
    new_id = api.rotate_signing_key(actor=alice)
    assert new_id == keys.load_signer().key_id != old.key_id
    assert not (folders / "signing" / "key-0001.pem").exists()
    with scope(system_actor(PLATFORM_TENANT).grant):
        body = json.loads(bytes(Event.objects.get(code="signing_key.rotated").canonical))["data"]
    signature, _ = bytes.fromhex(body.pop("signature")), body.pop("countersignature")
    assert keys.is_signature(old.private.public_key(), chain.statement_digest(canonical_json(body)), signature)
    record(alice)
    seal(system)
    api.write_checkpoint(tenant_id=TENANT)
    assert faults() == []
    with scope(ACME):
        assert {json.loads(bytes(row.body))["key"] for row in Checkpoint.objects.all()} == {old.key_id, new_id}


def test_GOV_U11_a_rotation_whose_event_fails_leaves_the_old_key_in_force(folders):
    old = keys.load_signer()

    def fail(_):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        keys.rotate_key(fail)
    assert keys.load_signer().key_id == old.key_id


def test_GOV_U11_a_key_that_nobody_vouched_for_is_refused(real_tenants, alice, folders):
    api.rotate_signing_key(actor=alice)
    path = folders / "signing" / "rotation-0002.json"
    path.write_text(path.read_text().replace('"number":2', '"number":3'))
    with pytest.raises(Conflict) as caught:
        keys.load_ring()
    assert caught.value.code == "rotation_invalid"


def test_the_signing_key_is_private_and_made_once(folders):
    path = folders / "signing" / "key-0001.pem"
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    assert keys.ensure_signing_key() is False
    assert path.read_bytes() == before


def test_without_its_key_nothing_is_signed(folders, real_tenants, alice, system):
    record(alice)
    seal(system)
    (folders / "signing" / "key-0001.pem").unlink()
    with pytest.raises(Unavailable) as caught:
        api.write_checkpoint(tenant_id=TENANT)
    assert caught.value.code == "signing_key_missing"
    with scope(ACME):
        assert Checkpoint.objects.count() == 0
        assert Seal.objects.count() == 1


OLD = datetime(2025, 1, 15, tzinfo=UTC)


@pytest.fixture
def as_owner(as_login, alice, system):
    """A chain of January 2025 with checkpoints; Django under the owner."""
    as_login("rag4c_owner")
    ensure_event_partitions(date(2025, 1, 1), months_ahead=0)
    as_login("rag4c_app")
    with clock.frozen(OLD):
        chain_of(alice, system)
    as_login("rag4c_owner")


def test_GOV_U1_a_new_incarnation_is_begun_by_the_owner_and_recorded(as_owner, owner):
    assert begin_incarnation() == 2
    assert owner.execute("SELECT code, incarnation FROM ledger_event WHERE code LIKE 'incarnation%'").fetchone() == ("incarnation.begun", 2)


def test_GOV_U12_a_pruned_month_leaves_a_signed_stub_and_a_chain_that_verifies(as_owner, as_login, owner, system):
    assert prune_month("2025-01") == [Stubbed(ACME.tenant_id, 7, ((1, 7),))]
    names = ["ledger_event_202501", "ledger_event_202501_pruned"]
    assert owner.execute("SELECT to_regclass(%s) IS NULL, to_regclass(%s) IS NOT NULL", names).fetchone() == (True, True)
    as_login("rag4c_app")
    while seal(system):
        pass
    verdict = api.verify_audit(tenant_id=TENANT)
    assert (verdict.faults, verdict.pruned, verdict.events, verdict.head_seq) == ([], 7, 1, 8)  # the one that says what was pruned
    assert any("stub" in key for key in sink.list_names(sink.find_sink(), TENANT))
    with triggers_off(owner, "ledger_stub"):
        owner.execute("UPDATE ledger_stub SET signature = 'x'")
    assert faults() == [(1, "event_missing"), (1, "stub_signature"), *((seq, "event_missing") for seq in range(2, 8))]


def test_GOV_U12_what_is_not_confirmed_by_a_checkpoint_is_not_pruned(as_owner, alice):
    with clock.frozen(OLD):
        record(alice)
    for month, code in (("2025-01", "events_unconfirmed"), (f"{clock.now():%Y-%m}", "month_not_over"), ("1999-01", "partition")):
        with pytest.raises(DomainError) as caught:
            prune_month(month)
        assert caught.value.code == code
