"""Which guarded actions need whom. The engine of stages and votes is not here yet: a row that asks for a second person blocks."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from rag4c.scope.models import TenantModel


class ActionPolicy(TenantModel):
    """Versioned: the highest `rev` of an action is in force; rows are never changed. mode `none` is the explicit "no approval needed"."""

    action = models.CharField(max_length=80)
    rev = models.PositiveIntegerField(default=1)
    mode = models.CharField(max_length=20, choices=[("none", "no approval needed"), ("second_person", "needs a second person")])

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "action", "rev"], name="approvals_actionpolicy_rev"),
        ]
        verbose_name_plural = "action policies"

    def __str__(self) -> str:
        return f"{self.action}: {self.mode}"
