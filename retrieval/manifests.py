"""Publication manifests: immutable canonical bytes, the difference between two of them, and a Merkle tree that shares what did not change."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag4c.kernel.canonical import canonical_json, sha256_hex
from rag4c.kernel.errors import Conflict, Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BUCKETS = 256  # one byte of the document's digest; about 40 items a bucket at 10,000 documents
_LEAF, _NODE = b"\x00", b"\x01"  # apart, so that a node never passes for a leaf (RFC 6962, 2.1)
_EMPTY = hashlib.sha256(b"").digest()
_KEYS = frozenset({"tenant", "kb", "seq", "prev_sha256", "items", "space", "chunk_settings", "config_sha256", "expires"})


@dataclass(frozen=True, slots=True, order=True)
class ManifestItem:
    """One published document: which revision, and the digest of its content."""

    doc: str
    rev: str
    content_sha256: str


@dataclass(frozen=True, slots=True)
class ManifestHead:
    """Everything of a manifest but its items.

    Args: seq: 1-based and gapless in its knowledge base. prev_sha256: empty only for seq 1. space: embedding space.
    chunk_settings, config_sha256: digests. expires: ISO 8601 time in UTC, None for never.
    Raises: Invalid("manifest_seq"), Invalid("manifest_prev").
    """

    tenant: str
    kb: str
    seq: int
    prev_sha256: str
    space: str
    chunk_settings: str
    config_sha256: str
    expires: str | None = None

    def __post_init__(self) -> None:
        if self.seq < 1:
            raise Invalid("manifest_seq", "A sequence begins at 1.", {"seq": self.seq})
        if (self.seq == 1) != (not self.prev_sha256):
            raise Invalid("manifest_prev", "Only the first manifest has no predecessor.", {"seq": self.seq})


@dataclass(frozen=True, slots=True)
class PublicationManifest:
    """An immutable list of what is published (GOV-C1). Items stand in order of `doc`, each document once.

    Raises: Invalid("manifest_items").
    """

    head: ManifestHead
    items: tuple[ManifestItem, ...]
    data: bytes = field(init=False, repr=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        docs = [item.doc for item in self.items]
        if any(left >= right for left, right in pairwise(docs)):
            raise Invalid("manifest_items", "Items stand in order of document, each document once.")
        data = canonical_json({**_head_view(self.head), "items": [_item_view(item) for item in self.items]})
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "sha256", sha256_hex(data))


@dataclass(frozen=True, slots=True)
class ManifestDiff:
    """What turns one manifest into another. Args: base_sha256: of the manifest it starts from. head: of the result."""

    base_sha256: str
    head: ManifestHead
    removed: tuple[str, ...]
    put: tuple[ManifestItem, ...]


@dataclass(frozen=True, slots=True)
class MerkleTree:
    """Root and bucket digests over the items.

    Args: buckets: 256 digests; an empty bucket has the digest of nothing. contents: bucket digest -> its items, what a store keeps once.
    """

    root: str
    buckets: tuple[str, ...]
    contents: Mapping[str, tuple[ManifestItem, ...]]


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """That one item stands under a root, without showing its neighbours. Args: path: sibling digests, leaf upwards, with the side they stand on."""

    item: ManifestItem
    path: tuple[tuple[bool, str], ...]


def make_manifest(head: ManifestHead, items: Iterable[ManifestItem]) -> PublicationManifest:
    """The manifest over items in any order. Raises: Invalid("manifest_items") when a document comes twice. Source: GOV-C1."""
    return PublicationManifest(head, tuple(sorted(items)))


def follow_manifest(previous: PublicationManifest, items: Iterable[ManifestItem], **changes: str | None) -> PublicationManifest:
    """The next manifest of the same knowledge base. Args: changes: `space`, `chunk_settings`, `config_sha256` or `expires`.

    Raises: Invalid("manifest_change") for any other name, Invalid("manifest_items").
    """
    if unknown := changes.keys() - {"space", "chunk_settings", "config_sha256", "expires"}:
        raise Invalid("manifest_change", "Only space, settings, configuration and expiry can change.", {"names": sorted(unknown)})
    before = previous.head
    head = ManifestHead(
        tenant=before.tenant,
        kb=before.kb,
        seq=before.seq + 1,
        prev_sha256=previous.sha256,
        space=changes.get("space") or before.space,
        chunk_settings=changes.get("chunk_settings") or before.chunk_settings,
        config_sha256=changes.get("config_sha256") or before.config_sha256,
        expires=changes.get("expires", before.expires),
    )
    return make_manifest(head, items)


def read_manifest(data: bytes, sha256: str) -> PublicationManifest:
    """The manifest that these bytes are. Raises: Invalid("manifest_altered") for another digest, Invalid("manifest_malformed")."""
    if sha256_hex(data) != sha256:
        raise Invalid("manifest_altered", "The bytes do not have the digest that was named.", {"sha256": sha256})
    try:
        body: dict[str, Any] = json.loads(data)
        if set(body) != _KEYS or not all(isinstance(value, str) for item in body["items"] for value in item.values()):
            raise Invalid("manifest_malformed", "A manifest has exactly the agreed keys, and its items are text.")
        items = tuple(ManifestItem(**item) for item in body.pop("items"))
        manifest = PublicationManifest(ManifestHead(**body), items)
    except (ValueError, TypeError, AttributeError) as error:
        raise Invalid("manifest_malformed", "The bytes are no manifest.") from error
    if manifest.data != data:
        raise Invalid("manifest_malformed", "The bytes are not in canonical form.")
    return manifest


def diff_manifests(before: PublicationManifest, after: PublicationManifest) -> ManifestDiff:
    """What was removed, added and replaced. `apply_diff(diff_manifests(a, b), a) == b` (GOV-C12)."""
    old, new = set(before.items), set(after.items)
    kept_docs = {item.doc for item in after.items}
    removed = sorted(item.doc for item in before.items if item.doc not in kept_docs)
    return ManifestDiff(before.sha256, after.head, tuple(removed), tuple(sorted(new - old)))


def apply_diff(diff: ManifestDiff, base: PublicationManifest) -> PublicationManifest:
    """The manifest that the difference leads to. Raises: Conflict("diff_base") on another base than it was made from."""
    if base.sha256 != diff.base_sha256:
        raise Conflict("diff_base", "This difference starts from another manifest.", {"expected": diff.base_sha256, "got": base.sha256})
    items = {item.doc: item for item in base.items if item.doc not in set(diff.removed)}
    items.update((item.doc, item) for item in diff.put)
    return make_manifest(diff.head, items.values())


def build_tree(items: Iterable[ManifestItem]) -> MerkleTree:
    """256 buckets by document id, each its own Merkle tree over items, under one root. Source: architecture section 6 "Manifest"."""
    held = _by_bucket(items)
    buckets = tuple(_root_of([_leaf(item) for item in bucket]).hex() for bucket in held)
    contents = {digest: tuple(bucket) for digest, bucket in zip(buckets, held, strict=True) if bucket}
    return MerkleTree(_root_of([bytes.fromhex(digest) for digest in buckets]).hex(), buckets, contents)


def list_new_buckets(before: MerkleTree, after: MerkleTree) -> dict[str, tuple[ManifestItem, ...]]:
    """The buckets a store must write for `after` when it has `before`: digest -> items. All others are shared."""
    return {digest: items for digest, items in after.contents.items() if digest not in before.contents}


def read_tree(buckets: Sequence[str], contents: Mapping[str, tuple[ManifestItem, ...]]) -> tuple[ManifestItem, ...]:
    """The items behind bucket digests, in order of document. Raises: Invalid("bucket_missing"), Invalid("bucket_altered")."""
    items: list[ManifestItem] = []
    for digest in buckets:
        if digest == _EMPTY.hex():
            continue
        if digest not in contents:
            raise Invalid("bucket_missing", "A bucket of the manifest is not in the store.", {"sha256": digest})
        if _root_of([_leaf(item) for item in contents[digest]]).hex() != digest:
            raise Invalid("bucket_altered", "A bucket does not have its digest.", {"sha256": digest})
        items += contents[digest]
    return tuple(sorted(items))


def prove_item(tree: MerkleTree, doc: str) -> InclusionProof:
    """The proof for one document, for a bundle that shows only what was cited. Raises: Invalid("item_missing")."""
    number = bucket_of(doc)
    bucket = tree.contents.get(tree.buckets[number], ())
    at = next((place for place, item in enumerate(bucket) if item.doc == doc), None)
    if at is None:
        raise Invalid("item_missing", "The document is not in this manifest.", {"doc": doc})
    inside = _path_of([_leaf(item) for item in bucket], at)
    above = _path_of([bytes.fromhex(digest) for digest in tree.buckets], number)
    return InclusionProof(bucket[at], tuple((is_left, sibling.hex()) for is_left, sibling in (*inside, *above)))


def has_item(proof: InclusionProof, root: str) -> bool:
    """Whether the proof leads from its item to the root."""
    digest = _leaf(proof.item)
    for is_left, sibling in proof.path:
        other = bytes.fromhex(sibling)
        digest = _node(other, digest) if is_left else _node(digest, other)
    return digest.hex() == root


def bucket_of(doc: str) -> int:
    """Which bucket a document is in, 0 to 255: the first byte of its id's digest, so that any kind of id spreads evenly."""
    return hashlib.sha256(doc.encode()).digest()[0]


