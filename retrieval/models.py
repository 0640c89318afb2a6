"""Projections and publication. Projections can be rebuilt from documents at any time; manifests and releases are business truth."""

from __future__ import annotations

from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from rag4c.scope.models import ScopedManager, TenantForeignKey, TenantModel

SHA256 = 64


class EmbeddingSpace(models.Model):
    """A model with its dimensions and version: vectors of two spaces never meet. A platform row; its table is made by `init-db`."""

    key = models.CharField(max_length=40, primary_key=True)
    model = models.CharField(max_length=80)
    dims = models.PositiveIntegerField()
    normalisation = models.CharField(max_length=20)
    version = models.CharField(max_length=120)
    table_name = models.CharField(max_length=63, unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[models.Manager[Self]] = models.Manager()

    def __str__(self) -> str:
        return self.key


class RetrievalPolicy(TenantModel):
    """Versioned: the highest `version` is in force; rows are never changed. NULL switches a check off, 0 is a threshold (R07)."""

    version = models.PositiveIntegerField()
    dense_k = models.PositiveIntegerField(default=50)
    lexical_k = models.PositiveIntegerField(default=50)
    rrf_k = models.PositiveIntegerField(default=60)
    evidence_k = models.PositiveIntegerField(default=10)
    max_per_document = models.PositiveIntegerField(default=5)
    budget_code_points = models.PositiveIntegerField(default=12_000)
    min_dense_cosine = models.FloatField(null=True, blank=True)
    min_bm25 = models.FloatField(null=True, blank=True)
    stale_candidates = models.CharField(max_length=12, choices=[("refuse_all", "refuse_all"), ("drop", "drop")], default="refuse_all")
    conflict_scan_k = models.PositiveIntegerField(default=200)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "version"], name="retrieval_retrievalpolicy_version"),
        ]
        verbose_name_plural = "retrieval policies"

    def __str__(self) -> str:
        return f"v{self.version}"


class LexSegment(TenantModel):
    """An immutable set of postings; `chunk_ids[ordinal]` is the chunk version that an ordinal stands for."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase")
    analyzer = models.CharField(max_length=40)
    digest = models.CharField(max_length=SHA256)
    chunk_ids = ArrayField(models.UUIDField())
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.digest[:8]


class LexBlock(TenantModel):
    """One packed row of a segment (architecture, section 6). Payload bytes are kept uncompressed, outside the row."""

    segment = TenantForeignKey("retrieval.LexSegment", related_name="blocks")
    number = models.PositiveIntegerField()
    first_hash = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "segment", "number"], name="retrieval_lexblock_number"),
        ]

    def __str__(self) -> str:
        return str(self.number)


class ManifestCounter(TenantModel):
    """The last manifest number of a knowledge base, taken under its row lock, so that `seq` has no gaps (GOV-C1)."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase")
    last_seq = models.PositiveIntegerField(default=0)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "knowledge_base"], name="retrieval_manifestcounter_once"),
        ]

    def __str__(self) -> str:
        return str(self.last_seq)


class Manifest(TenantModel):
    """What a channel may serve: immutable bytes with their digest."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase", related_name="manifests")
    seq = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=SHA256)
    prev_sha256 = models.CharField(max_length=SHA256, blank=True)
    body = models.BinaryField()
    item_count = models.PositiveIntegerField()
    space = models.CharField(max_length=40)
    settings_digest = models.CharField(max_length=SHA256)
    segment_ids = ArrayField(models.UUIDField())
    created_by = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "knowledge_base", "seq"], name="retrieval_manifest_seq"),
        ]

    def __str__(self) -> str:
        return f"#{self.seq} {self.sha256[:8]}"


class PublishedItem(TenantModel):
    """Membership of a revision in manifests from_seq..to_seq (half-open; open while to_seq is NULL)."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase")
    document = TenantForeignKey("documents.Document")
    revision = TenantForeignKey("documents.Revision")
    from_seq = models.PositiveIntegerField()
    to_seq = models.PositiveIntegerField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "knowledge_base", "document", "from_seq"], name="retrieval_publisheditem_from"),
            models.UniqueConstraint(
                fields=["tenant", "knowledge_base", "document"], condition=models.Q(to_seq__isnull=True), name="retrieval_publisheditem_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.from_seq}..{self.to_seq or ''}"


class Channel(TenantModel):
    """A name that points to a manifest; it moves only by compare-and-set on `rev` (GOV-C2)."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase", related_name="channels")
    name = models.SlugField()
    manifest = TenantForeignKey("retrieval.Manifest", null=True)
    rev = models.PositiveIntegerField(default=0)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "knowledge_base", "name"], name="retrieval_channel_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Release(TenantModel):
    """Append-only: every move of a channel, with why and by whom."""

    channel = TenantForeignKey("retrieval.Channel", related_name="releases")
    channel_rev = models.PositiveIntegerField()
    manifest = TenantForeignKey("retrieval.Manifest")
    previous = TenantForeignKey("retrieval.Manifest", null=True)
    kind = models.CharField(max_length=10, choices=[("release", "release"), ("rollback", "rollback")])
    permit = models.CharField(max_length=80)
    reason = models.CharField(max_length=500)
    released_by = models.CharField(max_length=80)
    released_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "channel", "channel_rev"], name="retrieval_release_rev"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.channel_rev}"


class Takedown(TenantModel):
    """Hides a document from every channel, whatever the manifests say (GOV-C11)."""

    document = TenantForeignKey("documents.Document", related_name="takedowns")
    reason = models.CharField(max_length=500)
    started_by = models.CharField(max_length=80)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "document"], condition=models.Q(ended_at__isnull=True), name="retrieval_takedown_active"),
        ]

    def __str__(self) -> str:
        return f"takedown of {self.document_id}"


class DenyRevision(models.Model):
    """One counter per tenant; tombstones and takedowns raise it, caches key on it."""

    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT, primary_key=True, related_name="+")
    rev = models.PositiveBigIntegerField(default=0)

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()

    def __str__(self) -> str:
        return str(self.rev)
