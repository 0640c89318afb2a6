"""Admin pages of what was read out of documents, all read-only. Rows show only where the document is readable for the actor's grant."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext_lazy

from documents.models import ChunkVersion, Element, Fact, FactMapping, IngestPolicy, ParseAttempt, Revision, RevisionChunk
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import digest_column, link_column, person_column, state_label, when_column
from rag4c.scope.admin_parts import Related, offer_related

READABLE_ONLY = gettext_lazy("Only documents that you may read yourself are shown here. Sync a source whose readers include you to see the first.")

offer_related(
    "documents.Revision",
    Related(gettext_lazy("Readings"), "documents.ParseAttempt", "revision__id__exact"),
    Related(gettext_lazy("Chunks in place"), "documents.RevisionChunk", "revision__id__exact"),
    Related(gettext_lazy("Facts"), "documents.Fact", "revision__id__exact"),
    Related(gettext_lazy("Jobs"), "documents.IngestJob", "revision__id__exact"),
)
offer_related("documents.ParseAttempt", Related(gettext_lazy("Elements"), "documents.Element", "parse__id__exact"))
offer_related("documents.ChunkVersion", Related(gettext_lazy("Places"), "documents.RevisionChunk", "chunk_version__id__exact"))


def pre(text: str) -> str:
    return format_html("<pre class='scoped-pre'>{}</pre>", text)


@admin.register(Revision)
class RevisionAdmin(ScopedAdmin[Revision]):
    list_display = (
        "title",
        "number",
        digest_column("content_sha256", gettext_lazy("digest")),
        person_column("added_by", gettext_lazy("by")),
        when_column("created_at", gettext_lazy("added")),
    )
    list_select_related = ("document",)
    people = ("added_by",)
    subject_kind = "revision"
    empty_text = gettext_lazy("One row for each state of a document's bytes. Sync a source to see the first.")

    @admin.display(description=gettext_lazy("document"))
    def title(self, revision: Any) -> str:
        return str(revision.document)

    def headline(self, revision: Any) -> str:
        return f"{revision.document} r{revision.number}"


@admin.register(ParseAttempt)
class ParseAttemptAdmin(ScopedAdmin[ParseAttempt]):
    list_display = ("revision", "parser", "parser_version", "media_type", when_column("created_at", gettext_lazy("read")))
    list_select_related = ("revision",)
    list_filter = ("parser", "media_type")
    fields = ("revision", "parser", "parser_version", "media_type", "encoding", "flags", "text_sha256", "canonical_text", "created_at", "id")
    content_of = "revision__document_id"
    empty_text = READABLE_ONLY

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).defer("text")

    @admin.display(description=gettext_lazy("text"))
    def canonical_text(self, attempt: ParseAttempt) -> str:
        return pre(attempt.text)


@admin.register(Element)
class ElementAdmin(ScopedAdmin[Element]):
    list_display = ("seq", "kind", "locator", "flag_list", "is_shown")
    list_filter = ("kind", "hidden")
    ordering = ("parse_id", "seq")
    content_of = "parse__revision__document_id"
    empty_text = READABLE_ONLY

    @admin.display(description=gettext_lazy("flags"))
    def flag_list(self, element: Element) -> str:
        return ", ".join(element.flags) or "–"

    @admin.display(description=gettext_lazy("visible"))
    def is_shown(self, element: Element) -> str:
        return state_label("hidden", "odd") if element.hidden else state_label("visible", "good")


@admin.register(ChunkVersion)
class ChunkVersionAdmin(ScopedAdmin[ChunkVersion]):
    list_display = (
        digest_column("content_sha256", gettext_lazy("digest")),
        link_column("document", gettext_lazy("document")),
        "heading",
        "excerpt",
        "safety",
    )
    list_select_related = ("document",)
    search_fields = ("content_sha256__exact",)
    fields = ("document", "heading_path", "unsafe_reason", "content_sha256", "index_text_sha256", "repeat_ordinal", "body", "id")
    content_of = "document_id"
    empty_text = READABLE_ONLY

    @admin.display(description=gettext_lazy("heading"))
    def heading(self, chunk: ChunkVersion) -> str:
        return " / ".join(chunk.heading_path) or "–"

    @admin.display(description=gettext_lazy("text"))
    def excerpt(self, chunk: ChunkVersion) -> str:
        return chunk.text[:80]

    @admin.display(description=gettext_lazy("safety"))
    def safety(self, chunk: ChunkVersion) -> str:
        return state_label(chunk.unsafe_reason, "bad") if chunk.unsafe_reason else state_label("safe", "good")

    @admin.display(description=gettext_lazy("text"))
    def body(self, chunk: ChunkVersion) -> str:
        return pre(chunk.text)


@admin.register(RevisionChunk)
class RevisionChunkAdmin(ScopedAdmin[RevisionChunk]):
    list_display = (
        "locator",
        link_column("revision__document", gettext_lazy("document")),
        link_column("revision", gettext_lazy("revision")),
        "ordinal",
        "chunk_version",
    )
    list_select_related = ("revision__document", "chunk_version")
    ordering = ("revision_id", "ordinal", "pk")
    content_of = "revision__document_id"
    empty_text = READABLE_ONLY


@admin.register(Fact)
class FactAdmin(ScopedAdmin[Fact]):
    list_display = ("subject", "field", "value_text", "review", link_column("document", gettext_lazy("document")))
    list_select_related = ("document",)
    list_filter = ("origin", "review_reason")
    search_fields = ("subject_key", "field_key")
    content_of = "document_id"
    empty_text = READABLE_ONLY

    @admin.display(description=gettext_lazy("review"), ordering="review_reason")
    def review(self, fact: Fact) -> str:
        return state_label(fact.review_reason, "odd") if fact.review_reason else state_label("clear", "good")

    def headline(self, fact: Any) -> str:
        return f"{fact.subject} / {fact.field} = {fact.value_text} ({fact.document}, {fact.locator})"


@admin.register(IngestPolicy)
class IngestPolicyAdmin(ScopedAdmin[IngestPolicy]):
    list_display = ("version", "target_chars", "max_chars", "max_file_bytes", "max_attempts")
    ordering = ("-version",)
    view_permission = "policy.manage"
    empty_text = gettext_lazy("How documents are read and cut. The built-in policy, version 0, is in force.")


@admin.register(FactMapping)
class FactMappingAdmin(ScopedAdmin[FactMapping]):
    list_display = ("version", "field_synonyms", "non_answerable_fields")
    ordering = ("-version",)
    view_permission = "policy.manage"
    empty_text = gettext_lazy("Which fields mean the same, and which are never answered as values. The built-in mapping is in force.")
