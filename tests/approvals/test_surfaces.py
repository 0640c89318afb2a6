"""Approvals by REST and by the command line: the same doors, the same refusals."""

from __future__ import annotations

import json

import pytest

from approvals import api
from rag4c.cli import build_parser
from rag4c.commands.approvals import _VERBS
from rag4c.kernel.errors import DomainError
from tenants import api as tenants
from tests.approvals.support import REASON, make_desk, quorum
from tests.surfaces.doors import program_of

ROOT = "/api/enterprise/approvals"


@pytest.fixture
def desk(acme, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    return make_desk(acme, quorum(1), approvers=2)


def post(client, path, body=None):
    return client.post(path, body or {}, content_type="application/json")


def refusal_of(acme):
    with pytest.raises(DomainError) as caught:
        tenants.grant_role(actor=acme.alice, user_id=acme.bob.user_id, role="knowledge_manager")
    return caught.value.data


def test_a_request_goes_from_the_refusal_to_the_change_by_rest(acme, desk):
    data = refusal_of(acme)
    alice, charlie = program_of(desk["alice"]), program_of(desk.again("charlie"))
    assert data["ask_at"] == ROOT
    asked = post(alice, data["ask_at"], {"action": data["action"], "payload": data["payload"], "reason": REASON})
    assert asked.status_code == 200, asked.json()
    key, digest = asked.json()["id"], asked.json()["payload_sha256"]
    assert [row["id"] for row in charlie.get(f"{ROOT}?view=inbox").json()["results"]] == [key]
    detail = alice.get(f"{ROOT}/{key}").json()
    assert detail["changes"] == [{"what": "Roles of Bob", "before": "member", "after": "knowledge_manager, member"}]
    assert [row["code"] for row in detail["obstacles"]] == ["waits_for_votes", "requester_excluded"]
    assert post(charlie, f"{ROOT}/{key}/comments", {"text": "looks right"}).json()["standing"] == "pending"
    assert post(alice, f"{ROOT}/{key}/votes", {"approves": True, "payload_sha256": digest}).json()["code"] == "own_request"
    assert post(charlie, f"{ROOT}/{key}/votes", {"approves": True, "payload_sha256": "0" * 64}).json()["code"] == "payload_stale"
    assert post(charlie, f"{ROOT}/{key}/votes", {"approves": True, "payload_sha256": digest}).json()["standing"] == "approved"
    again = post(charlie, f"{ROOT}/{key}/votes", {"approves": True, "payload_sha256": digest})
    assert (again.status_code, again.json()["code"]) == (409, "request_closed")
    assert post(alice, f"{ROOT}/{key}/execute").json()["standing"] == "executed"
    assert desk.holds("bob")
    assert alice.get(f"{ROOT}?view=mine").json()["results"][0]["standing"] == "executed"


def test_wrong_words_and_strangers_are_refused_by_rest(acme, globex, desk):
    asked = desk.ask()
    alice, stranger, bob = program_of(desk["alice"]), program_of(globex.alice), program_of(acme.bob)
    assert post(alice, ROOT, {"action": "role.grant", "payload": {}, "reason": REASON}).json()["code"] == "payload_invalid"
    assert post(alice, ROOT, {"action": "role.grant", "reason": REASON, "more": 1}).status_code == 400
    assert alice.get(f"{ROOT}?view=everything").json()["code"] == "view_invalid"
    assert bob.get(ROOT).status_code == 403
    missing = f"{ROOT}/01920000-0000-7000-8000-000000000000"
    for client in (stranger, bob):
        theirs, absent = client.get(f"{ROOT}/{asked}"), client.get(missing)
        assert (theirs.status_code, theirs.content) == (absent.status_code, absent.content) == (404, absent.content)
    for path in ("votes", "cancel", "execute", "comments"):
        body = {"votes": {"approves": True, "payload_sha256": "0" * 64}, "comments": {"text": "hello"}}.get(path)
        assert post(stranger, f"{ROOT}/{asked}/{path}", body).content == post(stranger, f"{missing}/{path}", body).content
    assert post(alice, f"{ROOT}/{asked}/cancel").json()["standing"] == "cancelled"


def test_the_list_of_requests_turns_its_pages(acme, desk):
    keys = [str(desk.ask(role=role)) for role in ("auditor", "approver", "knowledge_manager")]
    alice = program_of(desk["alice"])
    first = alice.get(f"{ROOT}?limit=2").json()
    second = alice.get(f"{ROOT}?limit=2&after={first['next']}").json()
    assert [row["id"] for row in first["results"] + second["results"]] == keys[::-1]
    assert second["next"] is None


def command(desk, who, *words):
    arguments = build_parser().parse_args(["approvals", *words, "--as", who, "--json"])
    _VERBS[arguments.verb](arguments, desk.again(who))


def test_the_command_line_lists_votes_runs_and_sets_policies(acme, desk, capsys):
    def told():
        return json.loads(capsys.readouterr().out)

    command(desk, "alice", "request", "role.grant", "--payload", json.dumps(refusal_of(acme)["payload"]), "--reason", REASON)
    key = told()["request"]
    command(desk, "charlie", "inbox")
    assert [row["id"] for row in told()] == [key]
    command(desk, "charlie", "show", key)
    assert told()["changes"][0]["after"] == "knowledge_manager, member"
    with pytest.raises(DomainError, match="own_request"):
        command(desk, "alice", "approve", key)
    command(desk, "charlie", "approve", key, "--comment", "fine")
    assert told() == {"state": "approved"}
    command(desk, "alice", "execute", key)
    assert (told(), desk.holds("bob")) == ({"state": "executed"}, True)
    command(desk, "alice", "set-policy", "role.grant", "--stage", "2 of role:approver,user:officer within 24 veto then role:tenant_admin", "--stage",
            "all of role:compliance_officer")  # fmt: skip
    assert told() == {"rev": 3}
    command(desk, "alice", "simulate", "role.grant")
    assert [(stage["needed"], stage["mode"], stage["ttl_hours"]) for stage in told()["stages"]] == [(2, "quorum", 24), (1, "all", 72)]
    command(desk, "alice", "mine")
    assert len(told()) == 1
    command(desk, "alice", "set-policy", "role.grant")
    assert api.simulate(actor=acme.alice, action="role.grant").outcome == "runs"


def test_a_guarded_command_asks_when_it_is_told_to(acme, desk, capsys):
    from rag4c.commands.base import asking

    desk.set_policy(quorum(1), action="token.create")
    for told, code in ((["--ask", REASON], ""), ([], "approval_required"), (["--ask", "short"], "reason_invalid")):
        arguments = build_parser().parse_args(["token", "bob", "--json", *told])
        try:
            with asking(arguments, acme.system) as asked:
                tenants.create_token(actor=acme.system, user_id=acme.bob.user_id, name="script")
        except DomainError as error:
            assert error.code == code
        else:
            assert json.loads(capsys.readouterr().out) == {"request": str(asked[0])}
            assert desk.state(asked[0]) == "pending"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "x"), "request_id_invalid"),
        (("cancel", "01920000-0000-7000-8000-000000000000"), "approval"),
        (("request", "role.grant", "--payload", "{"), "payload_invalid"),
        (("set-policy", "role.grant", "--stage", "some of them"), "stages_invalid"),
        (("set-policy", "role.grant", "--stage", "1 of everybody"), "readers_invalid"),
    ],
)
def test_wrong_words_on_the_command_line_say_what_to_do(acme, desk, words, code):
    with pytest.raises(DomainError) as caught:
        command(desk, "alice", *words)
    assert caught.value.code == code
    assert caught.value.message
