"""Where signed checkpoints are kept outside Postgres: the Django storage `checkpoints`, a folder by default (GOV-U8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.core.files.base import ContentFile
from django.core.files.storage import InvalidStorageError, storages

from rag4c.kernel.errors import Conflict

if TYPE_CHECKING:
    import uuid

    from django.core.files.storage import Storage

ALIAS: Final = "checkpoints"


def find_sink() -> Storage | None:
    """The configured storage, or None when the installation has none."""
    try:
        return storages[ALIAS]
    except InvalidStorageError:
        return None


def checkpoint_name(tenant_id: uuid.UUID | str, seq: int) -> str:
    return f"{tenant_id}/{seq:012}.json"


def keep(sink: Storage, name: str, data: bytes) -> bool:
    """Store bytes under a name once and read them back; whether they were new.

    A file that a crash cut short is written again. Raises: Conflict("checkpoint_forked") when something else is kept under that name.
    """
    if sink.exists(name):
        found = read(sink, name)
        if found == data:
            return False
        if not data.startswith(found):
            raise Conflict("checkpoint_forked", "Another checkpoint is kept under this number: the ledger was set back or rewritten.", {"name": name})
        sink.delete(name)
    sink.save(name, ContentFile(data))
    if read(sink, name) != data:
        raise Conflict("checkpoint_forked", "The checkpoint could not be read back from its storage.", {"name": name})
    return True


def read(sink: Storage, name: str) -> bytes:
    with sink.open(name) as stream:
        return bytes(stream.read())


def list_names(sink: Storage, tenant_id: uuid.UUID | str) -> list[str]:
    """Names of a tenant's files, in order; none for a tenant without any."""
    try:
        _, files = sink.listdir(str(tenant_id))
    except FileNotFoundError:
        return []
    return [f"{tenant_id}/{name}" for name in sorted(files)]


def list_tenants(sink: Storage) -> set[str]:
    """Ids of the tenants that have files."""
    try:
        folders, _ = sink.listdir("")
    except FileNotFoundError:
        return set()
    return set(folders)
