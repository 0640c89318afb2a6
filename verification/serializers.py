"""The wire form of the verification contract. Field names are those of the dataclasses; see answering.md "Answer object"."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from rag4c.scope.openapi import StrictSerializer
from verification.api.answering import MAX_QUESTION

MAX_PRINCIPAL = 80  # `user:<id>`, `group:<id>`, `role:<code>`


class QuestionSerializer(StrictSerializer):
    question = serializers.CharField(min_length=1, max_length=MAX_QUESTION)


class QuerySerializer(QuestionSerializer):
    workspace = serializers.CharField(required=False, allow_null=True, default=None, max_length=50)
    knowledge_bases = serializers.ListField(child=serializers.UUIDField(), required=False, default=list, max_length=100)
    channel = serializers.CharField(required=False, default="live", max_length=50)
    purpose = serializers.CharField(required=False, default="", allow_blank=True, max_length=40)
    acl = serializers.ListField(
        child=serializers.CharField(max_length=MAX_PRINCIPAL),
        required=False,
        allow_null=True,
        default=None,
        max_length=100,
        help_text="Narrows, never widens.",
    )


class ClaimSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    markers = serializers.ListField(child=serializers.IntegerField(min_value=1))
    state = serializers.CharField()


class CitationSerializer(serializers.Serializer[Any]):
    n = serializers.IntegerField(min_value=1)
    evidence_id = serializers.CharField()
    document_id = serializers.CharField()
    document = serializers.CharField()
    revision_id = serializers.CharField()
    locator = serializers.CharField()
    span = serializers.ListField(child=serializers.IntegerField(), help_text="Code points of the revision's canonical text, half open.")
    sha256 = serializers.CharField()
    modality = serializers.CharField()
    support_type = serializers.CharField()
    state = serializers.CharField(help_text="As stored with the answer.")
    current_state = serializers.CharField(help_text="As checked at this read.")
    quote = serializers.CharField()
    is_withheld = serializers.BooleanField()


class SourceSerializer(serializers.Serializer[Any]):
    document_id = serializers.CharField()
    document = serializers.CharField()
    locator = serializers.CharField()


class ConflictSideSerializer(serializers.Serializer[Any]):
    n = serializers.IntegerField(min_value=1)
    value = serializers.CharField()
    document = serializers.CharField()
    locator = serializers.CharField()
    quote = serializers.CharField()


class AnswerSummarySerializer(serializers.Serializer[Any]):
    answer_id = serializers.UUIDField()
    question = serializers.CharField()
    asked_at = serializers.DateTimeField()
    status = serializers.CharField()
    reason = serializers.CharField()
    answer = serializers.CharField()
    channel = serializers.CharField()
    lifeline_url = serializers.CharField()


class AnswerSerializer(AnswerSummarySerializer):
    reason_detail = serializers.DictField(child=serializers.CharField())
    claims = ClaimSerializer(many=True)
    citations = CitationSerializer(many=True)
    sources = SourceSerializer(many=True)
    conflict = ConflictSideSerializer(many=True)
    passages = CitationSerializer(many=True)
    support_scope = serializers.CharField()
    same_key_sources_checked = serializers.IntegerField()
    confidence = serializers.FloatField(allow_null=True)
    confidence_name = serializers.CharField()
    policy_rev = serializers.CharField()
    visible_sha256 = serializers.CharField()
    context_manifest_id = serializers.UUIDField(allow_null=True)
    degraded = serializers.ListField(child=serializers.CharField())
    timings_ms = serializers.DictField(child=serializers.IntegerField())


class AnswerPageSerializer(serializers.Serializer[Any]):
    results = AnswerSummarySerializer(many=True)
    next = serializers.UUIDField(allow_null=True, help_text="Send it back as `after` for the next page.")


class PairSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    value = serializers.CharField()

    def to_representation(self, instance: tuple[str, str]) -> dict[str, str]:
        return dict(zip(("name", "value"), instance, strict=True))


class FindingSerializer(serializers.Serializer[Any]):
    claim = serializers.CharField()
    layer = serializers.CharField()
    outcome = serializers.CharField()
    detail = serializers.CharField()

    def to_representation(self, instance: tuple[str, str, str, str]) -> dict[str, str]:
        return dict(zip(("claim", "layer", "outcome", "detail"), instance, strict=True))


class LifelineStepSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    title = serializers.CharField()
    facts = PairSerializer(many=True)
    checked = serializers.CharField()


class LifelineSerializer(serializers.Serializer[Any]):
    answer_id = serializers.UUIDField()
    status = serializers.CharField()
    reason = serializers.CharField()
    paths = serializers.ListField(child=LifelineStepSerializer(many=True))
    findings = FindingSerializer(many=True)
    answered_with = PairSerializer(many=True)


class SmallSourceSerializer(serializers.Serializer[Any]):
    doc = serializers.CharField(source="document")
    locator = serializers.CharField()


class SmallAnswerSerializer(serializers.Serializer[Any]):
    answer = serializers.CharField()
    sources = SmallSourceSerializer(many=True)
    status = serializers.CharField()
    reason = serializers.CharField()
