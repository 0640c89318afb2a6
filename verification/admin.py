"""Admin pages of answers and what they rest on, all read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from rag4c.scope.admin import ScopedAdmin, link_to, short_digest, state_label
from rag4c.scope.admin_parts import Related, admin_actor, offer_related
from verification.api.reading import read_answer
from verification.models import AnswerClaim, AnswerPolicy, AnswerRecord, Citation, EvidenceRow, FindingRow

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

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


@admin.register(AnswerRecord)
class AnswerRecordAdmin(ScopedAdmin[AnswerRecord]):
    list_display = ("question_start", "outcome", "reason", "asked_by", "created_at")
    list_select_related = ("asked_by",)
    list_filter = ("status", "reason", "channel_name")
    view_permission = "answer.read_all"
    empty_text = NOTHING_ASKED
    fields = ("question", "status", "reason", "text", "lifeline", "asked_by", "channel_name", "mode", "confidence", "confidence_name", "support_scope",
              "same_key_sources_checked", "degraded", "policy_rev", "visible_sha256", "timings_ms", "created_at", "id")  # fmt: skip

    def change_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.rag4c_reader = admin_actor(request)  # type: ignore[attr-defined]
        return super().change_view(request, *args, **kwargs)

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> AnswerRecord | None:
        obj: Any = super().get_object(request, *args, **kwargs)
        if obj is not None:
            obj.shown = read_answer(actor=admin_actor(request), answer_id=obj.pk)  # withholds what this reader may not see
        return obj  # type: ignore[no-any-return]

    @admin.display(description=gettext_lazy("question"))
    def question_start(self, record: AnswerRecord) -> str:
        return record.question[:100]

    @admin.display(description=gettext_lazy("outcome"), ordering="status")
    def outcome(self, record: AnswerRecord) -> str:
        return state_label(record.get_status_display(), STATUS_SHAPES[record.status])

    @admin.display(description=gettext_lazy("answer"))
    def text(self, record: Any) -> str:
        return str(record.shown.answer) or "–"

    @admin.display(description=gettext_lazy("lifeline"))
    def lifeline(self, record: Any) -> str:
        return format_html('<a class="scoped-link" href="{}">{}</a>', record.shown.lifeline_url, _("Why can I trust this?"))
