"""A tenant as a folder: one file of canonical JSON lines for each kind of row, and a manifest with their digests. The same rows give the same bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps

from rag4c.kernel.canonical import canonical_json, sha256_hex
from rag4c.kernel.errors import Absent, Conflict
from rag4c.kernel.grant import Grant
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from tenants.both import check_operator, one_transaction, recorders
from tenants.models import Tenant

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator
    from pathlib import Path

    from django.db.models import Model

    from rag4c.kernel.grant import Actor

__all__ = ["TenantExport", "export_tenant"]
FORMAT: Final = "rag4c-tenant-1"
SECRETS: Final = {"tenants.User": {"password"}, "tenants.ApiToken": {"digest"}}  # of no use elsewhere but to an attacker
LEFT_OUT: Final = (
    "ledger",
    "compliance",
)  # the audit trail has an export of its own, which can be verified; a record of this export would change the next
MAX_SAFE: Final = 2**53 - 1  # larger whole numbers are written as texts, as RFC 8785 asks
CHUNK: Final = 2000


@dataclass(frozen=True, slots=True)
class TenantExport:
    """What was written. sha256: of the manifest, which holds the digests of all files."""

    tenant_id: uuid.UUID
    files: int
    rows: int
    sha256: str


def export_tenant(*, actor: Actor, tenant_id: uuid.UUID, folder: Path) -> TenantExport:
    """Write all rows of the tenant, suspended or not; passwords and digests of tokens stay here, and so do vectors, which are made anew from text.

    While people work, files may be of different moments: suspend the tenant first, and a second export is byte for byte the first.

    Args: folder: new or empty.
    Raises: Denied("not_allowed"), Absent("tenant"), Conflict("folder_not_empty").
    """
    check_operator(actor, "tenant.export")
    if folder.exists() and any(folder.iterdir()):
        raise Conflict("folder_not_empty", "Name a folder that is new or empty.")
    folder.mkdir(parents=True, exist_ok=True)
    with scope(Grant(tenant_id)):
        tenant = Tenant.objects.filter(pk=tenant_id).values("id", "slug", "name", "is_active").first()
        if tenant is None:
            raise Absent("tenant", "There is no such tenant.")
        files = [_write_file(folder, model, tenant_id) for model in _models()]
    manifest = canonical_json({"format": FORMAT, "tenant": _plain(tenant), "files": files})
    (folder / "manifest.json").write_bytes(manifest)
    done = TenantExport(tenant_id, len(files), sum(entry["rows"] for entry in files), sha256_hex(manifest))
    with one_transaction():
        for recorder in recorders(actor, tenant_id):
            with scope(recorder.grant):
                data = {"by": actor.ref, "rows": done.rows, "manifest_sha256": done.sha256}
                ledger.record(recorder, "tenant.exported", subject=("tenant", tenant_id), data=data)
    return done


def _models() -> list[type[Model]]:
    """Every kind of row that has a tenant, in the order of their names."""
    found = [model for model in apps.get_models() if model._meta.app_label not in LEFT_OUT and any(f.name == "tenant" for f in model._meta.fields)]
    return sorted(found, key=lambda model: model._meta.label_lower)


def _write_file(folder: Path, model: type[Model], tenant_id: uuid.UUID) -> dict[str, Any]:
    name, digest, rows, size = f"{model._meta.label_lower}.jsonl", hashlib.sha256(), 0, 0
    with (folder / name).open("wb") as file:
        for line in _lines(model, tenant_id):
            file.write(line)
            digest.update(line)
            rows, size = rows + 1, size + len(line)
    return {"name": name, "rows": rows, "bytes": size, "sha256": digest.hexdigest()}


def _lines(model: Any, tenant_id: uuid.UUID) -> Iterator[bytes]:
    hidden = SECRETS.get(model._meta.label, set())
    names = [field.attname for field in model._meta.concrete_fields if field.name not in hidden]
    for row in model.objects.filter(tenant_id=tenant_id).order_by("pk").values(*names).iterator(chunk_size=CHUNK):
        yield canonical_json(_plain(row)) + b"\n"


def _plain(value: Any) -> Any:
    """As JSON: ids and decimals as texts, times in ISO 8601, bytes in hex."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | float | str) or (isinstance(value, int) and abs(value) <= MAX_SAFE):
        return value
    return _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, datetime | date):
        return value.isoformat()
    return format(value, "f") if isinstance(value, Decimal) else str(value)
