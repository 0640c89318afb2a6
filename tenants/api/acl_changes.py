"""Doors for changes of readers: what takes away holds at once, what gives waits for the gate, what has grown old is refused (GOV-B1 to B3)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003  # read by callers that show the view
from typing import TYPE_CHECKING, Any

from django.db import transaction

from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import guarded
from tenants.api.access import bump_acl_rev, lock_acl_rev, read_acl_rev, spec_of
from tenants.api.acl_drafts import AclLine, build_payload, draft_lines
from tenants.api.acl_submit import assign_sets, close_change, end_sets, find_fault, granting_lines, move_change, submit_acl_lines, tell_step
from tenants.models import AclAssignment
from tenants.models_access import AclChangeSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag4c.kernel.grant import Actor

__all__ = [
    "AclChange",
    "AclLine",
    "apply_acl_grants",
    "draft_acl_change",
    "list_acl_changes",
    "preview_acl_change",
    "propose_acl_change",
    "read_acl_change",
    "settle_acl_change",
    "submit_acl_lines",
    "unpin_readers",
    "withdraw_acl_change",
]


@dataclass(frozen=True, slots=True)
class AclChange:
    """A change set as people and other apps see it. revoked, granted: numbers of subjects. blocked: why the gate has not let it pass, or ""."""

    id: uuid.UUID
    state: str
    origin: str
    reason: str
    base_acl_rev: int
    payload: dict[str, Any]
    payload_sha256: str
    revoked: int
    granted: int
    proposed_by: str
    created_at: datetime | None
    blocked: str = ""


def preview_acl_change(*, actor: Actor, lines: Sequence[AclLine]) -> dict[str, Any]:
    """What proposing these lines would do, as the payload tells it; nothing is written. Raises: Denied("not_allowed")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        return build_payload(uuid.UUID(int=0), read_acl_rev(actor.tenant_id), draft_lines(lines))


def propose_acl_change(*, actor: Actor, lines: Sequence[AclLine], reason: str) -> AclChange:
    """Change who reads: revocations hold when this returns, grants when the gate lets them pass, at once if no approval is needed.

    Args: reason: 10 to 500 characters.
    Raises: Denied("not_allowed"), Invalid("reason_invalid" | "acl_principal_invalid" | "acl_subject_twice"), Conflict("acl_unchanged").
    Source: GOV-B1 to B3, SYS-E16.
    """
    return settle_acl_change(actor, draft_acl_change(actor=actor, lines=lines, reason=reason))


def draft_acl_change(*, actor: Actor, lines: Sequence[AclLine], reason: str) -> uuid.UUID:
    """The first half of `propose_acl_change`, for doors that write something beside it: revokes, and writes down what waits for `settle_acl_change`.

    Raises: as `propose_acl_change`.
    """
    check_permission(actor, "acl.manage")
    if not 10 <= len(reason.strip()) <= 500:
        raise Invalid("reason_invalid", "Give a reason of 10 to 500 characters.")
    with scope(actor.grant), transaction.atomic():
        change_set_id = submit_acl_lines(actor, lines, reason=reason.strip())
        if change_set_id is None:
            raise Conflict("acl_unchanged", "The same people may read already; nothing was changed.")
    return change_set_id


def settle_acl_change(actor: Actor, change_set_id: uuid.UUID) -> AclChange:
    """Apply what waits when the gate lets it pass; otherwise it gives nothing, with the code of the refusal in `blocked`."""
    with scope(actor.grant):
        change = _view(_find(change_set_id))
    if change.state != "waiting":
        return change
    try:
        return apply_acl_grants(actor=actor, change_set_id=change_set_id)
    except Conflict as refusal:  # Blocked is one
        return replace(change, blocked=refusal.code)


