"""The approvals' pages: a refused action asks for an approval, approvers see exactly what will run, and each vote has its own outcome."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse

from approvals import api
from approvals.models import Absence, ActionPolicy, ApprovalRequest, BreakGlass, Delegation
from rag4c.kernel import clock
from rag4c.scope.manager import scope
from retrieval.models import Channel, Manifest
from tests.admin.rows import sign_in
from tests.admin.test_actions import act, act_url, told_by
from tests.approvals.support import REASON, make_desk, quorum
from tests.builders import work_off

LIST = "admin:approvals_approvalrequest_changelist"


@pytest.fixture
def desk(acme):
    return make_desk(acme, approvers=2)


@pytest.fixture
def charlie(desk):
    return sign_in("acme", "charlie")


def page_of(client, asked):
    return client.get(reverse("admin:approvals_approvalrequest_change", args=[asked])).content.decode()


def requests_of(kit):
    with scope(kit.system.grant):
        return list(ApprovalRequest.objects.filter(state__in=["pending", "approved"]).order_by("pk"))


def test_a_refused_release_offers_a_request_with_the_diff_and_runs_when_approved(acme, filled, alice, desk, charlie):
    desk.set_policy(quorum(1), action="channel.release")
    with scope(acme.system.grant):
        older = Manifest.objects.get(seq=1)
    address, fields = (
        act_url("retrieval.Manifest", "release-manifest"),
        {"id": [str(older.pk)], "channel": "live", "reason": "figures are right here"},
    )
    page = alice.post(address, fields)
    text = page.content.decode()
    assert page.status_code == 200
    assert "Request approval" in text
    assert "#2, 0 documents" in text
    assert "#1, 0 documents" in text
    before = len(requests_of(acme))
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text)
    again = {**{name: value for name, value in hidden if name != "csrfmiddlewaretoken"}, "approval_reason": REASON}
    assert {"id": str(older.pk), "channel": "live", "reason": "figures are right here"}.items() <= again.items()
    (told,) = told_by(alice, alice.post(address, again))
    assert "an approval is asked for" in told
    (asked,) = [row for row in requests_of(acme) if row.action == "channel.release"]
    assert len(requests_of(acme)) == before + 1
    assert "This was asked for already" in alice.post(address, fields).content.decode()
    assert "request_open" in told_by(alice, alice.post(address, again))[0]
    act(charlie, "approvals.ApprovalRequest", "approve", [asked], comment="I have compared them")
    work_off(acme)
    with scope(acme.system.grant):
        assert Channel.objects.get(name="live").manifest_id == older.pk
    assert desk.state(asked.pk) == "executed"


def test_a_reason_that_is_too_short_asks_for_nothing(acme, filled, alice, desk):
    desk.set_policy(quorum(1), action="role.grant")
    with scope(acme.system.grant):
        from tenants.models import User

        bob = User.objects.get(pk=acme.bob.user_id)
    told = act(alice, "tenants.User", "grant-role", [bob], role="approver", approval_reason="short")
    assert "reason_invalid" in told[0]
    assert [row for row in requests_of(acme) if row.action == "role.grant"] == []


def test_inbox_has_one_line_a_request_and_a_bulk_vote_tells_each_outcome(acme, alice, desk, charlie):
    desk.set_policy(quorum(1), quorum(1, ["role:compliance_officer"]))
    first, second = desk.ask(whom="bob"), desk.ask(whom="charlie")
    with scope(acme.system.grant):
        rows = list(ApprovalRequest.objects.filter(pk__in=[first, second]))
    inbox = charlie.get(reverse(LIST), {"view": "inbox"})
    text = inbox.content.decode()
    assert [row.pk for row in inbox.context["cl"].result_list] == [first]
    for part in ("role.grant", "Alice", "1 of 2", "in 23", "waits for votes"):
        assert part in text, part
    told = act(charlie, "approvals.ApprovalRequest", "approve", rows)
    assert sorted("own_request" in line for line in told) == [False, True]
    assert charlie.get(reverse(LIST), {"view": "inbox"}).context["cl"].result_count == 0
    officer = sign_in("acme", "officer")
    assert (
        officer.get(reverse(LIST), {"view": "inbox"}).context["cl"].result_count == 2
    )  # both: the one at stage 2, and the one that Charlie may not decide
    mine = alice.get(reverse(LIST), {"view": "mine"})
    assert mine.context["cl"].result_count == 2
    assert "2 of 2" in mine.content.decode()


def test_page_shows_what_will_run_votes_comments_and_what_is_missing(acme, alice, desk, charlie):
    desk.set_policy(quorum(2, ["role:approver"]))
    asked = desk.ask()
    with scope(acme.system.grant):
        row = ApprovalRequest.objects.get(pk=asked)
    act(charlie, "approvals.ApprovalRequest", "approve", [row], comment="fine with me")
    act(charlie, "approvals.ApprovalRequest", "comment", [row], comment="who covers for Bob?")
    text = page_of(alice, asked)
    for part in (
        "Roles of Bob",
        "knowledge_manager, member",
        "Charlie",
        "fine with me",
        "who covers for Bob?",
        "waits_for_votes",
        "Approver-2",
        row.payload_sha256,
    ):
        assert part in text, part
    assert "approval.voted" in text  # the ledger's history


def test_requester_sees_why_nothing_happens(acme, alice, desk):
    desk.set_policy(quorum(1, ["role:auditor"]))
    blocked = desk.ask()
    assert "stage_unfillable" in page_of(alice, blocked)
    assert "blocked: nobody there can approve" in alice.get(reverse(LIST), {"view": "mine"}).content.decode()
    desk.age(blocked, 30)
    assert "request_expired" in page_of(alice, blocked)
    assert "expired" in alice.get(reverse(LIST)).content.decode()


def test_cancel_and_run_from_the_page(acme, alice, desk, charlie):
    desk.set_policy(quorum(1))
    first, second = desk.ask(), desk.ask(whom="officer")
    with scope(acme.system.grant):
        rows = {row.pk: row for row in ApprovalRequest.objects.filter(pk__in=[first, second])}
    act(alice, "approvals.ApprovalRequest", "cancel", [rows[first]])
    assert desk.state(first) == "cancelled"
    assert "It is cancelled." in page_of(alice, first)
    act(charlie, "approvals.ApprovalRequest", "approve", [rows[second]], comment="")
    assert act(charlie, "approvals.ApprovalRequest", "execute", [rows[second]])[0].endswith("done.")
    assert desk.holds("officer")


def set_policy(client, policy, **fields):
    """Reads what will happen, sends again; what the next page tells."""
    shown = client.post(act_url("approvals.ActionPolicy", "set-policy"), {"id": [str(policy.pk)], **fields}).content.decode()
    return act(
        client, "approvals.ActionPolicy", "set-policy", [policy], **fields, rehearsed=re.search(r'name="rehearsed" value="(\w+)"', shown).group(1)
    )


def test_a_policy_is_set_with_its_stages_and_the_list_offers_what_is_off(acme, alice, desk):
    listing = reverse("admin:approvals_actionpolicy_changelist")
    assert "A second approver is there." in alice.get(listing).content.decode()
    with scope(acme.system.grant):
        policy = ActionPolicy.objects.get(action="channel.release")
    fields = {
        "s1_mode": "quorum", "s1_quorum": "2", "s1_approvers": "role:approver, user:officer", "s1_veto": "on", "s1_ttl_hours": "12",
        "s1_escalation": "role:tenant_admin", "s2_mode": "all", "s2_approvers": "role:compliance_officer",
    }  # fmt: skip
    assert "revision 2" in set_policy(alice, policy, **fields)[0]
    with scope(acme.system.grant):
        first, second = ActionPolicy.objects.get(action="channel.release", rev=2).stages.order_by("number")
    assert (first.quorum, first.veto, first.ttl_s, first.escalation) == (2, True, 12 * 3600, ["role:tenant_admin"])
    assert first.approvers == ["role:approver", f"user:{desk['officer'].user_id}"]
    assert (second.mode, second.veto, second.approvers) == ("all", False, ["role:compliance_officer"])
    assert "policy_moved" in set_policy(alice, policy, **fields)[0]
    assert "readers_invalid" in act(alice, "approvals.ActionPolicy", "set-policy", [policy], s1_mode="all", s1_approvers="everybody")[0]
    text = alice.get(listing).content.decode()
    assert "1: 2 of role:approver" in text


def test_simulation_page_names_people_by_stage(acme, alice, desk):
    desk.set_policy(quorum(1, ["role:approver"]), quorum(9), action="channel.release")
    address = reverse("admin:approvals_simulate")
    text = alice.get(address, {"action": "channel.release", "username": "charlie"}).content.decode()
    assert "It would be blocked" in text
    assert "Approver-2" in text
    assert "Nobody: it runs at once." in alice.get(address, {"action": "role.grant"}).content.decode()
    assert "(user)" in alice.get(address, {"action": "role.grant", "username": "nobody"}).content.decode()
    assert "(action)" in alice.get(address, {"action": "x.y"}).content.decode()
    assert alice.get(address).status_code == 200


def test_delegation_and_absence_from_their_pages(acme, desk, charlie):
    day = (clock.now() + timedelta(days=2)).strftime("%Y-%m-%d")
    told = act(charlie, "approvals.Delegation", "delegate-votes", username="officer", valid_to_0=day, valid_to_1="12:00:00")
    assert "officer may vote in your place now." in told[0]
    act(charlie, "approvals.Absence", "set-absence", valid_to_0=day, valid_to_1="12:00:00")
    with scope(acme.system.grant):
        lent, away = Delegation.objects.get(), Absence.objects.get()
    assert "in force" in charlie.get(reverse("admin:approvals_delegation_changelist")).content.decode()
    act(charlie, "approvals.Delegation", "end-delegation", [lent])
    act(charlie, "approvals.Absence", "end-absence", [away])
    assert "It is over already." in charlie.get(reverse("admin:approvals_absence_change", args=[away.pk])).content.decode()
    assert "scoped-error" in charlie.post(act_url("approvals.Delegation", "delegate-votes"), {"username": "", "valid_to_0": day}).content.decode()


def test_GOV_A13_break_glass_is_an_alarm_until_it_is_reviewed(acme, filled, alice, desk, charlie):
    with scope(acme.system.grant):
        row = BreakGlass.objects.get()
    tiles = {str(tile["title"]): tile for tile in charlie.get("/admin/").context["tiles"]}
    assert tiles["Break-glass not reviewed"]["is_alarm"]
    assert "own_request" in act(alice, "approvals.BreakGlass", "confirm", [row], comment="")[0]
    assert "disputed" in act(charlie, "approvals.BreakGlass", "dispute", [row], comment="this could have waited")[0]
    assert "It was reviewed already." in charlie.get(reverse("admin:approvals_breakglass_change", args=[row.pk])).content.decode()


def test_queries_of_the_list_of_requests_do_not_grow_with_rows(acme, alice, desk):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    desk.set_policy(quorum(1))

    def count():
        with CaptureQueriesContext(connection) as seen:
            assert alice.get(reverse(LIST)).status_code == 200
        return len(seen)

    desk.ask()
    few = count()
    for role in ("auditor", "approver", "compliance_officer"):
        desk.ask(role=role)
    assert count() == few


def test_the_start_page_links_to_what_needs_me(acme, alice, desk, charlie):
    desk.set_policy(quorum(1))
    asked = desk.ask()
    page = charlie.get("/admin/")
    assert {str(tile["title"]): tile["count"] for tile in page.context["tiles"]}["Approvals that need me"] == 1
    assert f"{asked}" in page.content.decode()
    assert api.list_inbox(actor=desk.again("charlie"))[0].id == asked
