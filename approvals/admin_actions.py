"""What the buttons of the approvals' pages do: each calls one api function and says what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import api
from approvals.admin_forms import CommentForm, DelegateForm, StageFields, UntilForm, VoteForm, read_stages
from rag4c.kernel import clock
from rag4c.scope.admin_columns import say_state
from rag4c.scope.admin_parts import ApiAction, Panel, Related, Tile, offer_action, offer_panels, offer_related, offer_tiles
from tenants import api as tenants

if TYPE_CHECKING:
    from approvals.models import Absence, ActionPolicy, ApprovalRequest, BreakGlass, Delegation
    from rag4c.kernel.grant import Actor

    Fields = dict[str, Any]


def approve(actor: Actor, request: ApprovalRequest, fields: Fields) -> str:
    return _say_vote(api.vote(actor=actor, request_id=request.pk, approves=True, comment=fields["comment"], seen_sha256=request.payload_sha256))


def reject(actor: Actor, request: ApprovalRequest, fields: Fields) -> str:
    return _say_vote(api.vote(actor=actor, request_id=request.pk, approves=False, comment=fields["comment"], seen_sha256=request.payload_sha256))


def _say_vote(state: str) -> str:
    return {
        "approved": _("your vote is counted; it is approved and runs now."),
        "rejected": _("your vote is counted; it is rejected."),
    }.get(state, _("your vote is counted; it waits for others."))


def write_comment(actor: Actor, request: ApprovalRequest, fields: Fields) -> str:
    api.comment(actor=actor, request_id=request.pk, text=fields["comment"])
    return _("your comment is written down.")


def cancel(actor: Actor, request: ApprovalRequest, fields: Fields) -> str:
    api.cancel_request(actor=actor, request_id=request.pk)
    return _("cancelled.")


def execute(actor: Actor, request: ApprovalRequest, fields: Fields) -> str:
    state = api.execute_request(actor=actor, request_id=request.pk)
    return {
        "executed": _("done."),
        "pending": _("a vote does not count any more; another is needed."),
    }.get(state, _("the change was refused when it ran; the page says why."))


def set_policy(actor: Actor, policy: ActionPolicy, fields: Fields) -> str:
    rev = api.set_policy(actor=actor, action=policy.action, stages=read_stages(actor, fields), base_rev=policy.rev)
    return _("the policy has revision %d now.") % rev


def rehearse_policy(actor: Actor, policy: ActionPolicy, fields: Fields) -> list[str]:
    return api.preview_policy(actor=actor, action=policy.action, stages=read_stages(actor, fields))


def say_replaced(policy: Any) -> str:
    return _("A newer revision is in force; open that one.") if policy.is_replaced else ""


def delegate(actor: Actor, obj: Any, fields: Fields) -> str:
    user_id = tenants.find_user(actor=actor, username=fields["username"])
    api.delegate(actor=actor, delegate_id=user_id, valid_from=fields["valid_from"], valid_to=fields["valid_to"])
    return _("%s may vote in your place now.") % str(fields["username"])


def end_delegation(actor: Actor, row: Delegation, fields: Fields) -> str:
    api.end_delegation(actor=actor, delegation_id=row.pk)
    return _("ended.")


def set_absence(actor: Actor, obj: Any, fields: Fields) -> str:
    api.set_absence(actor=actor, valid_from=fields["valid_from"], valid_to=fields["valid_to"])
    return _("Those who wait for you see it now.")


def end_absence(actor: Actor, row: Absence, fields: Fields) -> str:
    api.end_absence(actor=actor, absence_id=row.pk)
    return _("ended.")


def confirm(actor: Actor, row: BreakGlass, fields: Fields) -> str:
    api.review_break_glass(actor=actor, request_id=row.request_id, agrees=True, comment=fields["comment"])
    return _("confirmed.")


def dispute(actor: Actor, row: BreakGlass, fields: Fields) -> str:
    api.review_break_glass(actor=actor, request_id=row.request_id, agrees=False, comment=fields["comment"])
    return _("disputed; the ledger says so.")


def say_closed(request: ApprovalRequest) -> str:
    return "" if request.state == "pending" else _("It is %s.") % say_state(request)


def say_not_open(request: ApprovalRequest) -> str:
    return "" if request.state in {"pending", "approved"} else _("It is %s.") % say_state(request)


def say_not_approved(request: ApprovalRequest) -> str:
    return "" if request.state == "approved" else _("It is %s.") % say_state(request)


def say_over(row: Any) -> str:
    return _("It is over already.") if row.ended_at or row.valid_to <= clock.now() else ""


def say_reviewed(row: BreakGlass) -> str:
    return "" if row.state in {"open", "overdue"} else _("It was reviewed already.")


def say_change(request: Any) -> str:
    """One line of exactly what will run; the page of the request has all of it."""
    lines = api.describe_payload(request)
    shown = "; ".join(f"{line.what}: {line.before or '–'} → {line.after or '–'}" for line in lines[:3])
    more = _(" and %d more") % (len(lines) - 3) if len(lines) > 3 else ""
    return f"{shown}{more} [{request.payload_sha256[:8]}]"


offer_action(
    "approvals.ApprovalRequest",
    ApiAction("approve", gettext_lazy("Approve"), "approval.vote", approve, say_change, VoteForm, say_closed),
    ApiAction("reject", gettext_lazy("Reject"), "approval.vote", reject, say_change, VoteForm, say_closed),
    ApiAction("comment", gettext_lazy("Comment"), "approval.read", write_comment, say_change, CommentForm),
    ApiAction("cancel", gettext_lazy("Cancel the request"), "approval.read", cancel, say_change, refusal=say_not_open),
    ApiAction("execute", gettext_lazy("Run it now"), "approval.vote", execute, say_change, refusal=say_not_approved),
)
offer_action(
    "approvals.ActionPolicy",
    ApiAction("set-policy", gettext_lazy("Set the policy"), "policy.manage", set_policy,
              lambda policy: _("open requests keep their policy; new ones follow the stages below, or none when no stage is filled"), StageFields,
              say_replaced, rehearse=rehearse_policy),
)  # fmt: skip
offer_action(
    "approvals.Delegation",
    ApiAction(
        "delegate-votes",
        gettext_lazy("Delegate my votes"),
        "approval.vote",
        delegate,
        str,
        DelegateForm,
        needs_object=False,
        intro=gettext_lazy(
            "Somebody else votes in your place for a while; you and they count once together. It never counts for what they ask themselves."
        ),
    ),
    ApiAction(
        "end-delegation", gettext_lazy("End"), "approval.vote", end_delegation, lambda row: _("the delegate votes no longer"), refusal=say_over
    ),
)
offer_action(
    "approvals.Absence",
    ApiAction(
        "set-absence",
        gettext_lazy("Say that I am away"),
        "approval.vote",
        set_absence,
        str,
        UntilForm,
        needs_object=False,
        intro=gettext_lazy("Those who wait for your vote see until when you are away. It lends your vote to nobody; a delegation does."),
    ),
    ApiAction("end-absence", gettext_lazy("End"), "approval.vote", end_absence, lambda row: _("the person is back"), refusal=say_over),
)
offer_action(
    "approvals.BreakGlass",
    ApiAction("confirm", gettext_lazy("Confirm"), "approval.vote", confirm, lambda row: _("it was right to do this at once"), VoteForm, say_reviewed),
    ApiAction("dispute", gettext_lazy("Dispute"), "approval.vote", dispute, lambda row: _("it should not have been done"), VoteForm, say_reviewed),
)
offer_related("approvals.ActionPolicy", Related(gettext_lazy("Requests"), "approvals.ApprovalRequest", "policy__id__exact"))
offer_tiles(
    Tile(gettext_lazy("Approvals that need me"), "approvals.ApprovalRequest", "view=inbox"),
    Tile(gettext_lazy("Break-glass not reviewed"), "approvals.BreakGlass", "open=yes", is_alarm=True),
)
offer_panels(Panel(gettext_lazy("Needs my vote"), "approvals.ApprovalRequest", "view=inbox"))
