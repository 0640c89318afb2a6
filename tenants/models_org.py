"""Units, placements, nested groups, and when an account or a tenant could be used. All as intervals, so that the past can be asked."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from rag4c.scope.models import TenantForeignKey, TenantModel
from tenants.models import IntervalModel

OPEN = models.Q(valid_to__isnull=True)


class OrgUnit(TenantModel):
    """A part of the organisation, usable as the principal `unit:<id>`: of everybody in it and in the units below it."""

    slug = models.SlugField()
    name = models.CharField(max_length=200)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "slug"], name="tenants_orgunit_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class UnitParent(IntervalModel):
    """Which unit a unit is part of, and when. A unit without an open row stands at the top."""

    unit = TenantForeignKey("tenants.OrgUnit")
    parent = TenantForeignKey("tenants.OrgUnit")

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "unit"], condition=OPEN, name="tenants_unitparent_open"),
            models.CheckConstraint(condition=~models.Q(unit=models.F("parent")), name="tenants_unitparent_other"),
        ]

    def __str__(self) -> str:
        return f"{self.unit_id} in {self.parent_id}"


class UnitPlacement(IntervalModel):
    """The one unit that a person belongs to, and when."""

    user = TenantForeignKey("tenants.User", related_name="placements")
    unit = TenantForeignKey("tenants.OrgUnit")

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "user"], condition=OPEN, name="tenants_unitplacement_open"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.unit_id}"


class GroupNesting(IntervalModel):
    """Members of `child` are members of `parent` too, while the row is in force."""

    child = TenantForeignKey("tenants.Group")
    parent = TenantForeignKey("tenants.Group")

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "child", "parent"], condition=OPEN, name="tenants_groupnesting_open"),
            models.CheckConstraint(condition=~models.Q(child=models.F("parent")), name="tenants_groupnesting_other"),
        ]

    def __str__(self) -> str:
        return f"{self.child_id} in {self.parent_id}"


class ActivePeriod(IntervalModel):
    """When an account could be used. `User.is_active` says the same of now; the grant asks here, for now and for the past alike."""

    user = TenantForeignKey("tenants.User", related_name="periods")

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "user"], condition=OPEN, name="tenants_activeperiod_open"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} from {self.valid_from}"


class Suspension(IntervalModel):
    """While a row is in force, nobody of the tenant gets a grant. `Tenant.is_active` says the same of now."""

    reason = models.CharField(max_length=500)
    started_by = models.CharField(max_length=80)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant"], condition=OPEN, name="tenants_suspension_open"),
        ]

    def __str__(self) -> str:
        return f"suspended from {self.valid_from}"
