"""Doors for changes of readers: what takes away holds at once, what gives waits for the gate, what has grown old is refused (GOV-B1 to B3)."""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003  # read by callers that show the view
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import current_grant, keep_apart, scope
from rag4c.scope.models import new_id
from rag4c.scope.permissions import check_permission
from tenants import guarded
from tenants.api.access import bump_acl_rev, intern_acl, lock_acl_rev, read_acl_rev, spec_of
from tenants.api.acl_drafts import AclLine, Draft, build_payload, digest_of_lines, draft_lines, find_assignments, read_gainers
from tenants.models import AclAssignment
from tenants.models_access import AclChangeLine, AclChangeSet
from tenants.states import ACL_CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag4c.kernel.grant import Actor
    from rag4c.scope.models import ScopedQuerySet
    from tenants.acl import AclSpec
    from tenants.models import AclSet

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


def submit_acl_lines(actor: Actor, lines: Sequence[AclLine], *, reason: str, source_id: uuid.UUID | None = None) -> uuid.UUID | None:
    """The first half of a change, inside the caller's transaction: revokes, and writes down what it would give. None when nothing changes.

    Args: source_id: of the source that a sync read; what an earlier sync of it still waits for lapses unless this one finds the same.
    Raises: Invalid("acl_principal_invalid" | "acl_subject_twice"), Conflict("transaction_mixes") in a transaction that published (GOV-B5).
    """
    if len({line.key for line in lines}) != len(lines):
        raise Invalid("acl_subject_twice", "A change names each subject once.")
    lock_acl_rev(actor.tenant_id)
    drafts = draft_lines(lines)
    _relabel(draft for draft in drafts if not draft.steps.revokes and not draft.steps.grants)
    if source_id is not None:
        drafts = _drop_what_waits(actor, drafts, source_id)
    drafts = [draft for draft in drafts if draft.steps.revokes or draft.steps.grants or draft.line.ends]
    if not drafts:
        return None
    if any(draft.steps.revokes for draft in drafts):
        keep_apart("revoke", never_with="publish")
    return _write_change(actor, drafts, _take_first_step(actor, drafts), reason=reason, source_id=source_id)


def _relabel(drafts: Iterable[Draft]) -> None:
    """The same readers from another origin: nobody gains or loses, but what a person set is pinned from now on."""
    by_origin: dict[str, list[uuid.UUID]] = defaultdict(list)
    for draft in drafts:
        if draft.current is not None and draft.current.origin != draft.line.origin and not draft.line.ends:
            by_origin[draft.line.origin].append(draft.current.pk)
    for origin, ids in by_origin.items():
        AclAssignment.objects.filter(pk__in=ids).update(origin=origin)


def _drop_what_waits(actor: Actor, drafts: list[Draft], source_id: uuid.UUID) -> list[Draft]:
    """One waiting set a source: the same wish is not asked twice, another one replaces it."""
    granting = [draft for draft in drafts if draft.steps.grants]
    for row in AclChangeSet.objects.select_for_update().filter(origin_id=source_id, state="waiting"):
        if granting and row.payload["lines_sha256"] == digest_of_lines(granting) and not _find_fault(row):
            return [draft for draft in drafts if not draft.steps.grants]
        _close(row, "stale")
        ledger.record(actor, "acl.grant_lapsed", subject=("acl_change", row.pk), data={"because": "source_read_again"})
    return drafts


def _take_first_step(actor: Actor, drafts: Sequence[Draft]) -> dict[tuple[str, uuid.UUID], uuid.UUID]:
    """Every subject at its interim set; returns the interval of each that has one afterwards."""
    moving = [draft for draft in drafts if (draft.current is None or draft.steps.revokes) and not _ends_now(draft)]
    _assign(actor, [(draft.line, draft.steps.interim) for draft in moving])
    _end(draft.line for draft in drafts if _ends_now(draft))
    bump_acl_rev(actor.tenant_id)
    for draft in drafts:
        if draft.steps.revokes:
            _tell_step(actor, "acl.narrowed", draft.line, draft.steps.old, draft.steps.interim)
    return {key: row.pk for key, row in find_assignments(draft.line.key for draft in drafts).items()}


def _ends_now(draft: Draft) -> bool:
    return draft.line.ends and not draft.steps.grants


def _tell_step(actor: Actor, code: str, line: AclLine, old: AclSpec, new: AclSpec) -> None:
    data = {"old": old.digest, "new": new.digest, "origin": line.origin}
    if code == "acl.narrowed":
        ledger.record(actor, "acl.narrowed", subject=line.key, data=data)
    else:
        ledger.record(actor, "acl.widened", subject=line.key, data=data)


def _assign(actor: Actor, targets: Sequence[tuple[AclLine, AclSpec]]) -> None:
    """Close and open intervals, a statement for many."""
    rows = {spec: intern_acl(actor.tenant_id, spec) for spec in {spec for _, spec in targets}}
    _end(line for line, _ in targets)
    AclAssignment.objects.bulk_create(
        [
            AclAssignment(
                tenant_id=actor.tenant_id, subject_kind=line.subject_kind, subject_id=line.subject_id, acl_id=rows[spec].pk, origin=line.origin
            )
            for line, spec in targets
        ],
        batch_size=1000,
    )


