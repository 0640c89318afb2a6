"""The wire form of the lists of documents and sources."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class DocumentSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    path = serializers.CharField()
    knowledge_base = serializers.CharField()
    state = serializers.CharField()
    job_state = serializers.CharField()
    error_code = serializers.CharField()
    error_message = serializers.CharField()
    created_at = serializers.DateTimeField()


class DocumentPageSerializer(serializers.Serializer[Any]):
    results = DocumentSerializer(many=True)
    next = serializers.UUIDField(allow_null=True, help_text="Send it back as `after` for the next page.")


class DataSourceSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    knowledge_base = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.CharField()
    freshness = serializers.CharField()
    generation = serializers.IntegerField()
    last_sync_at = serializers.DateTimeField(allow_null=True)
    last_added = serializers.IntegerField()
    last_updated = serializers.IntegerField()
    last_deleted = serializers.IntegerField()
    last_refused = serializers.IntegerField()


class DataSourceListSerializer(serializers.Serializer[Any]):
    results = DataSourceSerializer(many=True)
