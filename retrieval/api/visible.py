"""The visible set: manifest x ACL x safety x takedown, fixed before anything is scored (architecture, section 5)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rag4c.kernel.canonical import digest_of
from rag4c.scope.manager import scope
from retrieval import queries
from retrieval.api.policies import read_deny_rev
from retrieval.models import Channel, LexSegment
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rag4c.kernel.grant import Grant
    from retrieval.queries import PublishedChunk

__all__ = ["ServedBase", "VisibleSet", "visible_set"]
LIVE: Final = "live"
MAX_SNAPSHOTS: Final = 16  # about 200 bytes a chunk each


@dataclass(frozen=True, slots=True)
class ServedBase:
    """A knowledge base as one channel serves it now: the manifest is read once, from start to end of a query (GOV-C5)."""

    knowledge_base_id: uuid.UUID
    manifest_id: uuid.UUID
    seq: int
    sha256: str
    space: str
    settings_digest: str
    segment_ids: tuple[uuid.UUID, ...]


@dataclass(frozen=True, slots=True)
class VisibleSet:
    """What one grant may retrieve. `chunks` are safe and permitted; `permitted_count` counts unsafe ones too.

    sha256: over permitted (document, revision) pairs only, so that it says nothing about what lies outside the grant.
    """

    served: tuple[ServedBase, ...]
    chunks: dict[uuid.UUID, PublishedChunk]
    permitted_count: int
    revision_ids: frozenset[uuid.UUID]
    sha256: str

    @property
    def place_ids(self) -> dict[uuid.UUID, uuid.UUID]:
        """chunk version -> its place in the served revision."""
        return {key: chunk.place_id for key, chunk in self.chunks.items()}


class _Snapshots:
    """Chunks of a manifest with their ACL numbers, kept per process; the key holds every revision that could change them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[object, ...], tuple[list[PublishedChunk], NDArray[np.int64]]] = OrderedDict()

    def get(self, grant: Grant, served: ServedBase, revs: tuple[int, int]) -> tuple[list[PublishedChunk], NDArray[np.int64]]:
        key = (grant.tenant_id, served.knowledge_base_id, served.sha256, *revs)
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key]
        chunks = queries.load_published(grant.tenant_id, served.knowledge_base_id, served.seq, served.settings_digest)
        entry = (chunks, np.fromiter((chunk.acl_number for chunk in chunks), np.int64, len(chunks)))
        with self.lock:
            self.kept[key] = entry
            while len(self.kept) > MAX_SNAPSHOTS:
                self.kept.popitem(last=False)
        return entry


_snapshots: Final = _Snapshots()


def visible_set(*, grant: Grant, knowledge_base_ids: Sequence[uuid.UUID], channel: str) -> VisibleSet:
    """Everything that this grant may retrieve through the channel. A base without a release on it serves nothing.

    ACL and deny revisions are read inside the query's own transaction, so a revocation or takedown counts at once (GOV-B4, C11).
    """
    with scope(grant):
        served = _served_bases(knowledge_base_ids, channel) if _may_read_channel(grant, channel) else ()
        revs = (tenants.read_acl_rev(grant.tenant_id), read_deny_rev(grant.tenant_id))
        allowed = np.fromiter(sorted(tenants.allowed_acl_numbers(grant)), np.int64)
        permitted: list[PublishedChunk] = []
        for base in served:
            chunks, numbers = _snapshots.get(grant, base, revs)
            permitted.extend(chunks[at] for at in np.flatnonzero(np.isin(numbers, allowed)))
    pairs = sorted({(str(chunk.document_id), str(chunk.revision_id)) for chunk in permitted})
    return VisibleSet(
        served=served,
        chunks={chunk.chunk_id: chunk for chunk in permitted if chunk.is_safe},
        permitted_count=len(permitted),
        revision_ids=frozenset(chunk.revision_id for chunk in permitted),
        sha256=digest_of([list(pair) for pair in pairs]),
    )


def _may_read_channel(grant: Grant, channel: str) -> bool:
    """What is not live yet is for those who publish; for others such a channel serves nothing, like one that does not exist."""
    return channel == LIVE or bool({"manifest.read", "system"} & grant.permissions)


def _served_bases(base_ids: Sequence[uuid.UUID], channel: str) -> tuple[ServedBase, ...]:
    rows = (
        Channel.objects.filter(knowledge_base_id__in=base_ids, name=channel, manifest__isnull=False)
        .select_related("manifest")
        .order_by("knowledge_base_id")
    )
    return tuple(
        ServedBase(
            knowledge_base_id=row.knowledge_base_id,
            manifest_id=row.manifest.pk,
            seq=row.manifest.seq,
            sha256=row.manifest.sha256,
            space=row.manifest.space,
            settings_digest=row.manifest.settings_digest,
            segment_ids=tuple(row.manifest.segment_ids),
        )
        for row in rows
        if row.manifest is not None
    )


def load_segments(served: Sequence[ServedBase]) -> list[LexSegment]:
    """The segments of all served manifests, each once, in a stable order. Inside a scope."""
    wanted = sorted({key for base in served for key in base.segment_ids})
    found = {row.pk: row for row in LexSegment.objects.filter(pk__in=wanted)}
    return [found[key] for key in wanted]
