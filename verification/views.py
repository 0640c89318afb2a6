"""The Ask pages for staff: parse, call the api, render. The api opens its own scopes; templates get finished dataclasses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django import forms
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from rag4c.scope.paging import cut_page, read_page_query
from rag4c.scope.views import actor_of, find_actor, signed_in
from verification import api
from verification.api.answering import MAX_QUESTION
from verification.pages import build_answer_page, split_lines

if TYPE_CHECKING:
    import uuid

    from django.http import HttpRequest, HttpResponse

RECENT: Final = 3
HISTORY: Final = 20


class QuestionForm(forms.Form):
    question = forms.CharField(
        max_length=MAX_QUESTION,
        error_messages={
            "required": _("Write a question first."),
            "max_length": _("A question has at most %(limit_value)d characters; this one has %(show_value)d."),
        },
    )


@require_safe
def show_start(request: HttpRequest) -> HttpResponse:
    """Strangers are asked for their tenant, everybody else for a question."""
    if find_actor(request) is None:
        return render(request, "tenants/start.html", {"next": request.GET.get("next", "")})
    return _render_ask(request, QuestionForm())


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def submit_question(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return redirect("start")
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _render_ask(request, form, status=400)
    view = api.answer_question(actor=actor_of(request), question=form.cleaned_data["question"])
    return redirect("answer", view.answer_id)


@require_safe
@signed_in
def show_history(request: HttpRequest) -> HttpResponse:
    page = read_page_query(request.GET, limit=HISTORY)
    rows = api.list_answers(actor=actor_of(request), after=page.after, limit=page.limit + 1)
    shown, following = cut_page(rows, page.limit, lambda row: row.answer_id)
    return render(request, "verification/history.html", {"answers": shown, "next": following, "is_first": page.after is None})


@require_safe
@signed_in
def show_answer(request: HttpRequest, answer_id: uuid.UUID) -> HttpResponse:
    view = api.read_answer(actor=actor_of(request), answer_id=answer_id)
    return render(request, "verification/answer.html", {"page": build_answer_page(view, get_language() or "en")})


@require_safe
@signed_in
def show_citation(request: HttpRequest, answer_id: uuid.UUID, n: int) -> HttpResponse:
    document = api.read_cited_document(actor=actor_of(request), answer_id=answer_id, n=n)
    citations = api.read_answer(actor=actor_of(request), answer_id=answer_id).citations
    return render(request, "verification/citation.html", {"answer_id": answer_id, "document": document, "lines": split_lines(document, citations)})


@require_safe
@signed_in
def show_lifeline(request: HttpRequest, answer_id: uuid.UUID) -> HttpResponse:
    view = api.read_lifeline(actor=actor_of(request), answer_id=answer_id)
    return render(request, "verification/lifeline.html", {"lifeline": view})


@require_safe
def show_help(request: HttpRequest) -> HttpResponse:
    return render(request, "verification/help.html")


def _render_ask(request: HttpRequest, form: QuestionForm, status: int = 200) -> HttpResponse:
    recent = api.list_answers(actor=actor_of(request), limit=RECENT)
    return render(request, "verification/ask.html", {"form": form, "recent": recent, "max_question": MAX_QUESTION}, status=status)
