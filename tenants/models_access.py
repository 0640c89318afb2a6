"""Changes of readers as sets that are hashed and approved, and what the users and groups of a file system are called here."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from rag4c.scope.models import TenantForeignKey, TenantModel
from tenants.models import IntervalModel
from tenants.states import ACL_CHANGE

MAPPING_KINDS = [("user", "user"), ("group", "group"), ("other", "everybody else")]


class AclChangeSet(TenantModel):
    """What somebody, or a sync, wants to change. What it takes away held at once; what it gives waits for the gate (GOV-B1 to B3)."""

    state = models.CharField(max_length=12, choices=ACL_CHANGE.choices, default=ACL_CHANGE.initial)
    origin = models.CharField(max_length=10, choices=[("person", "a person"), ("sync", "a sync")], default="person")
    origin_id = models.UUIDField(null=True, blank=True, editable=False)  # the source that a sync read
    reason = models.CharField(max_length=500)
    base_acl_rev = models.PositiveBigIntegerField()
    payload = models.JSONField()
    payload_sha256 = models.CharField(max_length=64)
    revoked = models.PositiveIntegerField(default=0)
    granted = models.PositiveIntegerField(default=0)
    permit = models.CharField(max_length=80, blank=True)
    proposed_by = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(TenantModel.Meta):
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "origin_id"], condition=models.Q(state="waiting"), name="tenants_aclchange_waiting")
        ]

    def __str__(self) -> str:
        return f"{self.granted} wider, {self.revoked} narrower"


class AclChangeLine(TenantModel):
    """One subject's way from `old` over `interim`, which holds at once, to `new`. No old set: nobody could read it."""

    change_set = TenantForeignKey("tenants.AclChangeSet", related_name="lines")
    subject_kind = models.CharField(max_length=20)
    subject_id = models.UUIDField()
    label = models.CharField(max_length=1024)
    old = TenantForeignKey("tenants.AclSet", null=True)
    interim = TenantForeignKey("tenants.AclSet")
    new = TenantForeignKey("tenants.AclSet")
    base_assignment_id = models.UUIDField(null=True, editable=False)  # the interval that held after the first step; another one: stale
    assignment_origin = models.CharField(max_length=10)
    ends = models.BooleanField(default=False)  # a template that is taken away: `new` says what its files get then

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "change_set", "subject_kind", "subject_id"], name="tenants_aclchangeline_subject"),
        ]

    def __str__(self) -> str:
        return self.label


class PrincipalMapping(IntervalModel):
    """Which principal a file system's user or group is here. Whoever has no row reads nothing through it (GOV-B6)."""

    kind = models.CharField(max_length=10, choices=MAPPING_KINDS)
    external = models.CharField(max_length=100)  # a number or a name; `*` for everybody else
    principal = models.CharField(max_length=80)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "kind", "external"], condition=models.Q(valid_to__isnull=True), name="tenants_principalmapping_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.external}"
