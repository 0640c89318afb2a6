"""A made-up past: memberships, nests, units, roles, clearances and readers that begin and end at whole hours. The oracle reads the same lists without SQL."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from rag4c.kernel.grant import Sensitivity
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import (
    AclAssignment,
    ActivePeriod,
    Clearance,
    Group,
    GroupNesting,
    Membership,
    OrgUnit,
    RoleAssignment,
    UnitParent,
    UnitPlacement,
    User,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
HOURS = 200
PEOPLE, GROUPS, UNITS, DOCUMENTS = 30, 12, 8, 40
SPANS = [(0, 60), (40, 120), (60, 150), (110, None), (0, None), (5, 190), (0, 170), (60, None), (30, 31)]


def at(hour: float) -> datetime:
    return START + timedelta(hours=hour)


@dataclass
class Past:
    """Rows as (fields, from hour, to hour or None), by kind."""

    people: list[uuid.UUID] = field(default_factory=list)
    groups: list[uuid.UUID] = field(default_factory=list)
    units: list[uuid.UUID] = field(default_factory=list)
    documents: list[uuid.UUID] = field(default_factory=list)
    rows: dict[type, list[tuple[dict[str, Any], int, int | None]]] = field(default_factory=dict)
    specs: dict[uuid.UUID, tenants.AclSpec] = field(default_factory=dict)

    def in_force(self, kind: type, hour: float) -> list[dict[str, Any]]:
        return [fields for fields, start, end in self.rows.get(kind, []) if start <= hour and (end is None or hour < end)]

    def principals(self, person: uuid.UUID, hour: float) -> set[str]:
        """By naive repetition until nothing is added."""
        groups = {row["group_id"] for row in self.in_force(Membership, hour) if row["user_id"] == person}
        units = {row["unit_id"] for row in self.in_force(UnitPlacement, hour) if row["user_id"] == person}
        for _ in range(GROUPS + UNITS):
            groups |= {row["parent_id"] for row in self.in_force(GroupNesting, hour) if row["child_id"] in groups}
            units |= {row["parent_id"] for row in self.in_force(UnitParent, hour) if row["unit_id"] in units}
        roles = {row["role"] for row in self.in_force(RoleAssignment, hour) if row["user_id"] == person}
        return {
            "tenant:*",
            f"user:{person}",
            *(f"group:{key}" for key in groups),
            *(f"unit:{key}" for key in units),
            *(f"role:{key}" for key in roles),
        }

    def may_see(self, person: uuid.UUID, document: uuid.UUID, hour: float) -> bool:
        active = any(row["user_id"] == person for row in self.in_force(ActivePeriod, hour))
        assigned = [row["acl_id"] for row in self.in_force(AclAssignment, hour) if row["subject_id"] == document]
        if not active or not assigned:
            return False
        spec = self.specs[assigned[0]]
        levels = [row["level"] for row in self.in_force(Clearance, hour) if row["user_id"] == person]
        cleared = levels[0] if levels else int(Sensitivity.INTERNAL)
        named = spec.sensitivity < Sensitivity.RESTRICTED or bool(spec.purpose)
        return bool(self.principals(person, hour) & spec.principals) and cleared >= spec.sensitivity and named


def make_past(kit: Any, seed: int = 7) -> Past:
    rng = random.Random(seed)  # noqa: S311  # a made-up past, the same in every run
    past = Past()
    with scope(kit.system.grant):
        past.people = [row.pk for row in User.objects.bulk_create(
            [User(tenant_id=kit.id, username=f"p{n}", username_norm=f"p{n}") for n in range(PEOPLE)])]  # fmt: skip
        past.groups = [row.pk for row in Group.objects.bulk_create([Group(tenant_id=kit.id, slug=f"g{n}", name=f"G{n}") for n in range(GROUPS)])]
        past.units = [row.pk for row in OrgUnit.objects.bulk_create([OrgUnit(tenant_id=kit.id, slug=f"u{n}", name=f"U{n}") for n in range(UNITS)])]
        past.documents = [uuid.UUID(int=rng.getrandbits(128)) for _ in range(DOCUMENTS)]
        _draw(past, rng)
        _draw_readers(kit, past, rng)
        for kind, rows in past.rows.items():
            kind.objects.bulk_create(
                [kind(tenant_id=kit.id, valid_from=at(start), valid_to=None if end is None else at(end), **fields) for fields, start, end in rows]
            )
    return past


def _add(past: Past, rng: random.Random, kind: type, count: int, **fields: Any) -> None:
    """Spans that do not overlap, as the database demands of open ones and the doors make of closed ones."""
    end: int | None = -1
    for start, stop in sorted(rng.sample(SPANS, count), key=lambda span: span[0]):
        if end is not None and start >= end:
            past.rows.setdefault(kind, []).append((fields, start, stop))
            end = stop


def _draw(past: Past, rng: random.Random) -> None:
    for person in past.people:
        _add(past, rng, ActivePeriod, 2 if rng.random() < 0.3 else 1, user_id=person)
        for group in rng.sample(past.groups, 2):
            _add(past, rng, Membership, 2, user_id=person, group_id=group)
        _add(past, rng, UnitPlacement, 2, user_id=person, unit_id=rng.choice(past.units))
        _add(past, rng, RoleAssignment, 1, user_id=person, role=rng.choice(["member", "auditor", "knowledge_manager"]))
        _add(past, rng, Clearance, 1, user_id=person, level=rng.choice([0, 1, 2, 3, 3]))
    for n in range(GROUPS):  # always into a later one: no cycle
        for parent in past.groups[n + 1 : n + 4]:
            if rng.random() < 0.5:
                _add(past, rng, GroupNesting, 2, child_id=past.groups[n], parent_id=parent)
    for n in range(UNITS - 1):
        _add(past, rng, UnitParent, 2, unit_id=past.units[n], parent_id=rng.choice(past.units[n + 1 :]))


def _draw_readers(kit: Any, past: Past, rng: random.Random) -> None:
    pool = [*(f"group:{key}" for key in past.groups), *(f"unit:{key}" for key in past.units), *(f"user:{key}" for key in past.people),
            "role:auditor", "role:member", "tenant:*"]  # fmt: skip
    for document in past.documents:
        end: int | None = -1
        for start, stop in sorted(rng.sample(SPANS, 3), key=lambda span: span[0]):
            if end is not None and start >= end:
                level = Sensitivity(rng.choice([0, 1, 1, 1, 2, 3]))
                purpose = rng.choice(["audit", ""]) if level == Sensitivity.RESTRICTED else ""
                spec = tenants.AclSpec(frozenset(rng.sample(pool, rng.choice([0, 1, 2, 3, 4]))), level, purpose)
                acl = tenants.intern_acl(kit.id, spec)
                past.specs[acl.pk] = spec
                fields = {"subject_kind": "document", "subject_id": document, "acl_id": acl.pk}
                past.rows.setdefault(AclAssignment, []).append((fields, start, stop))
                end = stop
