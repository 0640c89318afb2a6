"""Units of the organisation, who belongs to them, and groups inside groups. Each change ends one interval and begins another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models.functions import Now

from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants.api.access import bump_acl_rev
from tenants.models import Group, GroupNesting, OrgUnit, UnitParent, UnitPlacement, User
from tenants.nesting import MAX_GROUP_DEPTH, MAX_UNIT_DEPTH, refuse_edge

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Actor

__all__ = ["create_unit", "find_unit", "move_unit", "nest_group", "place_in_unit", "remove_from_unit", "unnest_group"]
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")


def create_unit(*, actor: Actor, slug: str, name: str, parent_id: uuid.UUID | None = None) -> uuid.UUID:
    """A unit, at the top or inside another; the principal `unit:<id>` covers it and all below it.

    Raises: Denied("not_allowed"), Invalid("slug_invalid"), Conflict("unit_taken" | "unit_too_deep"), Absent("unit").
    """
    check_permission(actor, "group.manage")
    if not SLUG.fullmatch(slug):
        raise Invalid("slug_invalid", "A slug is 1 to 50 of a-z, 0-9 and hyphens.")
    with scope(actor.grant), transaction.atomic():
        unit, is_new = OrgUnit.objects.get_or_create(tenant_id=actor.tenant_id, slug=slug, defaults={"name": name[:200] or slug})
        if not is_new:
            raise Conflict("unit_taken", "A unit of this name exists.")
        ledger.record(actor, "unit.created", subject=("unit", unit.pk))
        if parent_id is not None:
            move_unit(actor=actor, unit_id=unit.pk, parent_id=parent_id)
    return unit.pk


def find_unit(*, actor: Actor, slug: str) -> uuid.UUID:
    """The id behind a unit's slug. Raises: Absent("unit")."""
    with scope(actor.grant):
        unit = OrgUnit.objects.filter(slug=slug).first()
    if unit is None:
        raise Absent("unit", "There is no such unit.")
    return unit.pk


def move_unit(*, actor: Actor, unit_id: uuid.UUID, parent_id: uuid.UUID | None) -> None:
    """Put a unit into another, or to the top with None, from now on; its people follow. Standing there already changes nothing.

    Raises: Denied("not_allowed"), Absent("unit"), Conflict("unit_cycle" | "unit_too_deep").
    """
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        bump_acl_rev(actor.tenant_id)  # the tenant's row lock: two moves at once are judged one after the other, so that they make no cycle
        for key in filter(None, (unit_id, parent_id)):
            _check_unit(key)
        here = UnitParent.objects.filter(unit_id=unit_id, valid_to__isnull=True)
        if here.filter(parent_id=parent_id).exists() if parent_id else not here.exists():
            return
        others = UnitParent.objects.filter(valid_to__isnull=True).exclude(unit_id=unit_id).values_list("unit_id", "parent_id")
        if parent_id is not None and (code := refuse_edge(others, unit_id, parent_id, MAX_UNIT_DEPTH)):
            raise Conflict(f"unit_{code}", _say_refusal(code, MAX_UNIT_DEPTH), {"unit": str(unit_id), "parent": str(parent_id)})
        here.update(valid_to=Now())
        if parent_id is not None:
            UnitParent.objects.create(tenant_id=actor.tenant_id, unit_id=unit_id, parent_id=parent_id)
        ledger.record(actor, "unit.moved", subject=("unit", unit_id), data={"parent": str(parent_id or "")})


def place_in_unit(*, actor: Actor, user_id: uuid.UUID, unit_id: uuid.UUID) -> None:
    """A person belongs to this unit from now on, and to no other. Raises: Denied("not_allowed"), Absent("user" | "unit")."""
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        _lock_person(user_id)
        bump_acl_rev(actor.tenant_id)
        _check_unit(unit_id)
        here = UnitPlacement.objects.filter(user_id=user_id, valid_to__isnull=True)
        if here.filter(unit_id=unit_id).exists():
            return
        here.update(valid_to=Now())
        UnitPlacement.objects.create(tenant_id=actor.tenant_id, user_id=user_id, unit_id=unit_id)
        ledger.record(actor, "unit.member_placed", subject=("unit", unit_id), data={"user": str(user_id)})


def remove_from_unit(*, actor: Actor, user_id: uuid.UUID) -> None:
    """The person belongs to no unit from now on. Raises: Denied("not_allowed")."""
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        here = UnitPlacement.objects.filter(user_id=user_id, valid_to__isnull=True).first()
        if here and UnitPlacement.objects.filter(pk=here.pk, valid_to__isnull=True).update(valid_to=Now()):
            bump_acl_rev(actor.tenant_id)
            ledger.record(actor, "unit.member_removed", subject=("unit", here.unit_id), data={"user": str(user_id)})


def nest_group(*, actor: Actor, child_id: uuid.UUID, parent_id: uuid.UUID) -> None:
    """Members of the child are members of the parent too, from now on. At most five groups in a chain, and never a cycle.

    Raises: Denied("not_allowed"), Absent("group"), Conflict("group_cycle" | "group_too_deep").
    """
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        bump_acl_rev(actor.tenant_id)  # the tenant's row lock, as in move_unit
        if Group.objects.filter(pk__in={child_id, parent_id}).count() < len({child_id, parent_id}):
            raise Absent("group", "There is no such group.")
        nestings = list(GroupNesting.objects.filter(valid_to__isnull=True).values_list("child_id", "parent_id"))
        if (child_id, parent_id) in nestings:
            return
        if code := refuse_edge(nestings, child_id, parent_id, MAX_GROUP_DEPTH):
            raise Conflict(f"group_{code}", _say_refusal(code, MAX_GROUP_DEPTH), {"child": str(child_id), "parent": str(parent_id)})
        GroupNesting.objects.create(tenant_id=actor.tenant_id, child_id=child_id, parent_id=parent_id)
        ledger.record(actor, "group.nested", subject=("group", parent_id), data={"child": str(child_id)})


def unnest_group(*, actor: Actor, child_id: uuid.UUID, parent_id: uuid.UUID) -> None:
    """End a nesting at once (GOV-B1). Raises: Denied("not_allowed")."""
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        if GroupNesting.objects.filter(child_id=child_id, parent_id=parent_id, valid_to__isnull=True).update(valid_to=Now()):
            bump_acl_rev(actor.tenant_id)
            ledger.record(actor, "group.unnested", subject=("group", parent_id), data={"child": str(child_id)})


def _check_unit(unit_id: uuid.UUID) -> None:
    if not OrgUnit.objects.filter(pk=unit_id).exists():
        raise Absent("unit", "There is no such unit.")


def _lock_person(user_id: uuid.UUID) -> None:
    """The person's row before the tenant's, as every door of people does."""
    if not User.objects.select_for_update().filter(pk=user_id).exists():
        raise Absent("user", "There is no such person.")


def _say_refusal(code: str, max_depth: int) -> str:
    if code == "cycle":
        return "This would make a circle: the one is inside the other already. Take it out there first."
    return f"This would make a chain of more than {max_depth}. Put it in higher up."
