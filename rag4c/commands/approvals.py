"""`approvals`: what needs whom, votes, and running what was approved."""

from __future__ import annotations

import json
import re
import uuid
from typing import TYPE_CHECKING, Any, Final

from rag4c.commands.base import add_command, emit, open_platform, person_actor
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from approvals.api import RequestView, StageSpec
    from rag4c.kernel.grant import Actor

STAGE: Final = re.compile(r"(?P<who>all|\d{1,2}) of (?P<approvers>\S+)(?: within (?P<hours>\d+))?(?P<veto> veto)?(?: then (?P<escalation>\S+))?")
STAGE_HELP: Final = '"2 of role:approver,user:NAME within 24 veto then role:tenant_admin"; repeat for further stages, leave out for none'


def add_commands(commands: Any) -> None:
    parser = add_command(commands, "approvals", run_approvals, "see, vote on and run requests for approval", person=True)
    verbs = ["inbox", "mine", "list", "show", "approve", "reject", "cancel", "execute", "request", "simulate", "set-policy"]
    parser.add_argument("verb", choices=verbs)
    parser.add_argument("target", nargs="?", default="", help="id of a request; for `request`, `simulate` and `set-policy` the action, as role.grant")
    parser.add_argument("--comment", default="", help="with a vote")
    parser.add_argument("--reason", default="", help="with `request`: 10 to 500 characters")
    parser.add_argument("--payload", default="{}", help="with `request`: the JSON that the refusal carried (see --json)")
    parser.add_argument("--stage", action="append", default=[], help=f"with `set-policy`: {STAGE_HELP}")


def run_approvals(arguments: argparse.Namespace) -> int:
    with open_platform():
        _VERBS[arguments.verb](arguments, person_actor(arguments))
    return 0


def _read_id(arguments: argparse.Namespace) -> uuid.UUID:
    try:
        return uuid.UUID(arguments.target)
    except ValueError as error:
        raise Invalid("request_id_invalid", "Name the request by its id, as `rag4c approvals list` shows it.") from error


def _say(row: RequestView) -> str:
    until = f", until {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else ""
    mark = " *" if row.needs_me else ""
    return f"{row.id} {row.action} by {row.requester_name}: {row.standing}, stage {row.stage} of {max(row.stages, 1)}{until}{mark} | {row.reason}"


def _list(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    listing: dict[str, Callable[..., list[RequestView]]] = {"inbox": api.list_inbox, "mine": api.list_mine, "list": api.list_requests}
    rows = listing[arguments.verb](actor=actor)
    emit(arguments, rows, [_say(row) for row in rows] or ["Nothing."])


def _show(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    key = _read_id(arguments)
    row, lines = api.read_request(actor=actor, request_id=key), api.describe_request(actor=actor, request_id=key)
    votes, obstacles = api.list_votes(actor=actor, request_id=key), api.why_blocked(actor=actor, request_id=key)
    text = [_say(row), f"payload {row.payload_sha256}"]
    text += [f"  {line.what}: {line.before or '-'} -> {line.after or '-'}" for line in lines]
    text += [
        f"  {'approves' if vote.approves else 'rejects'}: {vote.voter}{' for ' + vote.on_behalf_of if vote.on_behalf_of else ''}" for vote in votes
    ]
    text += [f"  {obstacle.sentence} ({obstacle.code})" for obstacle in obstacles]
    emit(arguments, {"request": row, "changes": lines, "votes": votes, "obstacles": obstacles}, text)


def _vote(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    approves = arguments.verb == "approve"
    state = api.vote(actor=actor, request_id=_read_id(arguments), approves=approves, comment=arguments.comment)
    emit(arguments, {"state": state}, [f"Your vote is counted; the request is {state}."])


def _cancel(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    api.cancel_request(actor=actor, request_id=_read_id(arguments))
    emit(arguments, {"state": "cancelled"}, ["Cancelled."])


def _execute(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    state = api.execute_request(actor=actor, request_id=_read_id(arguments))
    emit(arguments, {"state": state}, [f"The request is {state}."])


def _request(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    try:
        payload = json.loads(arguments.payload)
    except ValueError as error:
        raise Invalid("payload_invalid", "--payload is no JSON.") from error
    key = api.submit_request(actor=actor, action=arguments.target, payload=payload, reason=arguments.reason)
    emit(arguments, {"request": key}, [f"Asked for: {key}"])


def _simulate(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    seen = api.simulate(actor=actor, action=arguments.target)
    lines = [f"{seen.action}: {seen.outcome} (policy revision {seen.policy_rev})"]
    lines += [f"  stage {row.number}: {row.needed} of {', '.join(who.name for who in row.people) or 'nobody'}" for row in seen.stages]
    emit(arguments, seen, lines)


def _set_policy(arguments: argparse.Namespace, actor: Actor) -> None:
    from approvals import api

    rev = api.set_policy(actor=actor, action=arguments.target, stages=[read_stage_text(actor, text) for text in arguments.stage])
    emit(arguments, {"rev": rev}, [f"The policy of {arguments.target} has revision {rev}."])


def read_stage_text(actor: Actor, text: str) -> StageSpec:
    """Raises: Invalid("stages_invalid" | "readers_invalid"), Absent for a name that is nobody's."""
    from approvals.api import StageSpec
    from tenants import api as tenants

    found = STAGE.fullmatch(text)
    if found is None:
        raise Invalid("stages_invalid", f"A stage is written {STAGE_HELP}.")
    return StageSpec(
        tenants.read_principals(actor=actor, text=found["approvers"]),
        "all" if found["who"] == "all" else "quorum",
        1 if found["who"] == "all" else int(found["who"]),
        found["veto"] is not None,
        int(found["hours"] or 72),
        tenants.read_principals(actor=actor, text=found["escalation"] or ""),
    )


_VERBS: Final[dict[str, Callable[[argparse.Namespace, Actor], None]]] = {
    "inbox": _list,
    "mine": _list,
    "list": _list,
    "show": _show,
    "approve": _vote,
    "reject": _vote,
    "cancel": _cancel,
    "execute": _execute,
    "request": _request,
    "simulate": _simulate,
    "set-policy": _set_policy,
}
