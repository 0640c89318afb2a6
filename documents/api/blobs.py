"""Original bytes in Django storage, found by tenant and digest (GOV-T6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from documents.models import Blob
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.failpoints import fp
from rag4c.scope.models import new_id

if TYPE_CHECKING:
    import uuid

__all__ = ["StoredBlob", "keep_blob", "read_blob", "store_bytes"]


class StoredBlob:
    """Bytes that are in storage already, not yet known to the database."""

    __slots__ = ("key", "sha256", "size_bytes")

    def __init__(self, key: str, sha256: str, size_bytes: int) -> None:
        self.key, self.sha256, self.size_bytes = key, sha256, size_bytes


def store_bytes(tenant_id: uuid.UUID, data: bytes, sha256: str) -> StoredBlob:
    """Write an object under a fresh key. A worker that dies here leaves an object that no row names; nothing half-written is ever read."""
    fp("blob.store.before")
    key = default_storage.save(f"{tenant_id}/{sha256[:2]}/{sha256}-{new_id().hex}", ContentFile(data))
    fp("blob.store.after")
    return StoredBlob(key, sha256, len(data))


def keep_blob(tenant_id: uuid.UUID, stored: StoredBlob) -> Blob:
    """The row of these bytes; inside the transaction of the revision that needs it."""
    blob, _ = Blob.objects.get_or_create(
        tenant_id=tenant_id, sha256=stored.sha256, defaults={"size_bytes": stored.size_bytes, "storage_key": stored.key}
    )
    return blob


def read_blob(storage_key: str) -> tuple[bytes, str] | None:
    """The bytes and the digest that they have now, or None when the object is gone."""
    try:
        with default_storage.open(storage_key, "rb") as stream:
            data = stream.read()
    except FileNotFoundError:
        return None
    return data, sha256_hex(data)
