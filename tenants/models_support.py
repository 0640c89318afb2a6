"""Acting-tenant sessions of platform operators. The row belongs to the tenant that is looked at; its operator is a person of the platform."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from rag4c.scope.models import TenantModel


class SupportSession(TenantModel):
    """Open until it is ended or `expires_at` has passed by the database's clock. A break-glass session must be confirmed by a second operator."""

    kind = models.CharField(max_length=12, choices=[("support", "support"), ("break_glass", "break-glass")])
    operator_id = models.UUIDField()
    reason = models.CharField(max_length=500)
    permit = models.CharField(max_length=80, blank=True)
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=80, blank=True)
    confirm_until = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    confirmed_by = models.UUIDField(null=True, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(confirmed_by__isnull=True) | ~models.Q(confirmed_by=models.F("operator_id")), name="tenants_supportsession_second"
            ),
            models.CheckConstraint(condition=models.Q(expires_at__gt=models.F("opened_at")), name="tenants_supportsession_limited"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} session of operator {self.operator_id}"


class SupportVisit(TenantModel):
    """An approved session, in the operator's tenant: what the session in the other tenant is opened from, once, under the same id."""

    operator_id = models.UUIDField()
    target_id = models.UUIDField()
    reason = models.CharField(max_length=500)
    minutes = models.PositiveSmallIntegerField()
    permit = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    outcome = models.CharField(max_length=80, blank=True)  # `opened`, or the code of the refusal

    def __str__(self) -> str:
        return f"Visit of operator {self.operator_id}"
