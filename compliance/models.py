"""Exports of the audit ledger, the task centre, and what people search the ledger for."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from compliance.states import EXPORT_JOB, TASK
from rag4c.scope.models import TenantForeignKey, TenantModel


class ExportJob(TenantModel):
    """One export of the ledger, resumable file by file. The same numbers and query give the same bytes again."""

    requested_by = models.CharField(max_length=80)
    permit = models.CharField(max_length=80)
    query = models.JSONField(default=dict)
    query_sha256 = models.CharField(max_length=64)
    views = models.CharField(max_length=20, blank=True)  # of `csv`, `ocsf`, comma-separated
    from_seq = models.BigIntegerField()
    to_seq = models.BigIntegerField()
    prev_export_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=EXPORT_JOB.choices, default=EXPORT_JOB.initial)
    next_seq = models.BigIntegerField()  # what is below stands in finished files
    files = models.JSONField(default=list)  # [name, bytes, sha256] of the finished ones
    count = models.BigIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantModel.Meta):
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "query_sha256", "to_seq"], name="compliance_export_query"),
        ]

    def __str__(self) -> str:
        return f"#{self.from_seq} to #{self.to_seq}"


class Task(TenantModel):
    """Something that a person must look at, opened by an event. One unresolved task a kind and subject."""

    kind = models.CharField(max_length=80)  # the code of the event that opened it
    subject_kind = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=TASK.choices, default=TASK.initial)
    rev = models.PositiveIntegerField(default=1)
    assignee = TenantForeignKey("tenants.User", null=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    resolution = models.CharField(max_length=500, blank=True)
    resolved_by = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "kind", "subject_kind", "subject_id"], condition=~models.Q(state="resolved"), name="compliance_task_open"
            ),
            models.CheckConstraint(
                condition=models.Q(state="claimed", assignee__isnull=False) | ~models.Q(state="claimed"), name="compliance_task_whose"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject_kind} {self.subject_id[-12:]}"


class SavedSearch(TenantModel):
    """A filter of the ledger that one person keeps. Rows are closed, never deleted."""

    user = TenantForeignKey("tenants.User")
    name = models.CharField(max_length=100)
    filters = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "user", "name"], condition=models.Q(removed_at__isnull=True), name="compliance_search_name"),
        ]
        verbose_name_plural = "saved searches"

    def __str__(self) -> str:
        return self.name
