"""REST lists of documents and sources, for those who manage knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_spectacular.utils import OpenApiParameter
from rest_framework.decorators import api_view
from rest_framework.response import Response

from documents import api, serializers
from rag4c.scope.openapi import PAGING, describe
from rag4c.scope.paging import cut_page, read_page_query, read_uuid
from rag4c.scope.views import actor_of

if TYPE_CHECKING:
    from rest_framework.request import Request


@describe(
    "list_documents",
    "Documents with the state of their newest revision",
    parameters=(OpenApiParameter("knowledge_base", str, description="Id of one knowledge base; all when left out."), *PAGING),
    responses=serializers.DocumentPageSerializer,
    problems=(400, 403),
)
@api_view(["GET"])
def documents(request: Request) -> Response:
    page = read_page_query(request.query_params)
    base_id = read_uuid(request.query_params.get("knowledge_base", ""))
    rows = api.list_documents(actor=actor_of(request), knowledge_base_id=base_id, after=page.after, limit=page.limit + 1)
    shown, following = cut_page(rows, page.limit, lambda row: row.id)
    return Response(serializers.DocumentPageSerializer({"results": shown, "next": following}).data)


@describe("list_sources", "Sources with what their last sync said", responses=serializers.DataSourceListSerializer, problems=(403,))
@api_view(["GET"])
def sources(request: Request) -> Response:
    return Response(serializers.DataSourceListSerializer({"results": api.list_sources(actor=actor_of(request))}).data)
