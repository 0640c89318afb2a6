"""REST lists of documents and sources, for those who manage knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.response import Response

from documents import api, serializers
from rag4c.scope.paging import cut_page, read_page_query, read_uuid
from rag4c.scope.views import actor_of

if TYPE_CHECKING:
    from rest_framework.request import Request


@extend_schema(
    operation_id="list_documents",
    summary="Documents with the state of their newest revision",
    parameters=[
        OpenApiParameter("knowledge_base", str, description="Id of one knowledge base; all when left out."),
        OpenApiParameter("after", str, description="`next` of the page before."),
        OpenApiParameter("limit", int, description="1 to 200, 50 when left out."),
    ],
    responses=serializers.DocumentPageSerializer,
)
@api_view(["GET"])
def documents(request: Request) -> Response:
    page = read_page_query(request.query_params)
    base_id = read_uuid(request.query_params.get("knowledge_base", ""))
    rows = api.list_documents(actor=actor_of(request), knowledge_base_id=base_id, after=page.after, limit=page.limit + 1)
    shown, following = cut_page(rows, page.limit, lambda row: row.id)
    return Response(serializers.DocumentPageSerializer({"results": shown, "next": following}).data)


@extend_schema(operation_id="list_sources", summary="Sources with what their last sync said", responses=serializers.DataSourceListSerializer)
@api_view(["GET"])
def sources(request: Request) -> Response:
    return Response(serializers.DataSourceListSerializer({"results": api.list_sources(actor=actor_of(request))}).data)