def apply_acl_grants(*, actor: Actor, change_set_id: uuid.UUID) -> AclChange:
    """Give what a change set waits to give. Called again after it was applied it changes nothing and says so.

    Stale when a subject has another interval than the one it was proposed on, or when other people now stand behind what it grants: then it is
    closed for good. A change of access that concerns neither leaves it valid, though the tenant's revision has moved on.

    Raises: Denied("not_allowed"), Absent("acl_change"), Conflict("acl_change_stale" | "acl_change_closed"),
    Blocked("approval_required" | "no_policy").
    Source: GOV-B1 to B3, B7.
    """
    with scope(actor.grant), transaction.atomic():
        lock_acl_rev(actor.tenant_id)
        row = _find(change_set_id, lock=True)
        check_permission(actor, "source.sync" if row.origin == "sync" else "acl.manage")
        if row.state == "applied":
            return _view(row)
        if row.state != "waiting":
            raise Conflict("acl_change_closed", f"This change is {row.state}. Propose it again.")
        fault = find_fault(row)
        if fault:
            close_change(row, "stale")
            ledger.record(actor, "acl.grant_lapsed", subject=("acl_change", row.pk), data={"because": fault})
        else:
            _give(actor, row)
        fp("acl.grant.commit.before")
    fp("acl.grant.commit.after")
    if fault:
        raise Conflict(
            "acl_change_stale", "Who reads, or who is in a group, has changed since this was proposed. Propose it again.", {"because": fault}
        )
    with scope(actor.grant):
        return _view(_find(change_set_id))


def _give(actor: Actor, row: AclChangeSet) -> None:
    permit = gate.require(guarded.GRANT_ACL, actor, guarded.AclGrant(row.pk, row.base_acl_rev, row.payload))
    lines = granting_lines(row).select_related("interim", "new")
    moves = [
        (AclLine(line.subject_kind, line.subject_id, line.label, spec_of(line.new), line.assignment_origin, ends=line.ends), spec_of(line.interim))
        for line in lines
    ]
    assign_sets(actor, [(line, line.new) for line, _ in moves if not line.ends])
    end_sets(line for line, _ in moves if line.ends)
    bump_acl_rev(actor.tenant_id)
    move_change(row.pk, "applied", permit=permit)
    for line, interim in moves:
        tell_step(actor, "acl.widened", line, interim, line.new)
    ledger.record(
        actor,
        "acl.grants_applied",
        subject=("acl_change", row.pk),
        data={"granted": row.granted, "payload_sha256": row.payload_sha256, "permit": permit},
    )


def unpin_readers(*, actor: Actor, subject_kind: str, subject_ids: Sequence[uuid.UUID]) -> int:
    """Let subjects that a person set follow their source again, from the next sync on; nobody gains or loses by this. Returns how many.

    Raises: Denied("not_allowed").
    """
    check_permission(actor, "acl.manage")
    with scope(actor.grant), transaction.atomic():
        lock_acl_rev(actor.tenant_id)
        rows = AclAssignment.objects.filter(subject_kind=subject_kind, subject_id__in=subject_ids, origin="set", valid_to__isnull=True)
        freed = list(rows.values_list("subject_id", flat=True))
        rows.update(origin="readers")
        for key in freed:
            ledger.record(actor, "acl.unpinned", subject=(subject_kind, key))
    return len(freed)


def withdraw_acl_change(*, actor: Actor, change_set_id: uuid.UUID) -> None:
    """Take back what still waits; what was revoked stays revoked. Raises: Denied("not_allowed"), Absent("acl_change"), Conflict("acl_change_closed")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant), transaction.atomic():
        row = _find(change_set_id, lock=True)
        if row.state != "waiting":
            raise Conflict("acl_change_closed", f"This change is {row.state} already.")
        close_change(row, "withdrawn")
        ledger.record(actor, "acl.change_withdrawn", subject=("acl_change", row.pk))


def _find(change_set_id: uuid.UUID, *, lock: bool = False) -> AclChangeSet:
    rows = AclChangeSet.objects.filter(pk=change_set_id)
    row = (rows.select_for_update() if lock else rows).first()
    if row is None:
        raise Absent("acl_change", "There is no such change of readers.")
    return row


def read_acl_change(*, actor: Actor, change_set_id: uuid.UUID) -> AclChange:
    """Raises: Denied("not_allowed"), Absent("acl_change")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        return _view(_find(change_set_id))


def list_acl_changes(*, actor: Actor, state: str = "", limit: int = 50) -> list[AclChange]:
    """Newest first. Args: state: all when empty. Raises: Denied("not_allowed")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        rows = AclChangeSet.objects.visible_to(actor.grant).order_by("-pk")
        return [_view(row) for row in (rows.filter(state=state) if state else rows)[:limit]]


def _view(row: AclChangeSet, blocked: str = "") -> AclChange:
    return AclChange(
        id=row.pk,
        state=row.state,
        origin=row.origin,
        reason=row.reason,
        base_acl_rev=row.base_acl_rev,
        payload=row.payload,
        payload_sha256=row.payload_sha256,
        revoked=row.revoked,
        granted=row.granted,
        proposed_by=row.proposed_by,
        created_at=row.created_at,
        blocked=blocked,
    )
