"""The gate that hangs on every guarded door (GOV-A, principle 7): no policy row means blocked.

How to guard a door:

1. In the app's `guarded.py`, declare the action with everything that its approval and execution need. All functions are called inside an open
   scope; those that take a payload get JSON as it came from `payload`, and must not trust it to be well formed: they may raise KeyError, ValueError
   or TypeError, which read as a payload that is not valid.

       def load_grant(payload):                       # payload -> subject; payload(load(p)) == p, or the request is refused
           return uuid.UUID(payload["user"]), str(payload["role"])

       def execute_grant(actor, payload):             # the door again: it checks, and meets `require` with the permit
           from tenants.api.people import grant_role  # the door imports this module
           user_id, role = load_grant(payload)
           grant_role(actor=actor, user_id=user_id, role=role)

       GRANT_ROLE = declare(GuardedAction(
           "role.grant",                              # noun.verb, stable
           payload=lambda subject: {"user": str(subject[0]), "role": subject[1]},
           load=load_grant, execute=execute_grant,
           describe=describe_grant,                   # payload -> [Change(what, before, after)]: the diff of exactly what will run
           subject_ref=lambda payload: ("user", payload["user"]),
           subject_rev=read_roles_rev,                # read now; another text than at submit supersedes the request (GOV-A8)
           beneficiaries=lambda payload: frozenset({uuid.UUID(payload["user"])}),   # people whose votes never count (GOV-A3)
           seeded="none",                             # or "second_person": needed from the start
       ))

2. In the api function, inside the transaction, after permission and existence were checked and before anything is changed:
   `permit = gate.require(guarded.GRANT_ROLE, actor, (user_id, role))`. Keep `permit` with the change and in its event.
3. Everything that decides what will happen belongs into the payload: the executor runs nothing else, and the gate compares its digest.
4. Tenants made earlier get the policy row from `approvals.api.seed_policies`; until then the action is blocked there.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag4c.kernel.errors import Absent, Blocked

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Iterator, Sequence

    from rag4c.kernel.grant import Actor
    from rag4c.kernel.ports import ApprovalGate


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the diff that approvers read. before: empty for what is new. after: empty for what goes."""

    what: str
    before: str = ""
    after: str = ""


def nobody(payload: Any) -> frozenset[uuid.UUID]:
    """For actions from which no single person gains."""
    return frozenset()


@dataclass(frozen=True, slots=True)
class GuardedAction:
    """A change that may need approval; the module says how to declare one.

    Args: code: `noun.verb`. payload: subject -> JSON value, what exactly will happen. seeded: `none` (no approval needed) or `second_person`, for
    new tenants. load: payload -> subject. describe: the diff of exactly what will run. subject_ref: (kind, id). subject_rev: the revision now.
    execute: re-enters the door. beneficiaries: people who gain.
    """

    code: str
    payload: Callable[[Any], Any]
    seeded: str
    load: Callable[[Any], Any]
    describe: Callable[[Any], Sequence[Change]]
    subject_ref: Callable[[Any], tuple[str, str]]
    subject_rev: Callable[[Any], str]
    execute: Callable[[Actor, Any], object]
    beneficiaries: Callable[[Any], frozenset[uuid.UUID]] = nobody


@dataclass(frozen=True, slots=True)
class PermitToken:
    """The right to pass once with exactly this payload. Its row is marked used by the gate's implementation."""

    id: uuid.UUID
    action: str
    payload_sha256: str


REGISTRY: Final[dict[str, GuardedAction]] = {}
_implementation: list[ApprovalGate] = []
_permit: ContextVar[PermitToken | None] = ContextVar("rag4c_permit", default=None)


def declare(action: GuardedAction) -> GuardedAction:
    """Register an action; codes are unique. Raises: ValueError for a second action of the same code."""
    if action.code in REGISTRY:
        raise ValueError(f"guarded action {action.code} is declared twice")
    REGISTRY[action.code] = action
    return action


def find_action(code: str) -> GuardedAction:
    """Raises: Absent("action")."""
    if code not in REGISTRY:
        raise Absent("action", "There is no such guarded action.")
    return REGISTRY[code]


def install(implementation: ApprovalGate) -> None:
    """Wiring hands over the implementation."""
    _implementation[:] = [implementation]


def _gate(action: str) -> ApprovalGate:
    if not _implementation:
        raise Blocked("gate_missing", "No approval gate is wired; guarded actions are refused.", {"action": action})
    return _implementation[0]


def require(action: GuardedAction, actor: Actor, subject: Any) -> str:
    """Pass or raise. Returns the permit or policy id that is stored with the change.

    Raises: Blocked("gate_missing") when nothing is wired, Blocked("no_policy"), Blocked("approval_required") whose data carries `action` and
    `payload`, so that the rim can offer to ask for the approval.
    """
    return _gate(action.code).require(action=action.code, actor=actor, payload=action.payload(subject))


def submit(*, actor: Actor, action: str, payload: Any, reason: str) -> uuid.UUID:
    """Ask for an approval of exactly this payload, as the data of Blocked("approval_required") names it. Raises: as `approvals.api.submit_request`."""
    return _gate(action).submit(actor=actor, action=action, payload=payload, reason=reason)


@contextlib.contextmanager
def using_permit(permit: PermitToken) -> Iterator[None]:
    """The executor's door: inside, `require` finds the permit."""
    token = _permit.set(permit)
    try:
        yield
    finally:
        _permit.reset(token)


def current_permit() -> PermitToken | None:
    """The permit under which the executor runs, or None everywhere else."""
    return _permit.get()
