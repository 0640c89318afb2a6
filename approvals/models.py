"""Policies with their stages, requests bound to digests, votes, permits and executions. What people approved is frozen in rows that never change."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from approvals.states import APPROVAL, BREAK_GLASS
from rag4c.scope.models import TenantForeignKey, TenantModel

PRINCIPAL = 80  # `user:<id>`, `group:<id>`, `role:<code>`


class ActionPolicy(TenantModel):
    """Versioned: the highest `rev` of an action is in force; rows are never changed. mode `none` is the explicit "no approval needed"."""

    action = models.CharField(max_length=80)
    rev = models.PositiveIntegerField(default=1)
    mode = models.CharField(
        max_length=20,
        choices=[("none", "no approval needed"), ("second_person", "needs a second person"), ("stages", "needs approvals in stages")],
    )
    review_hours = models.PositiveSmallIntegerField(db_default=24)  # within which a break-glass execution is reviewed
    set_by = models.CharField(max_length=80, db_default="system")
    set_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "action", "rev"], name="approvals_actionpolicy_rev"),
        ]
        verbose_name_plural = "action policies"

    def __str__(self) -> str:
        return f"{self.action}, revision {self.rev}"


class Stage(TenantModel):
    """One stage of one revision of a policy; never changed. Approvers and escalation are principals: `user:`, `group:`, `role:`."""

    policy = TenantForeignKey("approvals.ActionPolicy", related_name="stages")
    number = models.PositiveSmallIntegerField()
    mode = models.CharField(max_length=10, choices=[("all", "all"), ("quorum", "quorum")])
    quorum = models.PositiveSmallIntegerField(default=1)
    approvers = ArrayField(models.CharField(max_length=PRINCIPAL))
    veto = models.BooleanField(default=True)
    ttl_s = models.PositiveIntegerField()
    escalation = ArrayField(models.CharField(max_length=PRINCIPAL), default=list)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "policy", "number"], name="approvals_stage_number"),
        ]

    def __str__(self) -> str:
        need = "all" if self.mode == "all" else f"{self.quorum}"
        return f"{self.number}: {need} of {', '.join(self.approvers) or 'nobody'}"


class ApprovalRequest(TenantModel):
    """What was asked, frozen at submit; a trigger refuses changes of the binding and of a terminal state (GOV-A1, A8)."""

    action = models.CharField(max_length=80)
    policy = TenantForeignKey("approvals.ActionPolicy")
    payload = models.BinaryField()  # the canonical bytes that are hashed and that will run
    payload_sha256 = models.CharField(max_length=64)
    subject_kind = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=80)
    subject_rev = models.CharField(max_length=80)
    requested_by = models.CharField(max_length=80)
    requester = TenantForeignKey("tenants.User", null=True)
    reason = models.CharField(max_length=500)
    beneficiaries = ArrayField(models.UUIDField(), default=list)
    floors = ArrayField(models.PositiveSmallIntegerField())  # by stage: how many it needs, at submit
    submitted_at = models.DateTimeField(db_default=Now(), editable=False)
    state = models.CharField(max_length=12, choices=APPROVAL.choices, default=APPROVAL.initial)
    stage = models.PositiveSmallIntegerField(default=1)
    stage_started_at = models.DateTimeField()
    is_escalated = models.BooleanField(default=False)  # told to people; whether it is so is derived
    decided_at = models.DateTimeField(null=True)
    wake_at = models.DateTimeField()  # when the sweep looks at it next
    attempts = models.PositiveSmallIntegerField(default=0)
    fault_code = models.CharField(max_length=80, blank=True)
    fault_message = models.CharField(max_length=500, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "action", "payload_sha256", "subject_rev"],
                condition=models.Q(state__in=["pending", "approved", "executing"]),
                name="approvals_request_open",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["wake_at"], condition=models.Q(state__in=["pending", "approved"]), name="approvals_request_wake"),
            models.Index(fields=["tenant", "state", "submitted_at"], name="approvals_request_state"),
        ]

    def __str__(self) -> str:
        return f"{self.action}: {self.reason[:60]}"


class Vote(TenantModel):
    """One person, one vote per request. principal: whose right was used; both identities are kept (GOV-A4, A5)."""

    request = TenantForeignKey("approvals.ApprovalRequest", related_name="votes")
    stage = models.PositiveSmallIntegerField()
    voter = TenantForeignKey("tenants.User")
    principal = TenantForeignKey("tenants.User")
    delegation = TenantForeignKey("approvals.Delegation", null=True)
    approves = models.BooleanField()
    by_escalation = models.BooleanField(default=False)
    binding_sha256 = models.CharField(max_length=64)  # of what was voted on
    comment = models.CharField(max_length=2000, blank=True)
    cast_at = models.DateTimeField()

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "request", "voter"], name="approvals_vote_voter"),
            models.UniqueConstraint(fields=["tenant", "request", "principal"], name="approvals_vote_principal"),
        ]

    def __str__(self) -> str:
        return f"{'approve' if self.approves else 'reject'} by {self.voter_id}"


class Comment(TenantModel):
    request = TenantForeignKey("approvals.ApprovalRequest", related_name="comments")
    author = models.CharField(max_length=80)
    text = models.CharField(max_length=2000)
    written_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.text[:80]


class Delegation(TenantModel):
    """From one person to another, dated, not to be passed on (GOV-A5). Ended early by `ended_at`; rows are kept."""

    delegator = TenantForeignKey("tenants.User")
    delegate = TenantForeignKey("tenants.User")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(condition=models.Q(valid_to__gt=models.F("valid_from")), name="approvals_delegation_dated"),
            models.CheckConstraint(condition=~models.Q(delegator=models.F("delegate")), name="approvals_delegation_other"),
        ]

    def __str__(self) -> str:
        return f"{self.delegator} → {self.delegate}"


class Absence(TenantModel):
    """When somebody is away: told to those who wait for them. It takes nothing away."""

    user = TenantForeignKey("tenants.User")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(condition=models.Q(valid_to__gt=models.F("valid_from")), name="approvals_absence_dated"),
        ]

    def __str__(self) -> str:
        return f"{self.user} until {self.valid_to:%Y-%m-%d}"


class Permit(TenantModel):
    """One-time: the gate lets exactly this payload pass once, inside the executor's transaction."""

    request = TenantForeignKey("approvals.ApprovalRequest")
    action = models.CharField(max_length=80)
    payload_sha256 = models.CharField(max_length=64)
    issued_at = models.DateTimeField(db_default=Now(), editable=False)
    used_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "request"], name="approvals_permit_request"),
        ]

    def __str__(self) -> str:
        return f"{self.action} for {self.request_id}"


class Execution(TenantModel):
    """The change was done: once per request (GOV-A1)."""

    request = TenantForeignKey("approvals.ApprovalRequest")
    permit = TenantForeignKey("approvals.Permit")
    executed_by = models.CharField(max_length=80)
    executed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "request"], name="approvals_execution_request"),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} at {self.executed_at:%Y-%m-%d %H:%M}"


class BreakGlass(TenantModel):
    """Done before it was approved; a second person reviews it by a deadline (GOV-A13)."""

    request = TenantForeignKey("approvals.ApprovalRequest")
    state = models.CharField(max_length=10, choices=BREAK_GLASS.choices, default=BREAK_GLASS.initial)
    review_by = models.DateTimeField()
    reviewed_by = models.CharField(max_length=80, blank=True)
    reviewed_at = models.DateTimeField(null=True)
    review = models.CharField(max_length=2000, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "request"], name="approvals_breakglass_request"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["review_by"], condition=models.Q(state="open"), name="approvals_breakglass_due")
        ]
        verbose_name_plural = "break-glass executions"

    def __str__(self) -> str:
        return f"break-glass {self.request_id}"
