"""Lending one's vote for a time, and saying that one is away (GOV-A5)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Q

from approvals.api.policies import VOTE
from approvals.api.requests import require_person
from approvals.models import Absence, Delegation
from approvals.queries import database_now, lock_delegations
from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.kernel.grant import EVERYONE
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

    from rag4c.kernel.grant import Actor

__all__ = ["delegate", "end_absence", "end_delegation", "set_absence"]
MAX_DAYS: Final = 366  # dated means that somebody will look at it again


def delegate(*, actor: Actor, delegate_id: uuid.UUID, valid_to: datetime, valid_from: datetime | None = None) -> uuid.UUID:
    """Let another person of the tenant vote in one's place, for a time; they cannot pass it on.

    Args: valid_from: now when None. valid_to: at most 366 days later.
    Raises: Denied("not_allowed" | "person_needed"), Absent("delegate"), Invalid("delegation_dates"), Conflict("delegation_chain" |
    "delegation_overlaps").
    """
    check_permission(actor, VOTE)
    person = require_person(actor)
    with scope(actor.grant), transaction.atomic():
        lock_delegations(actor.tenant_id)
        starts = _check_dates(valid_from, valid_to)
        able = tenants.list_holders(tenant_id=actor.tenant_id, principals=(), permission=VOTE)[EVERYONE]
        if delegate_id == person or delegate_id not in able:
            raise Absent("delegate", "Choose another person whose roles allow to vote.")
        _check_depth(person, delegate_id, starts, valid_to)
        row = Delegation.objects.create(tenant_id=actor.tenant_id, delegator_id=person, delegate_id=delegate_id, valid_from=starts, valid_to=valid_to)
        data = {"delegate": f"user:{delegate_id}", "from": starts.isoformat(), "to": valid_to.isoformat()}
        ledger.record(actor, "delegation.created", subject=("delegation", row.pk), data=data)
    return row.pk


def _check_dates(valid_from: datetime | None, valid_to: datetime) -> datetime:
    now = database_now()
    starts = now if valid_from is None else valid_from
    if not starts < valid_to <= starts + timedelta(days=MAX_DAYS) or valid_to <= now or starts < now - timedelta(minutes=1):
        raise Invalid("delegation_dates", f"It begins now or later, ends after that, and lasts at most {MAX_DAYS} days.")
    return starts


def _check_depth(person: uuid.UUID, delegate_id: uuid.UUID, starts: datetime, ends: datetime) -> None:
    lasting = Delegation.objects.filter(valid_from__lt=ends).filter(Q(ended_at__isnull=True, valid_to__gt=starts) | Q(ended_at__gt=starts))
    if lasting.filter(delegator_id=person).exists():
        raise Conflict("delegation_overlaps", "You have a delegate for a part of that time already; end it first.")
    if lasting.filter(Q(delegator_id=delegate_id) | Q(delegate_id=person)).exists():
        raise Conflict("delegation_chain", "A delegated vote is not passed on: one of you two has a delegation in the other direction of that time.")


def end_delegation(*, actor: Actor, delegation_id: uuid.UUID) -> None:
    """End a delegation now: the delegator, the delegate, or who manages policies. Votes that were cast stay.

    Raises: Denied("not_allowed"), Absent("delegation"), Conflict("delegation_over").
    """
    with scope(actor.grant), transaction.atomic():
        lock_delegations(actor.tenant_id)
        row = Delegation.objects.filter(pk=delegation_id).first()
        if row is None:
            raise Absent("delegation", "There is no such delegation.")
        if actor.user_id not in {row.delegator_id, row.delegate_id}:
            check_permission(actor, "policy.manage")
        now = database_now()
        if not Delegation.objects.filter(pk=row.pk, ended_at__isnull=True, valid_to__gt=now).update(ended_at=now):
            raise Conflict("delegation_over", "It is over already.")
        ledger.record(actor, "delegation.ended", subject=("delegation", row.pk))


def set_absence(*, actor: Actor, valid_to: datetime, valid_from: datetime | None = None) -> uuid.UUID:
    """Say that one is away, so that those who wait know it. It takes no right away and lends none.

    Raises: Denied("not_allowed" | "person_needed"), Invalid("delegation_dates").
    """
    check_permission(actor, VOTE)
    person = require_person(actor)
    with scope(actor.grant), transaction.atomic():
        starts = _check_dates(valid_from, valid_to)
        row = Absence.objects.create(tenant_id=actor.tenant_id, user_id=person, valid_from=starts, valid_to=valid_to)
        ledger.record(actor, "absence.set", subject=("absence", row.pk), data={"from": starts.isoformat(), "to": valid_to.isoformat()})
    return row.pk


def end_absence(*, actor: Actor, absence_id: uuid.UUID) -> None:
    """One is back. Raises: Denied("not_allowed"), Absent("absence"), Conflict("absence_over")."""
    with scope(actor.grant), transaction.atomic():
        row = Absence.objects.filter(pk=absence_id).first()
        if row is None:
            raise Absent("absence", "There is no such absence.")
        if actor.user_id != row.user_id:
            check_permission(actor, "policy.manage")
        now = database_now()
        if not Absence.objects.filter(pk=row.pk, ended_at__isnull=True, valid_to__gt=now).update(ended_at=now):
            raise Conflict("absence_over", "It is over already.")
        ledger.record(actor, "absence.ended", subject=("absence", row.pk))
