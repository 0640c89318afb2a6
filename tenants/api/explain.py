"""Why somebody may read something or not, and who could read it: now or at a moment, by the same standing and the same rule as the grant."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from rag4c.kernel.errors import Absent
from rag4c.kernel.grant import EVERYONE, Sensitivity
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import acl as rules
from tenants.api.access import spec_of
from tenants.models import AclAssignment, Group, OrgUnit, Suspension, User
from tenants.standing import read_standings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from rag4c.kernel.grant import Actor
    from tenants.standing import Standing

__all__ = ["AccessExplanation", "AccessReader", "AccessStep", "explain_access", "who_could_see"]
Subject = tuple[str, uuid.UUID]


@dataclass(frozen=True, slots=True)
class AccessStep:
    """One link of a chain: the person, or the group before it, is this principal since then."""

    principal: str
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class AccessExplanation:
    """The answer and its reasons.

    Args: at: None for now. refusals: codes, empty exactly when allowed. through: the principal that lets in; chain: how the person is it, empty for
    the person and for everyone. readers: (principal, name) of the set. purpose: what a reader of RESTRICTED must state. assigned_from: since when the
    subject has these readers; None when it has none.
    """

    user_id: uuid.UUID
    user_name: str
    subject_kind: str
    subject_id: uuid.UUID
    at: datetime | None
    refusals: tuple[str, ...]
    through: str
    chain: tuple[AccessStep, ...]
    readers: tuple[tuple[str, str], ...]
    clearance: Sensitivity | None
    sensitivity: Sensitivity | None
    purpose: str
    assigned_from: datetime | None
    assigned_to: datetime | None

    @property
    def is_allowed(self) -> bool:
        """Whether the access set lets the person read; published, live and safe are other questions."""
        return not self.refusals


@dataclass(frozen=True, slots=True)
class AccessReader:
    """Somebody who could read, through which principal and by which chain."""

    user_id: uuid.UUID
    name: str
    through: str
    chain: tuple[AccessStep, ...]


def explain_access(
    *, actor: Actor, user_id: uuid.UUID, subject: Subject, at: datetime | None = None, purpose: str | None = None
) -> AccessExplanation:
    """Why this person may read this subject, or not, now or at a moment.

    Args: subject: (kind, id). at: aware; None for now. purpose: what the person states; None stands for the purpose that the set asks for.
    Raises: Denied("not_allowed"), Absent("user").
    Source: SYS-G1; asking is recorded (GOV-U13).
    """
    check_permission(actor, "access.explain")
    with scope(actor.grant), transaction.atomic():
        user = User.objects.filter(pk=user_id).first()
        if user is None:
            raise Absent("user", "There is no such person.")
        standing = next(iter(read_standings(actor.tenant_id, [user_id], at)), None)
        explanation = _explain(user, standing, subject, at, purpose)
        data = {"user": str(user_id), "at": at.isoformat() if at else "now", "allowed": explanation.is_allowed}
        ledger.record(actor, "access.explained", subject=subject, data=data)
    return explanation


def who_could_see(*, actor: Actor, subject: Subject, at: datetime | None = None, purpose: str | None = None) -> tuple[AccessReader, ...]:
    """Everybody who could read this subject, now or at a moment, by name. Arguments and errors as `explain_access`."""
    check_permission(actor, "access.explain")
    with scope(actor.grant), transaction.atomic():
        row = _find_assignment(subject, at)
        readers: tuple[AccessReader, ...] = ()
        if row is not None:
            spec = spec_of(row.acl)
            standings = [
                standing
                for standing in read_standings(actor.tenant_id, None, at)
                if rules.satisfies(standing.to_grant(purpose=spec.purpose if purpose is None else purpose, at=at), spec)
            ]
            names = _names_of({edge.target for standing in standings for chain in standing.chains.values() for edge in chain})
            readers = tuple(_as_reader(standing, spec, names) for standing in sorted(standings, key=lambda item: (item.name, item.user_id)))
        ledger.record(actor, "access.readers_listed", subject=subject, data={"at": at.isoformat() if at else "now", "count": len(readers)})
    return readers


def _explain(user: User, standing: Standing | None, subject: Subject, at: datetime | None, purpose: str | None) -> AccessExplanation:
    row = _find_assignment(subject, at)
    spec = spec_of(row.acl) if row else None
    if standing is None:
        refused: tuple[str, ...] = ("tenant_suspended" if Suspension.objects.filter(Suspension.in_force(at)).exists() else "not_active",)
    else:
        stated = purpose if purpose is not None else spec.purpose if spec else ""
        refused = rules.refusals(standing.to_grant(purpose=stated, at=at), spec)
    through = _entrance(standing, spec) if standing and spec and not refused else ""
    chain = standing.chains[through] if standing and through else ()
    names = _names_of({edge.target for edge in chain} | (set(spec.principals) if spec else set()))
    return AccessExplanation(
        user_id=user.pk,
        user_name=str(user),
        subject_kind=subject[0],
        subject_id=subject[1],
        at=at,
        refusals=refused,
        through=through,
        chain=tuple(AccessStep(edge.target, names[edge.target], edge.since) for edge in chain),
        readers=tuple((principal, names[principal]) for principal in sorted(spec.principals)) if spec else (),
        clearance=standing.clearance if standing else None,
        sensitivity=spec.sensitivity if spec else None,
        purpose=spec.purpose if spec else "",
        assigned_from=row.valid_from if row else None,
        assigned_to=row.valid_to if row else None,
    )


def _find_assignment(subject: Subject, at: datetime | None) -> AclAssignment | None:
    rows = AclAssignment.objects.filter(AclAssignment.in_force(at), subject_kind=subject[0], subject_id=subject[1])
    return rows.select_related("acl").order_by("-valid_from").first()


def _entrance(standing: Standing, spec: rules.AclSpec) -> str:
    """Of the shared principals the one with the shortest chain."""
    return min(spec.principals & standing.chains.keys(), key=lambda principal: (len(standing.chains[principal]), principal))


def _as_reader(standing: Standing, spec: rules.AclSpec, names: Mapping[str, str]) -> AccessReader:
    through = _entrance(standing, spec)
    chain = tuple(AccessStep(edge.target, names[edge.target], edge.since) for edge in standing.chains[through])
    return AccessReader(standing.user_id, standing.name, through, chain)


def _names_of(principals: Iterable[str]) -> dict[str, str]:
    """What people call these principals; one that is nobody's here keeps its code."""
    names = {principal: principal for principal in principals}
    names.update({principal: principal.removeprefix("role:") for principal in names if principal.startswith("role:")})
    if EVERYONE in names:
        names[EVERYONE] = "everyone"
    for kind, model in (("user", User), ("group", Group), ("unit", OrgUnit)):
        keys = [key for principal in names if principal.startswith(f"{kind}:") and (key := _read_id(principal))]
        if keys:
            rows = model.objects.filter(pk__in=keys)
            names.update({f"{kind}:{row.pk}": str(row) for row in rows})
    return names


def _read_id(principal: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(principal.partition(":")[2])
    except ValueError:
        return None
