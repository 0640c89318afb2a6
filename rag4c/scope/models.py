"""Bases of every tenant row: a manager that adds the tenant predicate and raises without a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from django.db import models
from uuid_utils.compat import uuid7  # compat gives the standard library's UUID; Django refuses uuid_utils.UUID

from rag4c.scope.manager import current_grant

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Grant

M = TypeVar("M", bound=models.Model)


def new_id() -> uuid.UUID:
    return uuid7()


class ScopedQuerySet(models.QuerySet[M]):
    def visible_to(self, grant: Grant) -> Self:
        """Rows that this grant may read. Apps with finer rules override it; the tenant is always part of it."""
        return self.filter(tenant_id=grant.tenant_id)


class ScopedManager(models.Manager[M]):
    """Written out, not Manager.from_queryset: mypy keeps the type parameter. `_base_manager` stays Django's plain one."""

    def get_queryset(self) -> ScopedQuerySet[M]:
        return ScopedQuerySet(self.model, using=self._db).filter(tenant_id=current_grant().tenant_id)

    def visible_to(self, grant: Grant) -> ScopedQuerySet[M]:
        return self.get_queryset().visible_to(grant)


class TenantModel(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+", editable=False, db_index=False)

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()

    class Meta:
        abstract = True
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tenant", "id"], name="%(app_label)s_%(class)s_tenant_id"),  # target of AddTenantForeignKey
        ]


_ST = TypeVar("_ST")
_GT = TypeVar("_GT")


class TenantForeignKey(models.ForeignKey[_ST, _GT]):
    """A foreign key whose database constraint is (tenant_id, column), added by `AddTenantForeignKey`; a test compares both."""

    def __init__(self, to: Any, *, null: bool = False, related_name: str = "+", **kwargs: Any) -> None:
        options: dict[str, Any] = {"on_delete": models.PROTECT, "db_constraint": False, "blank": null, **kwargs}
        super().__init__(to, null=null, related_name=related_name, **options)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        """Migrations see a plain foreign key: they must not depend on this class."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.ForeignKey", args, kwargs
