"""REST of asking and of answers: parse, call the api, serialise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.decorators import api_view
from rest_framework.response import Response

from rag4c.kernel.errors import Invalid
from rag4c.scope.openapi import PAGING, describe
from rag4c.scope.paging import cut_page, read_page_query
from rag4c.scope.views import actor_of
from verification import api, serializers
from verification.api.answering import MAX_QUESTION

if TYPE_CHECKING:
    import uuid

    from rest_framework.request import Request

    from rag4c.scope.openapi import StrictSerializer


@describe("query", "Ask a question", request=serializers.QuerySerializer, responses=serializers.AnswerSerializer, problems=(400, 403, 404))
@api_view(["POST"])
def query(request: Request) -> Response:
    asked = _read_question(serializers.QuerySerializer(data=request.data))
    view = api.answer_question(
        actor=actor_of(request),
        question=asked["question"],
        workspace=asked["workspace"],
        knowledge_bases=tuple(asked["knowledge_bases"]),
        channel=asked["channel"],
        purpose=asked["purpose"],
        acl=None if asked["acl"] is None else frozenset(asked["acl"]),
    )
    return Response(serializers.AnswerSerializer(view).data)


@describe("list_answers", "Your own answers, newest first", parameters=PAGING, responses=serializers.AnswerPageSerializer, problems=(400,))
@api_view(["GET"])
def answers(request: Request) -> Response:
    page = read_page_query(request.query_params)
    rows = api.list_answers(actor=actor_of(request), after=page.after, limit=page.limit + 1)
    shown, following = cut_page(rows, page.limit, lambda row: row.answer_id)
    return Response(serializers.AnswerPageSerializer({"results": shown, "next": following}).data)


@describe("read_answer", "One answer, checked again for this reader", responses=serializers.AnswerSerializer, problems=(404,))
@api_view(["GET"])
def answer(request: Request, answer_id: uuid.UUID) -> Response:
    return Response(serializers.AnswerSerializer(api.read_answer(actor=actor_of(request), answer_id=answer_id)).data)


@describe("read_lifeline", "What an answer rests on, step by step", responses=serializers.LifelineSerializer, problems=(404,))
@api_view(["GET"])
def lifeline(request: Request, answer_id: uuid.UUID) -> Response:
    return Response(serializers.LifelineSerializer(api.read_lifeline(actor=actor_of(request), answer_id=answer_id)).data)


@describe("ask", "Ask in the small form", request=serializers.QuestionSerializer, responses=serializers.SmallAnswerSerializer, problems=(400, 403))
@api_view(["POST"])
def ask_small(request: Request) -> Response:
    asked = _read_question(serializers.QuestionSerializer(data=request.data))
    return Response(serializers.SmallAnswerSerializer(api.answer_question(actor=actor_of(request), question=asked["question"])).data)


def _read_question(serializer: StrictSerializer) -> dict[str, Any]:
    """Raises: Invalid("question_invalid"), ValidationError for the other fields."""
    if not serializer.is_valid() and set(serializer.errors) == {"question"}:
        raise Invalid("question_invalid", f"A question is 1 to {MAX_QUESTION:,} characters of text.")
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
