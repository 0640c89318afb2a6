"""Every guarded door behind an approval: what was asked runs, exactly once, and nothing else; and every path to a door meets the gate."""

from __future__ import annotations

import ast
import json

import pytest
from django.test import Client

from approvals import api
from approvals.models import ActionPolicy
from documents import api as documents
from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Blocked, Conflict, DomainError
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.models import new_id
from retrieval import api as retrieval
from retrieval.models import Channel, Release
from tenants import api as tenants
from tests.approvals.support import REASON, count_rows, make_desk, quorum
from tests.architecture.sources import all_sources, load_script
from tests.builders import PASSWORD, ask, make_library, publish, work_off

lint = load_script("lint_rules")
LEAVE = {"leave.md": "# Leave\n\nEmployees get 25 days of paid leave a year.\n"}
QUESTION = "How many days of paid leave do employees get a year?"


def blocked_data(call, **arguments):
    with pytest.raises(Blocked) as caught:
        call(**arguments)
    assert caught.value.code == "approval_required"
    return caught.value.data


def request_of(actor, data):
    return gate.submit(actor=actor, action=data["action"], payload=data["payload"], reason=REASON)


@pytest.fixture
def desk(acme):
    return make_desk(acme)


def drafted(library):
    return retrieval.draft_manifest(actor=library.kit.alice, knowledge_base_id=library.base_id)


def test_GOV_C3_a_release_goes_live_when_it_is_approved_for_this_very_manifest(acme, desk):
    library = make_library(acme, LEAVE)
    library.sync()
    desk.set_policy(quorum(1), action="channel.release")
    manifest = drafted(library)
    move = {"knowledge_base_id": library.base_id, "channel": "live", "manifest_id": manifest.id, "reason": "figures of spring"}
    data = blocked_data(retrieval.release, actor=acme.alice, **move)
    assert (data["payload"]["manifest"], data["payload"]["reason"]) == (manifest.sha256, "figures of spring")
    asked = request_of(acme.alice, data)
    lines = {line.what: (line.before, line.after) for line in api.describe_request(actor=acme.alice, request_id=asked)}
    assert lines["leave.md"] == ("", "revision 1")
    assert ask(acme.bob, QUESTION).status == "abstained"
    desk.vote("charlie", asked)
    work_off(acme)
    assert desk.state(asked) == "executed"
    assert ask(acme.bob, QUESTION).status == "answered"
    with scope(acme.system.grant):
        row = Release.objects.get()
        permit = row.permit
    assert (row.released_by, row.reason, permit.split(":")[0]) == (acme.alice.ref, "figures of spring", "permit")
    assert count_rows(acme, asked) == (1, 1, 1)


def test_GOV_A8_a_channel_that_moved_meanwhile_supersedes_the_request(acme, desk):
    library = publish(acme, LEAVE)
    library.write({"travel.md": "# Travel\n\nBook by rail.\n"})
    library.sync()
    desk.set_policy(quorum(1), action="channel.release")
    move = {"knowledge_base_id": library.base_id, "channel": "live", "manifest_id": drafted(library).id}
    asked = request_of(acme.alice, blocked_data(retrieval.release, actor=acme.alice, **move))
    desk.vote("charlie", asked)
    with scope(acme.system.grant):
        Channel.objects.filter(name="live").update(rev=9)
    work_off(acme)
    assert desk.state(asked) == "superseded"


