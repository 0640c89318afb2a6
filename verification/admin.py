"""Admin pages of answers and what they rest on, all read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import digest_column, link_column, state_label, when_column
from rag4c.scope.admin_parts import Related, admin_actor, offer_related
from verification.api.reading import read_answer
from verification.models import AnswerClaim, AnswerPolicy, AnswerRecord, Citation, EvidenceRow, FindingRow

if TYPE_CHECKING:
    from django.http import HttpRequest

STATUS_SHAPES = {"answered": "good", "partial": "busy", "answered_unverified": "odd", "abstained": "waits", "failed": "bad"}
STATE_SHAPES = {"ok": "good", "exists_only": "busy", "stale": "odd", "unsupported": "bad"}
NOTHING_ASKED = gettext_lazy("Nobody has asked yet. Ask on the start page; each answer leaves its record here.")

offer_related(
    "verification.AnswerRecord",
    Related(gettext_lazy("Claims"), "verification.AnswerClaim", "answer__id__exact"),
    Related(gettext_lazy("Citations"), "verification.Citation", "answer__id__exact"),
    Related(gettext_lazy("Evidence"), "verification.EvidenceRow", "answer__id__exact"),
    Related(gettext_lazy("Findings"), "verification.FindingRow", "answer__id__exact"),
)
offer_related("documents.Document", Related(gettext_lazy("Citations"), "verification.Citation", "document__id__exact"))
offer_related("tenants.User", Related(gettext_lazy("Questions"), "verification.AnswerRecord", "asked_by__id__exact"))


@admin.display(description=gettext_lazy("question"))
def question_start(record: AnswerRecord) -> str:
    return record.question[:100]


@admin.display(description=gettext_lazy("outcome"), ordering="status")
def outcome(record: AnswerRecord) -> str:
    return state_label(record.get_status_display(), STATUS_SHAPES[record.status])


@admin.register(AnswerRecord)
class AnswerRecordAdmin(ScopedAdmin[AnswerRecord]):
    list_display = (question_start, outcome, "reason", "asked_by", when_column("created_at", gettext_lazy("asked")))
    list_select_related = ("asked_by",)
    list_filter = ("status", "reason", "channel_name")
    view_permission = "answer.read_all"
    subject_kind = "answer"
    empty_text = NOTHING_ASKED
    fields = ("question", "status", "reason", "text", "lifeline", "asked_by", "channel_name", "mode", "confidence", "confidence_name", "support_scope",
              "same_key_sources_checked", "degraded", "policy_rev", "visible_sha256", "timings_ms", "created_at", "id")  # fmt: skip

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> AnswerRecord | None:
        obj: Any = super().get_object(request, *args, **kwargs)
        if obj is not None:
            obj.shown = read_answer(actor=admin_actor(request), answer_id=obj.pk)  # withholds what this reader may not see
        return obj  # type: ignore[no-any-return]

    @admin.display(description=gettext_lazy("answer"))
    def text(self, record: Any) -> str:
        return str(record.shown.answer) or "–"

    @admin.display(description=gettext_lazy("lifeline"))
    def lifeline(self, record: Any) -> str:
        return format_html('<a class="scoped-link" href="{}">{}</a>', record.shown.lifeline_url, _("Why can I trust this?"))

    def headline(self, record: Any) -> str:
        who, state = record.asked_by or _("the system"), record.get_status_display()
        return _("%(who)s asked on %(when)s through %(channel)s: %(status)s %(reason)s") % {
            "who": who, "when": record.created_at.strftime("%Y-%m-%d %H:%M"), "channel": record.channel_name, "status": state, "reason": record.reason}  # fmt: skip


@admin.register(AnswerClaim)
class AnswerClaimAdmin(ScopedAdmin[AnswerClaim]):
    list_display = ("answer", "ordinal", "situation", "markers", "removed")
    list_select_related = ("answer",)
    list_filter = ("state", "removed")
    fields = ("answer", "ordinal", "state", "markers", "removed", "id")  # its words are on the answer's page, cut by the reader's grant
    view_permission = "answer.read_all"
    empty_text = NOTHING_ASKED

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, claim: AnswerClaim) -> str:
        return state_label(claim.get_state_display(), STATE_SHAPES[claim.state])


@admin.register(Citation)
class CitationAdmin(ScopedAdmin[Citation]):
    list_display = ("n", link_column("document", gettext_lazy("document")), "locator", "situation", "quote_start")
    list_select_related = ("document",)
    list_filter = ("state", "role", "support_type")
    view_permission = "answer.read_all"
    content_of = "document_id"
    empty_text = gettext_lazy("Places that answers rest on, in documents that you may read yourself.")

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, citation: Citation) -> str:
        return state_label(citation.get_state_display(), STATE_SHAPES[citation.state])

    @admin.display(description=gettext_lazy("quote"))
    def quote_start(self, citation: Citation) -> str:
        return citation.quote[:100]


@admin.register(EvidenceRow)
class EvidenceRowAdmin(ScopedAdmin[EvidenceRow]):
    list_display = (
        "n",
        link_column("document", gettext_lazy("document")),
        "score_dense_cosine",
        "score_bm25",
        digest_column("text_sha256", gettext_lazy("digest")),
    )
    list_select_related = ("document",)
    view_permission = "answer.read_all"
    content_of = "document_id"
    empty_text = gettext_lazy("What an answer could draw on, cited or not, in documents that you may read yourself.")


@admin.register(FindingRow)
class FindingRowAdmin(ScopedAdmin[FindingRow]):
    list_display = ("layer", "outcome", "claim_ordinal", "score", "detail")
    list_filter = ("layer", "outcome")
    view_permission = "answer.read_all"
    empty_text = gettext_lazy("What each check of each claim saw.")


@admin.register(AnswerPolicy)
class AnswerPolicyAdmin(ScopedAdmin[AnswerPolicy]):
    list_display = ("version", "min_confidence", "min_entailment", "max_claims", "allow_unverified")
    ordering = ("-version",)
    view_permission = "policy.manage"
    empty_text = gettext_lazy("When an answer is given and when it is withheld. The built-in policy, version 0, is in force.")
