"""The first half of a change of readers: what is taken away, what is written down to wait, and whether its base still holds (GOV-B1, B2)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from django.db.models import F
from django.db.models.functions import Now

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Conflict, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope.manager import current_grant, keep_apart
from rag4c.scope.models import new_id
from tenants.api.access import bump_acl_rev, intern_acl, lock_acl_rev, read_acl_rev
from tenants.api.acl_drafts import build_payload, digest_of_lines, draft_lines, find_assignments, read_gainers
from tenants.models import AclAssignment
from tenants.models_access import AclChangeLine, AclChangeSet
from tenants.states import ACL_CHANGE

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Sequence

    from rag4c.kernel.grant import Actor
    from rag4c.scope.models import ScopedQuerySet
    from tenants.acl import AclSpec
    from tenants.api.acl_drafts import AclLine, Draft
    from tenants.models import AclSet

__all__ = ["submit_acl_lines"]


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
        if granting and row.payload["lines_sha256"] == digest_of_lines(granting) and not find_fault(row):
            return [draft for draft in drafts if not draft.steps.grants]
        close_change(row, "stale")
        ledger.record(actor, "acl.grant_lapsed", subject=("acl_change", row.pk), data={"because": "source_read_again"})
    return drafts


def _take_first_step(actor: Actor, drafts: Sequence[Draft]) -> dict[tuple[str, uuid.UUID], uuid.UUID]:
    """Every subject at its interim set; returns the interval of each that has one afterwards."""
    moving = [draft for draft in drafts if (draft.current is None or draft.steps.revokes) and not _ends_now(draft)]
    assign_sets(actor, [(draft.line, draft.steps.interim) for draft in moving])
    end_sets(draft.line for draft in drafts if _ends_now(draft))
    bump_acl_rev(actor.tenant_id)
    for draft in drafts:
        if draft.steps.revokes:
            tell_step(actor, "acl.narrowed", draft.line, draft.steps.old, draft.steps.interim)
    return {key: row.pk for key, row in find_assignments(draft.line.key for draft in drafts).items()}


def _ends_now(draft: Draft) -> bool:
    return draft.line.ends and not draft.steps.grants


def tell_step(actor: Actor, code: str, line: AclLine, old: AclSpec, new: AclSpec) -> None:
    data = {"old": old.digest, "new": new.digest, "origin": line.origin}
    if code == "acl.narrowed":
        ledger.record(actor, "acl.narrowed", subject=line.key, data=data)
    else:
        ledger.record(actor, "acl.widened", subject=line.key, data=data)


def assign_sets(actor: Actor, targets: Sequence[tuple[AclLine, AclSpec]]) -> None:
    """Close and open intervals, a statement for many."""
    rows = {spec: intern_acl(actor.tenant_id, spec) for spec in {spec for _, spec in targets}}
    end_sets(line for line, _ in targets)
    AclAssignment.objects.bulk_create(
        [
            AclAssignment(
                tenant_id=actor.tenant_id, subject_kind=line.subject_kind, subject_id=line.subject_id, acl_id=rows[spec].pk, origin=line.origin
            )
            for line, spec in targets
        ],
        batch_size=1000,
    )


def end_sets(lines: Iterable[AclLine]) -> None:
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
        move_change(key, "applied")
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


def find_fault(row: AclChangeSet) -> str:
    """Why the set's base is not what holds now (GOV-B2), or an empty text. At the same revision nothing can have changed."""
    if read_acl_rev(row.tenant_id) == row.base_acl_rev:
        return ""
    lines = list(granting_lines(row))
    now = find_assignments((line.subject_kind, line.subject_id) for line in lines)
    for line in lines:
        held = now.get((line.subject_kind, line.subject_id))
        if (held.pk if held else None) != line.base_assignment_id:
            return "readers_changed"
    again = {**row.payload, **read_gainers(row.payload["grants"])}
    return "" if digest_of(again) == row.payload_sha256 else "people_changed"


def granting_lines(row: AclChangeSet) -> ScopedQuerySet[AclChangeLine]:
    return AclChangeLine.objects.visible_to(current_grant()).filter(change_set=row).exclude(interim_id=F("new_id"))


def close_change(row: AclChangeSet, state: str) -> None:
    ACL_CHANGE.check(row.state, state)
    move_change(row.pk, state)


def move_change(key: uuid.UUID, state: str, **values: str) -> None:
    """Compare-and-set from waiting; the caller holds the row or has just made it."""
    if not AclChangeSet.objects.filter(pk=key, state="waiting").update(state=state, closed_at=Now(), **values):
        raise Conflict("acl_change_closed", "Somebody else decided this change meanwhile; look again.")