def _end(lines: Iterable[AclLine]) -> None:
    by_kind: dict[str, list[uuid.UUID]] = defaultdict(list)
    for line in lines:
        by_kind[line.subject_kind].append(line.subject_id)
    for kind, ids in by_kind.items():
        AclAssignment.objects.filter(subject_kind=kind, subject_id__in=ids, valid_to__isnull=True).update(valid_to=Now())


def _write_change(
    actor: Actor, drafts: Sequence[Draft], intervals: dict[tuple[str, uuid.UUID], uuid.UUID], *, reason: str, source_id: uuid.UUID | None
) -> uuid.UUID:
    key = new_id()
    revoked, granted = (sum(getattr(draft.steps, step) for draft in drafts) for step in ("revokes", "grants"))
    sets = _intern_all(actor, drafts)
    base_rev = read_acl_rev(actor.tenant_id)
    payload = build_payload(key, base_rev, drafts)
    AclChangeSet.objects.create(
        id=key,
        tenant_id=actor.tenant_id,
        origin="person" if source_id is None else "sync",
        origin_id=source_id,
        reason=reason,
        base_acl_rev=base_rev,
        payload=payload,
        payload_sha256=digest_of(payload),
        revoked=revoked,
        granted=granted,
        proposed_by=actor.ref,
    )
    AclChangeLine.objects.bulk_create([_line_row(actor, key, draft, sets, intervals.get(draft.line.key)) for draft in drafts], batch_size=1000)
    told = {"revoked": revoked, "granted": granted, "base_acl_rev": base_rev, "payload_sha256": digest_of(payload)}
    ledger.record(actor, "acl.change_proposed", subject=("acl_change", key), data=told)
    if not granted:
        _move(key, "applied")
    return key


def _intern_all(actor: Actor, drafts: Sequence[Draft]) -> dict[AclSpec, AclSet]:
    specs = {spec for draft in drafts for spec in (draft.steps.old, draft.steps.interim, draft.steps.new)}
    return {spec: intern_acl(actor.tenant_id, spec) for spec in sorted(specs, key=lambda spec: spec.digest)}


def _line_row(actor: Actor, key: uuid.UUID, draft: Draft, sets: dict[AclSpec, AclSet], interval: uuid.UUID | None) -> AclChangeLine:
    line = draft.line
    return AclChangeLine(
        tenant_id=actor.tenant_id,
        change_set_id=key,
        subject_kind=line.subject_kind,
        subject_id=line.subject_id,
        label=line.label[:1024],
        old_id=draft.current.acl_id if draft.current else None,
        interim_id=sets[draft.steps.interim].pk,
        new_id=sets[draft.steps.new].pk,
        base_assignment_id=interval,
        assignment_origin=line.origin,
        ends=line.ends,
    )


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
        fault = _find_fault(row)
        if fault:
            _close(row, "stale")
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


def _find_fault(row: AclChangeSet) -> str:
    """Why the set's base is not what holds now (GOV-B2), or an empty text. At the same revision nothing can have changed."""
    if read_acl_rev(row.tenant_id) == row.base_acl_rev:
        return ""
    lines = list(_granting_lines(row))
    now = find_assignments((line.subject_kind, line.subject_id) for line in lines)
    for line in lines:
        held = now.get((line.subject_kind, line.subject_id))
        if (held.pk if held else None) != line.base_assignment_id:
            return "readers_changed"
    again = {**row.payload, **read_gainers(row.payload["grants"])}
    return "" if digest_of(again) == row.payload_sha256 else "people_changed"


def _granting_lines(row: AclChangeSet) -> ScopedQuerySet[AclChangeLine]:
    return AclChangeLine.objects.visible_to(current_grant()).filter(change_set=row).exclude(interim_id=F("new_id"))


def _give(actor: Actor, row: AclChangeSet) -> None:
    permit = gate.require(guarded.GRANT_ACL, actor, guarded.AclGrant(row.pk, row.base_acl_rev, row.payload))
    lines = _granting_lines(row).select_related("interim", "new")
    moves = [
        (AclLine(line.subject_kind, line.subject_id, line.label, spec_of(line.new), line.assignment_origin, ends=line.ends), spec_of(line.interim))
        for line in lines
    ]
    _assign(actor, [(line, line.new) for line, _ in moves if not line.ends])
    _end(line for line, _ in moves if line.ends)
    bump_acl_rev(actor.tenant_id)
    _move(row.pk, "applied", permit=permit)
    for line, interim in moves:
        _tell_step(actor, "acl.widened", line, interim, line.new)
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
        _close(row, "withdrawn")
        ledger.record(actor, "acl.change_withdrawn", subject=("acl_change", row.pk))


def _close(row: AclChangeSet, state: str) -> None:
    ACL_CHANGE.check(row.state, state)
    _move(row.pk, state)


def _move(key: uuid.UUID, state: str, **values: str) -> None:
    """Compare-and-set from waiting; the caller holds the row or has just made it."""
    if not AclChangeSet.objects.filter(pk=key, state="waiting").update(state=state, closed_at=Now(), **values):
        raise Conflict("acl_change_closed", "Somebody else decided this change meanwhile; look again.")


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