def _by_bucket(items: Iterable[ManifestItem]) -> list[list[ManifestItem]]:
    held: list[list[ManifestItem]] = [[] for _ in range(BUCKETS)]
    for item in sorted(items):
        held[bucket_of(item.doc)].append(item)
    return held


def _leaf(item: ManifestItem) -> bytes:
    return hashlib.sha256(_LEAF + canonical_json(_item_view(item))).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()


def _root_of(digests: Sequence[bytes]) -> bytes:
    level = list(digests) or [_EMPTY]
    while len(level) > 1:
        level = _next_level(level)
    return level[0]


def _path_of(digests: Sequence[bytes], at: int) -> list[tuple[bool, bytes]]:
    path: list[tuple[bool, bytes]] = []
    level = list(digests)
    while len(level) > 1:
        sibling = at ^ 1
        if sibling < len(level):
            path.append((sibling < at, level[sibling]))
        level, at = _next_level(level), at // 2
    return path


def _next_level(level: Sequence[bytes]) -> list[bytes]:
    """Pairs joined; one left over moves up as it is, which gives the same tree as RFC 6962's split at a power of two."""
    return [_node(level[at], level[at + 1]) if at + 1 < len(level) else level[at] for at in range(0, len(level), 2)]


def _item_view(item: ManifestItem) -> dict[str, str]:
    return {"doc": item.doc, "rev": item.rev, "content_sha256": item.content_sha256}


def _head_view(head: ManifestHead) -> dict[str, Any]:
    names = ("tenant", "kb", "seq", "prev_sha256", "space", "chunk_settings", "config_sha256", "expires")
    return {name: getattr(head, name) for name in names}
