"""Policies and mappings in force: the highest version of a tenant, or the built-in first version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.forms.models import model_to_dict

from documents.chunking import ChunkSettings
from documents.models import FactMapping as FactMappingRow
from documents.models import IngestPolicy
from documents.records import FactMapping, normalize_key
from rag4c.kernel.canonical import digest_of
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Grant

__all__ = ["chunk_settings_of", "fact_mapping_in_force", "field_synonyms", "ingest_policy_digest", "ingest_policy_in_force"]


def ingest_policy_in_force(tenant_id: uuid.UUID) -> IngestPolicy:
    """The tenant's policy; an unsaved version 0 with the defaults when it has set none. Inside a scope."""
    return IngestPolicy.objects.order_by("-version").first() or IngestPolicy(tenant_id=tenant_id, version=0)


def ingest_policy_digest(tenant_id: uuid.UUID) -> str:
    """Digest of every number of the ingest policy in force. Inside a scope."""
    return digest_of(model_to_dict(ingest_policy_in_force(tenant_id), exclude=["id", "tenant"]))


def chunk_settings_of(policy: IngestPolicy) -> ChunkSettings:
    """The chunker's settings of a policy; their digest names every chunk that was made with them."""
    return ChunkSettings(
        target_chars=policy.target_chars,
        max_chars=policy.max_chars,
        target_chars_cjk=policy.target_chars_cjk,
        max_chars_cjk=policy.max_chars_cjk,
        table_rows=policy.table_rows,
    )


def field_synonyms(grant: Grant) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The mapping's version, and for each normalised name in a group of synonyms the other names of the group."""
    with scope(grant):
        mapping = fact_mapping_in_force()
    groups = {normalize_key(group[0]): group[1:] for group in mapping.synonyms if group}
    return mapping.version, groups


def fact_mapping_in_force() -> FactMapping:
    """Synonyms and fields that are never answered; the built-in mapping when the tenant has set none. Inside a scope."""
    row = FactMappingRow.objects.order_by("-version").first()
    if row is None:
        return FactMapping()
    return FactMapping(
        version=str(row.version),
        synonyms=tuple(tuple(group.split("|")) for group in row.field_synonyms),
        non_answerable_fields=tuple(row.non_answerable_fields),
    )