def test_GOV_C4_a_rollback_behind_an_approval_moves_to_the_manifest_that_was_named(acme, desk):
    library = publish(acme, LEAVE)
    library.write({"travel.md": "# Travel\n\nBook by rail.\n"})
    library.sync()
    library.release()
    desk.set_policy(quorum(1), action="channel.rollback")
    data = blocked_data(retrieval.rollback, actor=acme.alice, knowledge_base_id=library.base_id, channel="live")
    asked = request_of(acme.alice, data)
    assert {line.what: line.after for line in api.describe_request(actor=acme.alice, request_id=asked)}["travel.md"] == ""
    desk.vote("officer", asked)
    work_off(acme)
    with scope(acme.system.grant):
        channel = Channel.objects.select_related("manifest").get(name="live")
        assert (desk.state(asked), channel.rev, channel.manifest.seq, channel.manifest.sha256) == ("executed", 3, 1, data["payload"]["manifest"])
        assert Release.objects.order_by("channel_rev").last().kind == "rollback"


def test_a_manifest_that_is_no_longer_ready_fails_and_says_so(acme, desk):
    from documents.models import IngestJob

    library = make_library(acme, LEAVE)
    library.sync()
    desk.set_policy(quorum(1), action="channel.release")
    move = {"knowledge_base_id": library.base_id, "channel": "live", "manifest_id": drafted(library).id}
    asked = request_of(acme.alice, blocked_data(retrieval.release, actor=acme.alice, **move))
    desk.vote("charlie", asked)
    with scope(acme.system.grant):
        IngestJob.objects.update(state="waiting")
    assert desk.run(asked) == "failed"
    assert [row.code for row in api.why_blocked(actor=acme.alice, request_id=asked)] == ["manifest_not_ready"]


def test_a_token_is_worth_nothing_until_it_is_approved_and_only_its_maker_knows_the_secret(acme, desk):
    desk.set_policy(quorum(1), action="token.create")
    secret = tenants.make_secret(acme.id)
    data = blocked_data(tenants.create_token, actor=acme.bob, user_id=acme.bob.user_id, name="script", days=30, secret=secret)
    assert secret not in json.dumps(data)
    asked = request_of(acme.bob, data)
    program = Client(headers={"authorization": f"Bearer {secret}"})
    assert program.get("/api/answers").status_code == 401
    desk.vote("charlie", asked)
    work_off(acme)
    assert desk.state(asked) == "executed"
    assert program.get("/api/answers").status_code == 200


def test_GOV_A3_who_gets_the_token_does_not_decide_about_it(acme, desk):
    desk.set_policy(quorum(1), action="token.create")
    data = blocked_data(tenants.create_token, actor=acme.alice, user_id=desk["charlie"].user_id, name="script")
    asked = request_of(acme.alice, data)
    with pytest.raises(DomainError, match="own_request"):
        desk.vote("charlie", asked)


def test_the_hosts_requests_are_the_systems_and_need_a_person_to_approve(acme, desk):
    library = make_library(acme, LEAVE)
    library.sync()
    desk.set_policy(quorum(1), action="channel.release")
    host = system_actor(acme.id, channel="cli")
    move = {"knowledge_base_id": library.base_id, "channel": "live", "manifest_id": drafted(library).id}
    asked = request_of(host, blocked_data(retrieval.release, actor=host, **move))
    with pytest.raises(DomainError, match="person_needed"):
        api.vote(actor=host, request_id=asked, approves=True)
    desk.vote("charlie", asked)
    assert desk.run(asked) == "executed"
    assert desk.row(asked).requested_by == "system"


def samples(kit, library):
    """action -> (subject, another that must give other bytes): of what exists in the tenant."""
    from approvals.guarded import PolicyDraft
    from compliance.guarded import ExportDraft
    from compliance.rules import AuditQuery
    from retrieval.guarded import ChannelMove
    from tenants.guarded import AclGrant, TokenDraft, VisitDraft

    with scope(kit.system.grant):
        channel = Channel.objects.get(name="live")
    move = ChannelMove(channel.pk, channel.rev, drafted(library).sha256, "why")
    draft = PolicyDraft("role.grant", 1, (quorum(1),))
    line = tenants.AclLine("document", new_id(), "leave.md", tenants.AclSpec(frozenset({f"user:{kit.bob.user_id}"})))
    change = tenants.read_acl_change(actor=kit.alice, change_set_id=tenants.draft_acl_change(actor=kit.alice, lines=[line], reason=REASON))
    return {
        "acl.grant": AclGrant(change.id, change.base_acl_rev, change.payload),
        "approval_policy.change": draft,
        "audit.export": ExportDraft(1, 1, AuditQuery(), frozenset()),
        "channel.release": move,
        "channel.rollback": move,
        "role.grant": (kit.bob.user_id, "approver"),
        "support.open": VisitDraft(kit.id, REASON, 30),
        "token.create": TokenDraft(kit.bob.user_id, "script", 30, "0" * 64),
    }


