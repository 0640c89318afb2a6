"""The wire form of approvals. Field names are those of the dataclasses in approvals/contract.py."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from rag4c.scope.openapi import StrictSerializer


class RequestSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    action = serializers.CharField()
    subject_kind = serializers.CharField()
    subject_id = serializers.CharField()
    payload_sha256 = serializers.CharField()
    requested_by = serializers.CharField(help_text="`user:<id>` or `system`.")
    requester_name = serializers.CharField()
    reason = serializers.CharField()
    submitted_at = serializers.DateTimeField()
    standing = serializers.CharField(help_text="The state, or `blocked`, `expired`, `superseded` when that follows from people, time or the subject.")
    stage = serializers.IntegerField(min_value=1)
    stages = serializers.IntegerField(min_value=0)
    expires_at = serializers.DateTimeField(allow_null=True)
    needs_me = serializers.BooleanField()


class RequestPageSerializer(serializers.Serializer[Any]):
    results = RequestSerializer(many=True)
    next = serializers.UUIDField(allow_null=True)


class ChangeSerializer(serializers.Serializer[Any]):
    what = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class VoteSerializer(serializers.Serializer[Any]):
    stage = serializers.IntegerField(min_value=1)
    voter = serializers.CharField()
    on_behalf_of = serializers.CharField(allow_blank=True)
    approves = serializers.BooleanField()
    comment = serializers.CharField(allow_blank=True)
    cast_at = serializers.DateTimeField()
    counts = serializers.BooleanField()


class ObstacleSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    sentence = serializers.CharField()


class RequestDetailSerializer(RequestSerializer):
    changes = ChangeSerializer(many=True, help_text="Exactly what will run.")
    votes = VoteSerializer(many=True)
    obstacles = ObstacleSerializer(many=True, help_text="Why it has not run; empty when it has.")


class StandingSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    standing = serializers.CharField()


class SubmitSerializer(StrictSerializer):
    action = serializers.CharField(max_length=80)
    payload = serializers.JSONField(help_text="As the problem `approval_required` carried it in `data.payload`.")
    reason = serializers.CharField(min_length=10, max_length=500)


class CastSerializer(StrictSerializer):
    approves = serializers.BooleanField()
    payload_sha256 = serializers.CharField(min_length=64, max_length=64, help_text="Of the request that you looked at.")
    comment = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)


class CommentSerializer(StrictSerializer):
    text = serializers.CharField(min_length=1, max_length=2000)
