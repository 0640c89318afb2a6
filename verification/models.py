"""Answers with everything they rest on, stored as they were given; nothing here is changed later (R03)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from rag4c.scope.models import TenantForeignKey, TenantModel

SHA256 = 64
STATUSES = [(code, code) for code in ("answered", "partial", "answered_unverified", "abstained", "failed")]
STATES = [(code, code) for code in ("ok", "exists_only", "stale", "unsupported")]


class AnswerPolicy(TenantModel):
    """Versioned: the highest `version` is in force; rows are never changed. NULL switches a check off, 0 is a threshold (R07)."""

    version = models.PositiveIntegerField()
    min_confidence = models.FloatField(null=True, blank=True, default=0.3)  # of answerability_v2; ADR 0015
    min_entailment = models.FloatField(null=True, blank=True, default=0.6)
    min_answers = models.FloatField(null=True, blank=True)
    min_confidence_over_record = models.FloatField(default=0.6)
    max_claims = models.PositiveSmallIntegerField(default=3)
    allow_unverified = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "version"], name="verification_answerpolicy_version"),
        ]
        verbose_name_plural = "answer policies"

    def __str__(self) -> str:
        return f"v{self.version}"


class AnswerRecord(TenantModel):
    """One question and what came of it."""

    asked_by = TenantForeignKey("tenants.User", null=True)
    workspace = TenantForeignKey("tenants.Workspace", null=True)
    channel_name = models.SlugField()
    question = models.TextField()
    status = models.CharField(max_length=20, choices=STATUSES)
    reason = models.CharField(max_length=40, blank=True)
    reason_detail = models.JSONField(default=dict)  # subject and attribute of an unsupported one: a few words, not rows
    answer = models.TextField(blank=True)
    mode = models.CharField(max_length=12, blank=True)
    confidence = models.FloatField(null=True)
    confidence_name = models.CharField(max_length=40, blank=True)
    support_scope = models.CharField(max_length=80)
    same_key_sources_checked = models.PositiveIntegerField(default=0)
    policy_rev = models.CharField(max_length=SHA256)
    visible_sha256 = models.CharField(max_length=SHA256)
    manifest_sha256s = ArrayField(models.CharField(max_length=SHA256), default=list)
    degraded = ArrayField(models.CharField(max_length=60), default=list)
    timings_ms = models.JSONField(default=dict)
    principals = ArrayField(models.CharField(max_length=80), default=list)  # the grant that it was answered under
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"{self.status} {self.reason}".strip()


class ContextManifest(TenantModel):
    """The decision manifest of the context planner: canonical bytes, replayable (SYS-C7)."""

    answer = TenantForeignKey("verification.AnswerRecord", related_name="context_manifests")
    sha256 = models.CharField(max_length=SHA256)
    body = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256[:8]


class EvidenceRow(TenantModel):
    """Evidence `[n]` of an answer, cited or not: where it stands and what its text was."""

    answer = TenantForeignKey("verification.AnswerRecord", related_name="evidence")
    n = models.PositiveSmallIntegerField()
    revision_chunk = TenantForeignKey("documents.RevisionChunk")
    document = TenantForeignKey("documents.Document")
    text_sha256 = models.CharField(max_length=SHA256)
    score_dense_cosine = models.FloatField(null=True)
    score_bm25 = models.FloatField(null=True)
    score_rrf = models.FloatField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "answer", "n"], name="verification_evidencerow_n"),
            models.CheckConstraint(condition=models.Q(n__gte=1), name="verification_evidencerow_from_one"),
        ]

    def __str__(self) -> str:
        return f"[{self.n}]"


class AnswerClaim(TenantModel):
    answer = TenantForeignKey("verification.AnswerRecord", related_name="claims")
    ordinal = models.PositiveSmallIntegerField()
    text = models.TextField()
    markers = ArrayField(models.PositiveSmallIntegerField(), default=list)
    state = models.CharField(max_length=12, choices=STATES)
    removed = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "answer", "ordinal"], name="verification_answerclaim_ordinal"),
        ]

    def __str__(self) -> str:
        return self.state


class Citation(TenantModel):
    """A span of the authoritative text that a claim rests on, or one side of a conflict. Lineage is NOT NULL (principle 2)."""

    answer = TenantForeignKey("verification.AnswerRecord", related_name="citations")
    n = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10, choices=[("support", "support"), ("side", "side")], default="support")
    claim = TenantForeignKey("verification.AnswerClaim", null=True)
    revision_chunk = TenantForeignKey("documents.RevisionChunk")
    document = TenantForeignKey("documents.Document")
    locator = models.CharField(max_length=500)
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    text_sha256 = models.CharField(max_length=SHA256)  # of the cited span
    chunk_sha256 = models.CharField(max_length=SHA256)
    support_type = models.CharField(max_length=10, choices=[(code, code) for code in ("verbatim", "measured", "entailed")])
    state = models.CharField(max_length=12, choices=STATES)
    quote = models.TextField()

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(span_end__gt=models.F("span_start")) & ~models.Q(locator="") & models.Q(n__gte=1),
                name="verification_citation_place",
            ),
        ]

    def __str__(self) -> str:
        return f"[{self.n}] {self.locator}"


class FindingRow(TenantModel):
    """What one check of one claim saw."""

    answer = TenantForeignKey("verification.AnswerRecord", related_name="findings")
    claim_ordinal = models.PositiveSmallIntegerField(null=True)
    n = models.PositiveSmallIntegerField(null=True)
    layer = models.CharField(max_length=4)
    outcome = models.CharField(max_length=12)
    detail = models.CharField(max_length=120, blank=True)
    score = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.layer} {self.outcome}"