def test_GOV_A_every_guarded_action_has_all_that_its_execution_needs(acme, desk):
    library = publish(acme, LEAVE)
    subjects = samples(acme, library)
    assert set(subjects) == set(gate.REGISTRY)
    for code, action in gate.REGISTRY.items():
        payload = action.payload(subjects[code])
        again = json.loads(json.dumps(payload))
        with scope(acme.system.grant):
            assert digest_of(action.payload(action.load(again))) == digest_of(payload), code
            assert action.describe(again), code
            kind, key = action.subject_ref(again)
            assert kind, code
            assert key, code
            assert action.subject_rev(again) == action.subject_rev(again) != "", code
            assert isinstance(action.beneficiaries(again), frozenset), code


TRIED_ELSEWHERE = {
    "audit.export": "needs a sealed ledger: tests/compliance/test_exporting.py",
    "support.open": "takes operators only: tests/tenants/test_support.py",
}


def test_GOV_A_execute_re_enters_the_door_and_is_stopped_there_without_a_permit(acme, desk):
    """Whoever calls `execute` past the engine, with whatever permit of another action or payload, changes nothing."""
    library = publish(acme, LEAVE)
    library.write({"travel.md": "# Travel\n\nBook by rail.\n"})
    library.sync()
    subjects = samples(acme, library)
    for code in gate.REGISTRY:
        if code != "approval_policy.change":
            desk.set_policy(quorum(1), action=code)
    desk.set_policy(quorum(1), action="approval_policy.change")
    subjects["approval_policy.change"] = type(subjects["approval_policy.change"])("role.grant", 2, (quorum(2),))
    for code, action in gate.REGISTRY.items():
        if code in TRIED_ELSEWHERE:
            continue
        payload = action.payload(subjects[code])
        for token in (None, gate.PermitToken(new_id(), code, digest_of(payload)), gate.PermitToken(new_id(), "other.action", digest_of(payload))):
            with gate.using_permit(token), scope(acme.system.grant):
                data = blocked_data(action.execute, actor=acme.system, payload=payload)
            assert (data["action"], data["payload_sha256"]) == (code, digest_of(payload)), code


@pytest.mark.parametrize("code", sorted(gate.REGISTRY))
def test_GOV_A_a_guarded_action_without_a_row_is_blocked_also_for_requests(globex, code, monkeypatch):
    library = publish(globex, LEAVE)
    payload = gate.REGISTRY[code].payload(samples(globex, library)[code])
    with scope(globex.system.grant):
        assert ActionPolicy.objects.filter(action=code).count() == 1
    with monkeypatch.context() as patch:
        patch.delitem(gate.REGISTRY, code)
        unseeded = system_actor(tenants.create_tenant(actor=system_actor(PLATFORM_TENANT, channel="cli"), slug="unseeded", name="Unseeded"))
    with pytest.raises(Blocked, match="no_policy"):
        api.submit_request(actor=unseeded, action=code, payload=payload, reason=REASON)


def require_sites():
    """(path, function, the guarded constant) of every call of `gate.require` in the product."""
    sites = []
    for source in all_sources():
        for function in lint.functions_of(source.tree):
            for node in lint.own_nodes(function):
                if isinstance(node, ast.Call) and lint.dotted(node.func) == "gate.require":
                    sites.append((source.path, function.name, ast.unparse(node.args[0])))
    return sites


