"""Documents and everything read out of them. Revisions are immutable; lineage is NOT NULL; identities are content-derived (architecture, section 3)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from documents.access_rules import ACL_MODES
from documents.states import INGEST_JOB
from rag4c.scope.models import TenantForeignKey, TenantModel

SHA256 = 64


class IngestPolicy(TenantModel):
    """Versioned: the highest `version` is in force; rows are never changed."""

    version = models.PositiveIntegerField()
    target_chars = models.PositiveIntegerField(default=1000)
    max_chars = models.PositiveIntegerField(default=1600)
    target_chars_cjk = models.PositiveIntegerField(default=500)
    max_chars_cjk = models.PositiveIntegerField(default=800)
    table_rows = models.PositiveIntegerField(default=20)
    max_file_bytes = models.PositiveBigIntegerField(default=50_000_000)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    lease_s = models.PositiveIntegerField(default=120)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "version"], name="documents_ingestpolicy_version"),
        ]
        verbose_name_plural = "ingest policies"

    def __str__(self) -> str:
        return f"v{self.version}"


class KnowledgeBase(TenantModel):
    workspace = TenantForeignKey("tenants.Workspace")
    slug = models.SlugField()
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "slug"], name="documents_knowledgebase_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class DataSource(TenantModel):
    """Where documents come from. `generation` counts published changes; a failed sync consumes none."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase", related_name="sources")
    key = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=[("folder", "folder"), ("upload", "upload")])
    root = models.CharField(max_length=4096, blank=True)
    freshness = models.CharField(max_length=10, choices=[("snapshot", "snapshot"), ("live", "live")], default="snapshot")
    acl = TenantForeignKey("tenants.AclSet")  # the readers it was made with; those of now are its AclAssignment (kind `source`)
    acl_mode = models.CharField(max_length=10, choices=[(mode, mode) for mode in ACL_MODES], db_default="none", default="none")
    generation = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "knowledge_base", "key"], name="documents_datasource_key"),
        ]

    def __str__(self) -> str:
        return self.key


class AclTemplate(TenantModel):
    """A place below a source whose files have readers of their own. Which, and since when: its AclAssignment (kind `template`); none: it ended."""

    source = TenantForeignKey("documents.DataSource", related_name="templates")
    path_prefix = models.CharField(max_length=1024)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "source", "path_prefix"], name="documents_acltemplate_prefix"),
        ]

    def __str__(self) -> str:
        return f"{self.path_prefix}/"


class Document(TenantModel):
    """id: documents.identity.document_id. A tombstone keeps its row, so that the id never means something else."""

    knowledge_base = TenantForeignKey("documents.KnowledgeBase", related_name="documents")
    source = TenantForeignKey("documents.DataSource", related_name="documents")
    path = models.CharField(max_length=1024)
    head = TenantForeignKey("documents.Revision", null=True)  # newest revision that completed; what is served is the manifest's
    state = models.CharField(max_length=12, choices=[("live", "live"), ("tombstoned", "tombstoned")], default="live")
    tombstone_generation = models.PositiveBigIntegerField(null=True, blank=True)
    served_from_number = models.PositiveIntegerField(default=1)  # a document that came back is not served by older revisions
    rev = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "source", "path"], name="documents_document_path"),
        ]

    def __str__(self) -> str:
        return self.path


class Blob(TenantModel):
    """Original bytes in storage, one object per tenant and digest."""

    sha256 = models.CharField(max_length=SHA256)
    size_bytes = models.PositiveBigIntegerField()
    storage_key = models.CharField(max_length=200)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "sha256"], name="documents_blob_sha256"),
        ]

    def __str__(self) -> str:
        return self.sha256[:8]


class Revision(TenantModel):
    """One immutable state of a document's bytes."""

    document = TenantForeignKey("documents.Document", related_name="revisions")
    number = models.PositiveIntegerField()
    blob = TenantForeignKey("documents.Blob")
    content_sha256 = models.CharField(max_length=SHA256)
    added_by = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "document", "number"], name="documents_revision_number"),
        ]

    def __str__(self) -> str:
        return f"r{self.number}"


class ParseAttempt(TenantModel):
    """One reading of a revision: the canonical text with its digest, and what read it."""

    revision = TenantForeignKey("documents.Revision", related_name="parse_attempts")
    parser = models.CharField(max_length=40)
    parser_version = models.CharField(max_length=40)
    media_type = models.CharField(max_length=80)
    encoding = models.CharField(max_length=40, blank=True)
    flags = ArrayField(models.CharField(max_length=60), default=list)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=SHA256)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "revision", "parser", "parser_version"], name="documents_parseattempt_once"),
        ]

    def __str__(self) -> str:
        return f"{self.parser} {self.parser_version}"


class SpanModel(TenantModel):
    """A place in a parse: code points span_start..span_end (half-open) of its canonical text, and the locator that people read."""

    parse = TenantForeignKey("documents.ParseAttempt")
    locator = models.CharField(max_length=500)
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()

    class Meta(TenantModel.Meta):
        abstract = True
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(span_end__gte=models.F("span_start")) & ~models.Q(locator=""), name="%(app_label)s_%(class)s_place"
            ),
        ]


