"""REST of approvals: parse, call the api, serialise."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.views import APIView

from approvals import api, serializers
from rag4c.kernel.errors import Invalid
from rag4c.scope.openapi import PAGING, describe
from rag4c.scope.paging import cut_page, read_page_query
from rag4c.scope.views import actor_of

if TYPE_CHECKING:
    import uuid

    from rest_framework.request import Request

VIEWS: Final = ("all", "inbox", "mine")
VIEW = OpenApiParameter("view", str, enum=VIEWS, description="`inbox`: what needs you; `mine`: what you asked; both unpaged. `all` when left out.")


class Requests(APIView):
    @describe("list_approvals", "Requests for approval", parameters=(VIEW, *PAGING), responses=serializers.RequestPageSerializer, problems=(400, 403))
    def get(self, request: Request) -> Response:
        page, actor = read_page_query(request.query_params), actor_of(request)
        view = request.query_params.get("view", "all")
        if view not in VIEWS:
            raise Invalid("view_invalid", f"`view` is one of {', '.join(VIEWS)}.")
        if view == "all":
            rows = api.list_requests(actor=actor, after=page.after, limit=page.limit + 1)
        else:
            rows = (api.list_inbox if view == "inbox" else api.list_mine)(actor=actor, limit=page.limit)
        shown, following = cut_page(rows, page.limit, lambda row: row.id)
        return Response(serializers.RequestPageSerializer({"results": shown, "next": following}).data)

    @describe(
        "request_approval",
        "Ask for an approval",
        request=serializers.SubmitSerializer,
        responses=serializers.RequestSerializer,
        problems=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        asked = serializers.SubmitSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        request_id = api.submit_request(actor=actor_of(request), **asked.validated_data)
        return Response(serializers.RequestSerializer(api.read_request(actor=actor_of(request), request_id=request_id)).data)


@describe("read_approval", "One request with its diff, votes and obstacles", responses=serializers.RequestDetailSerializer, problems=(404,))
@api_view(["GET"])
def read(request: Request, request_id: uuid.UUID) -> Response:
    actor = actor_of(request)
    detail = {
        **asdict(api.read_request(actor=actor, request_id=request_id)),
        "changes": api.describe_request(actor=actor, request_id=request_id),
        "votes": api.list_votes(actor=actor, request_id=request_id),
        "obstacles": api.why_blocked(actor=actor, request_id=request_id),
    }
    return Response(serializers.RequestDetailSerializer(detail).data)


@describe(
    "cast_vote",
    "Approve or reject",
    request=serializers.CastSerializer,
    responses=serializers.StandingSerializer,
    problems=(400, 403, 404, 409),
)
@api_view(["POST"])
def cast(request: Request, request_id: uuid.UUID) -> Response:
    told = serializers.CastSerializer(data=request.data)
    told.is_valid(raise_exception=True)
    fields = told.validated_data
    state = api.vote(
        actor=actor_of(request),
        request_id=request_id,
        approves=fields["approves"],
        comment=fields["comment"],
        seen_sha256=fields["payload_sha256"],
    )
    return _standing(request_id, state)


@describe(
    "comment_approval", "Say something about a request", request=serializers.CommentSerializer, responses=serializers.StandingSerializer,
    problems=(400, 403, 404),
)  # fmt: skip
@api_view(["POST"])
def comment(request: Request, request_id: uuid.UUID) -> Response:
    told = serializers.CommentSerializer(data=request.data)
    told.is_valid(raise_exception=True)
    actor = actor_of(request)
    api.comment(actor=actor, request_id=request_id, text=told.validated_data["text"])
    return _standing(request_id, api.read_request(actor=actor, request_id=request_id).standing)


@describe("cancel_approval", "Take a request back", responses=serializers.StandingSerializer, problems=(403, 404, 409))
@api_view(["POST"])
def cancel(request: Request, request_id: uuid.UUID) -> Response:
    api.cancel_request(actor=actor_of(request), request_id=request_id)
    return _standing(request_id, "cancelled")


@describe("execute_approval", "Run what was approved", responses=serializers.StandingSerializer, problems=(403, 404, 409))
@api_view(["POST"])
def execute(request: Request, request_id: uuid.UUID) -> Response:
    return _standing(request_id, api.execute_request(actor=actor_of(request), request_id=request_id))


def _standing(request_id: uuid.UUID, standing: str) -> Response:
    return Response(serializers.StandingSerializer({"id": request_id, "standing": standing}).data)