def declared_constants():
    """constant name -> code, of every `NAME = declare(GuardedAction("code", …))`."""
    found = {}
    for source in all_sources():
        for node in source.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and lint.dotted(node.value.func).split(".")[-1] == "declare":
                found[ast.unparse(node.targets[0])] = node.value.args[0].args[0].value
    return found


def test_GOV_A_every_path_to_a_guarded_action_walks_through_its_door():
    """Admin, REST, command line and tasks call apis; the gate hangs in the apis; each action has exactly one door, which its `execute` re-enters."""
    sites, constants = require_sites(), declared_constants()
    assert set(constants.values()) == set(gate.REGISTRY)
    assert all("/api/" in path for path, _, _ in sites)
    for name in constants:
        doors = {(path, function) for path, function, text in sites if f"guarded.{name}" in text}
        assert len(doors) == 1, name
    outside = [
        source.path
        for source in all_sources()
        if not source.is_api and source.path != "rag4c/scope/gate.py" and ("gate.require(" in source.text or "using_permit(" in source.text)
    ]
    assert outside == []
    permits = [source.path for source in all_sources() if "using_permit(" in source.text and source.path != "rag4c/scope/gate.py"]
    assert permits == ["approvals/api/running.py"]


GUARDED_TABLES = {
    "RoleAssignment": "_give_role",
    "ApiToken": "open_token",
    "Release": "_move_channel",
    "ActionPolicy": "_store_policy",
    "SupportVisit": "approve_visit",
}


def test_GOV_A_rows_behind_a_guarded_action_are_made_by_its_door_alone():
    """Nobody else in the product inserts them: neither admin, views, commands nor tasks."""
    makers = {model: set() for model in GUARDED_TABLES}
    for source in all_sources():
        for function in lint.functions_of(source.tree):
            for node in lint.own_nodes(function):
                text = ast.unparse(node) if isinstance(node, ast.Call) else ""
                for model in GUARDED_TABLES:
                    if text.startswith((f"{model}.objects.create(", f"{model}.objects.get_or_create(", f"{model}.objects.bulk_create(")):
                        makers[model].add(function.name)
    makers["ActionPolicy"].discard("seed_policies")
    assert makers == {model: {door} for model, door in GUARDED_TABLES.items()}


def test_people_are_created_as_members_while_other_roles_need_an_approval(acme, desk):
    desk.set_policy(quorum(1), action="role.grant")
    options = {"actor": acme.alice, "password": PASSWORD}
    tenants.create_user(username="member-1", **options)
    with pytest.raises(Blocked, match="role_needs_approval"):
        tenants.create_user(username="manager-1", role="knowledge_manager", **options)
    with pytest.raises(DomainError, match="user"):
        tenants.find_user(actor=acme.alice, username="manager-1")


def test_nothing_to_do_is_not_asked_for(acme, desk):
    library = publish(acme, LEAVE)
    desk.set_policy(quorum(1), action="channel.release")
    with scope(acme.system.grant):
        channel = Channel.objects.select_related("manifest").get(name="live")
    payload = {"channel": str(channel.pk), "rev": channel.rev, "manifest": channel.manifest.sha256, "reason": "again"}
    with pytest.raises(Conflict, match="nothing_to_do"):
        api.submit_request(actor=acme.alice, action="channel.release", payload=payload, reason=REASON)
    library.write({"travel.md": "# Travel\n\nBook by rail.\n"})
    library.sync()
    stale = {**payload, "manifest": drafted(library).sha256, "rev": 0}
    with pytest.raises(Conflict, match="payload_stale"):
        api.submit_request(actor=acme.alice, action="channel.release", payload=stale, reason=REASON)
    assert documents.find_knowledge_base(actor=acme.alice, slug="handbook").id == library.base_id
