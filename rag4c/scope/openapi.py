"""How an operation is written in the OpenAPI document, with the problems that it may answer."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

F = TypeVar("F", bound="Callable[..., Any]")
PAGING = (
    OpenApiParameter("after", str, description="`next` of the page before."),
    OpenApiParameter("limit", int, description="1 to 200, 50 when left out."),
)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields it does not know: a misspelt `acl` would otherwise answer with the whole grant."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError({str(name): ["This field is not known."] for name in unknown})
        return super().to_internal_value(data)


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457, with the stable code that decides; `request_invalid` adds `errors` by field, some codes add `data`: ids, numbers and codes."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()


def describe(
    operation_id: str,
    summary: str,
    *,
    responses: type[serializers.Serializer[Any]],
    request: type[serializers.Serializer[Any]] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
    problems: Sequence[int] = (),
) -> Callable[[F], F]:
    """Decorates a REST view. Args: problems: statuses beside 401, which every operation may answer."""
    faults = {
        (status, "application/problem+json"): OpenApiResponse(ProblemSerializer, HTTPStatus(status).phrase) for status in sorted({401, *problems})
    }
    return extend_schema(
        operation_id=operation_id, summary=summary, request=request, parameters=list(parameters), responses={200: responses, **faults}
    )
