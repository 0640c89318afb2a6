"""Embedding spaces and their tables. Only the owner makes them, at `init-db`; the app writes and reads vectors (raw SQL: queries.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import connection, transaction

from rag4c.kernel.errors import Absent
from rag4c.scope.manager import outside_scope
from rag4c.scope.operations import rls_statements
from retrieval.models import EmbeddingSpace

if TYPE_CHECKING:
    from rag4c.providers.protocols import SpaceSpec

HASH_PARTITIONS: Final = 8  # of the default partition, by tenant; a large tenant gets a partition of its own
TABLE_PREFIX: Final = "retrieval_vector_"


def ensure_space(spec: SpaceSpec) -> str:
    """The table of a space, made when new (owner only). Returns the space's key.

    LIST by tenant, the default partition HASH-split and without HNSW: a shared graph under row-level security lost recall (architecture, section 6).
    """
    table = f"{TABLE_PREFIX}{spec.key}"
    with transaction.atomic():
        _, is_new = EmbeddingSpace.objects.get_or_create(
            key=spec.key,
            defaults={"model": spec.model, "dims": spec.dims, "normalisation": spec.normalisation, "version": spec.version, "table_name": table},
        )
        if is_new:
            with connection.cursor() as cursor:
                for statement in _create_statements(table, spec.dims):
                    cursor.execute(statement)
    return spec.key


def _create_statements(table: str, dims: int) -> list[str]:
    create = (
        f'CREATE TABLE "{table}" (tenant_id uuid NOT NULL, chunk_version_id uuid NOT NULL, vector halfvec({dims}) NOT NULL, '
        "PRIMARY KEY (tenant_id, chunk_version_id), FOREIGN KEY (tenant_id, chunk_version_id) "
        "REFERENCES documents_chunkversion (tenant_id, id)) PARTITION BY LIST (tenant_id)"
    )
    default = f'CREATE TABLE "{table}_d" PARTITION OF "{table}" DEFAULT PARTITION BY HASH (tenant_id)'
    parts = [
        f'CREATE TABLE "{table}_d{n}" PARTITION OF "{table}_d" FOR VALUES WITH (MODULUS {HASH_PARTITIONS}, REMAINDER {n})'
        for n in range(HASH_PARTITIONS)
    ]
    return [create, default, *parts, *rls_statements(table, grants="SELECT, INSERT, DELETE")]


def find_space(key: str) -> EmbeddingSpace:
    """Raises: Absent("embedding_space") when `init-db` has not made it."""
    with outside_scope("embedding_spaces"):
        space = EmbeddingSpace.objects.filter(pk=key).first()
    if space is None:
        raise Absent("embedding_space", "This embedding model has no table yet; run `rag4c init-db`.", {"space": key})
    return space