class Element(SpanModel):
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    level = models.PositiveSmallIntegerField(null=True)
    heading_path = ArrayField(models.TextField(), default=list)
    search_text = models.TextField(blank=True)
    table_no = models.PositiveIntegerField(null=True)
    row_path = models.TextField(blank=True)
    col_path = models.TextField(blank=True)
    hidden = models.BooleanField(default=False)
    flags = ArrayField(models.CharField(max_length=60), default=list)

    class Meta(SpanModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *SpanModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "parse", "seq"], name="documents_element_seq"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.locator}"


class ChunkVersion(TenantModel):
    """A stretch of text in one wording, wherever it stands now. id: documents.identity.chunk_version_id; never changed."""

    document = TenantForeignKey("documents.Document", related_name="chunk_versions")
    content_sha256 = models.CharField(max_length=SHA256)
    index_text_sha256 = models.CharField(max_length=SHA256)
    repeat_ordinal = models.PositiveIntegerField(default=0)
    text = models.TextField()
    index_text = models.TextField()
    heading_path = ArrayField(models.TextField(), default=list)
    unsafe_reason = models.CharField(max_length=80, blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "document", "content_sha256", "index_text_sha256", "repeat_ordinal"], name="documents_chunkversion_key"
            ),
        ]

    def __str__(self) -> str:
        return self.content_sha256[:8]


class RevisionChunk(SpanModel):
    """Where a chunk version stands in one revision; citations point here."""

    revision = TenantForeignKey("documents.Revision", related_name="chunks")
    chunk_version = TenantForeignKey("documents.ChunkVersion", related_name="places")
    ordinal = models.PositiveIntegerField()
    settings_digest = models.CharField(max_length=SHA256)

    class Meta(SpanModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *SpanModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "revision", "settings_digest", "ordinal"], name="documents_revisionchunk_ordinal"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["tenant", "chunk_version"], name="documents_rchunk_version")]

    def __str__(self) -> str:
        return self.locator


class Fact(SpanModel):
    """One value with its lineage (SYS-D1). Keys are normalised; value is NULL when the text is no number."""

    document = TenantForeignKey("documents.Document", related_name="facts")
    revision = TenantForeignKey("documents.Revision", related_name="facts")
    subject = models.TextField()
    field = models.TextField()
    subject_key = models.CharField(max_length=300)
    field_key = models.CharField(max_length=300)
    value_text = models.TextField()
    value = models.DecimalField(max_digits=40, decimal_places=10, null=True)
    unit = models.CharField(max_length=40, blank=True)
    period = models.CharField(max_length=40, blank=True)
    row_path = models.TextField(blank=True)
    col_path = models.TextField(blank=True)
    origin = models.CharField(max_length=30)
    review_reason = models.CharField(max_length=60, blank=True)
    source_sha256 = models.CharField(max_length=SHA256)
    extractor_version = models.CharField(max_length=40)
    mapping_version = models.CharField(max_length=40)

    class Meta(SpanModel.Meta):
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "subject_key", "field_key"], name="documents_fact_key"),
            models.Index(fields=["tenant", "revision"], name="documents_fact_revision"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} / {self.field}"


class IngestJob(TenantModel):
    """Owns the state of one revision's way to the index. Every write names the fence it holds (GOV-F2)."""

    revision = TenantForeignKey("documents.Revision", related_name="jobs")
    settings_digest = models.CharField(max_length=SHA256)
    state = models.CharField(max_length=12, choices=INGEST_JOB.choices, default=INGEST_JOB.initial)
    error_reason = models.CharField(max_length=12, blank=True, choices=[(code, code) for code in ("failed", "quarantined", "cancelled")])
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.CharField(max_length=300, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    chunks_total = models.PositiveIntegerField(default=0)
    chunks_embedded = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    progressed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "revision", "settings_digest"], name="documents_ingestjob_once"),
            models.CheckConstraint(condition=models.Q(state="error") ^ models.Q(error_reason=""), name="documents_ingestjob_error_has_reason"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["lease_until"], condition=models.Q(state__in=["waiting", "parsing", "splitting", "indexing"]), name="documents_job_due"
            )
        ]

    def __str__(self) -> str:
        return self.state


class SyncRun(TenantModel):
    """The report of one reading of a source: what was found, file by file where something is to be said."""

    source = TenantForeignKey("documents.DataSource", related_name="sync_runs")
    state = models.CharField(max_length=10, choices=[("running", "running"), ("done", "done"), ("failed", "failed")], default="running")
    generation = models.PositiveBigIntegerField(null=True)
    files_seen = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    reused = models.PositiveIntegerField(default=0)
    deleted = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    started_by = models.CharField(max_length=80)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.state} {self.started_at:%Y-%m-%d %H:%M}"


class RefusedFile(TenantModel):
    """A file that a sync could not take: its path, a code and a sentence. Nothing else of it is kept."""

    run = TenantForeignKey("documents.SyncRun", related_name="refusals")
    path = models.CharField(max_length=1024)
    code = models.CharField(max_length=60)
    message = models.CharField(max_length=300)

    def __str__(self) -> str:
        return f"{self.path}: {self.code}"


class FactMapping(TenantModel):
    """Which fields mean the same, and which are never answered as values. The highest version is in force."""

    version = models.PositiveIntegerField()
    field_synonyms = ArrayField(models.TextField(), default=list)  # one group a row, words separated by |
    non_answerable_fields = ArrayField(models.TextField(), default=list)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "version"], name="documents_factmapping_version"),
        ]

    def __str__(self) -> str:
        return f"v{self.version}"
