"""Raw SQL of retrieval: set-based reads over the tables of lower apps, and the vector tables, which have no model. Always inside a scope.

Every statement names the tenant as a literal predicate besides row-level security: without it the planner neither prunes partitions nor uses
the index that begins with the tenant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection
from pgvector import HalfVector
from psycopg import sql

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

# Plan: published items by (tenant, kb), then nested loops on primary keys; measured in tests/retrieval/test_plans.py.
PUBLISHED = """
SELECT rc.chunk_version_id, rc.id, i.document_id, i.revision_id, acl.number, cv.unsafe_reason = ''
FROM retrieval_publisheditem i
JOIN documents_document d ON d.tenant_id = i.tenant_id AND d.id = i.document_id
JOIN documents_revision r ON r.tenant_id = i.tenant_id AND r.id = i.revision_id
JOIN documents_revisionchunk rc ON rc.tenant_id = i.tenant_id AND rc.revision_id = i.revision_id AND rc.settings_digest = %(settings)s
JOIN documents_chunkversion cv ON cv.tenant_id = i.tenant_id AND cv.id = rc.chunk_version_id
JOIN tenants_aclassignment a ON a.tenant_id = i.tenant_id AND a.subject_kind = 'document' AND a.subject_id = i.document_id AND a.valid_to IS NULL
JOIN tenants_aclset acl ON acl.tenant_id = i.tenant_id AND acl.id = a.acl_id
WHERE i.tenant_id = %(tenant)s AND i.knowledge_base_id = %(base)s AND i.from_seq <= %(seq)s AND (i.to_seq IS NULL OR i.to_seq > %(seq)s)
  AND d.state = 'live' AND r.number >= d.served_from_number
  AND NOT EXISTS (SELECT 1 FROM retrieval_takedown t WHERE t.tenant_id = i.tenant_id AND t.document_id = i.document_id AND t.ended_at IS NULL)
ORDER BY rc.chunk_version_id
"""

ACL_OF_DOCUMENTS = """
SELECT a.subject_id, acl.number, acl.principals, acl.sensitivity, acl.digest, acl.purpose
FROM tenants_aclassignment a
JOIN tenants_aclset acl ON acl.tenant_id = a.tenant_id AND acl.id = a.acl_id
WHERE a.tenant_id = %(tenant)s AND a.subject_kind = 'document' AND a.subject_id = ANY(%(documents)s) AND a.valid_to IS NULL
"""


@dataclass(frozen=True, slots=True)
class PublishedChunk:
    """A chunk that a manifest holds: its identity, its place, and the ACL set of its document now."""

    chunk_id: uuid.UUID
    place_id: uuid.UUID
    document_id: uuid.UUID
    revision_id: uuid.UUID
    acl_number: int
    is_safe: bool


@dataclass(frozen=True, slots=True)
class DocumentAcl:
    """The access set that a document has now."""

    number: int
    principals: frozenset[str]
    sensitivity: int
    digest: str
    purpose: str


def load_published(tenant_id: uuid.UUID, base_id: uuid.UUID, seq: int, settings_digest: str) -> list[PublishedChunk]:
    """All chunks of manifest `seq` that are not deleted or taken down, whoever may read them."""
    with connection.cursor() as cursor:
        cursor.execute(PUBLISHED, {"tenant": tenant_id, "base": base_id, "seq": seq, "settings": settings_digest})
        return [PublishedChunk(*row) for row in cursor.fetchall()]


def load_document_acls(tenant_id: uuid.UUID, document_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, DocumentAcl]:
    """document -> its access set; a document without one is missing here, which means nobody."""
    with connection.cursor() as cursor:
        cursor.execute(ACL_OF_DOCUMENTS, {"tenant": tenant_id, "documents": list(document_ids)})
        return {row[0]: DocumentAcl(row[1], frozenset(row[2]), row[3], row[4], row[5]) for row in cursor.fetchall()}


def find_missing_vectors(table: str, tenant_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    """Those of the chunk versions that have no vector in the space."""
    statement = sql.SQL("SELECT chunk_version_id FROM {} WHERE tenant_id = %s AND chunk_version_id = ANY(%s)").format(sql.Identifier(table))
    with connection.cursor() as cursor:
        cursor.execute(statement, [tenant_id, list(chunk_ids)])
        return set(chunk_ids) - {row[0] for row in cursor.fetchall()}


def insert_vectors(table: str, tenant_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID], vectors: NDArray[np.float32]) -> None:
    """One statement a batch; a vector that another worker wrote meanwhile is the same vector."""
    statement = sql.SQL(
        "INSERT INTO {} (tenant_id, chunk_version_id, vector) SELECT %s, * FROM unnest(%s::uuid[], %s::halfvec[]) ON CONFLICT DO NOTHING"
    ).format(sql.Identifier(table))
    texts = [HalfVector(row).to_text() for row in vectors]
    with connection.cursor() as cursor:
        cursor.execute(statement, [tenant_id, list(chunk_ids), texts])


def search_vectors(
    table: str, tenant_id: uuid.UUID, visible: Sequence[uuid.UUID], query: NDArray[np.float32], k: int
) -> list[tuple[uuid.UUID, float]]:
    """Exact cosine over the visible chunks, best first, ties by id: the visible set is the filter, before any scoring."""
    statement = sql.SQL(
        "SELECT chunk_version_id, 1 - (vector <=> %(query)s::halfvec) FROM {} WHERE tenant_id = %(tenant)s AND chunk_version_id = ANY(%(visible)s) "
        "ORDER BY vector <=> %(query)s::halfvec, chunk_version_id LIMIT %(k)s"
    ).format(sql.Identifier(table))
    parameters: dict[str, Any] = {"query": HalfVector(query).to_text(), "tenant": tenant_id, "visible": list(visible), "k": k}
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [(row[0], float(row[1])) for row in cursor.fetchall()]
