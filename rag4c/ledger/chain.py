"""The rules of the seal chain: what is hashed, what is signed, and what an unbroken chain is. Pure; the standalone verifier states them again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag4c.kernel.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterable

# one first byte a kind, so that no bytes of one kind can pass as another (GOV-U3)
LEAF, NODE, CHECKPOINT, STATEMENT = b"\x01", b"\x02", b"\x03", b"\x04"
GENESIS: Final = bytes(32)
NO_CHECKPOINT: Final = "0" * 64
CHECKPOINT_FORMAT: Final = "rag4c.checkpoint.1"


@dataclass(frozen=True, slots=True)
class Link:
    """One seal as it is stored, with the bytes it seals. canonical None: the bytes are not there (left out, or pruned)."""

    seq: int
    prev: bytes
    hash: bytes
    canonical: bytes | None


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and at which sequence number. code: stable, snake_case."""

    seq: int
    code: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is signed of a chain: its head, and the root over all seals since the checkpoint before. Digests are 64 hex digits.

    Args: prev: digest of the checkpoint before, zeros for the first. at: ISO 8601. key: id of the signing key.
    """

    tenant: str
    from_seq: int
    seq: int
    hash: str
    root: str
    prev: str
    at: str
    key: str

    def body(self) -> bytes:
        """The canonical bytes that are signed."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return canonical_json({"format": CHECKPOINT_FORMAT, **fields})

    def digest(self) -> bytes:
        """What the signature is over, and what the next checkpoint names as `prev`."""
        return checkpoint_digest(self.body())


def leaf_hash(prev: bytes, canonical: bytes) -> bytes:
    """The hash of a seal: binds the event's bytes to all events before it (GOV-U2)."""
    return hashlib.sha256(LEAF + prev + canonical).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(NODE + left + right).digest()


def checkpoint_digest(body: bytes) -> bytes:
    return hashlib.sha256(CHECKPOINT + body).digest()


def statement_digest(body: bytes) -> bytes:
    """Of what else the ledger's key signs: rotations of the key and stubs of pruned events."""
    return hashlib.sha256(STATEMENT + body).digest()


class MerkleTree:
    """The root over hashes that come one by one, in memory of log n: as RFC 6962 section 2.1, with our own prefixes.

    With all hashes at hand and the root signed, each hash is proven, also where the bytes behind its neighbours are left out.
    """

    def __init__(self) -> None:
        self._peaks: list[tuple[int, bytes]] = []  # (leaves below, hash), sizes falling

    def add(self, leaf: bytes) -> None:
        size, node = 1, leaf
        while self._peaks and self._peaks[-1][0] == size:
            node = node_hash(self._peaks.pop()[1], node)
            size *= 2
        self._peaks.append((size, node))

    def root(self) -> bytes:
        """Raises: ValueError without leaves."""
        if not self._peaks:
            raise ValueError("no leaves")
        node = self._peaks[-1][1]
        for _, left in reversed(self._peaks[:-1]):
            node = node_hash(left, node)
        return node


def merkle_root(leaves: Iterable[bytes]) -> bytes:
    tree = MerkleTree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


class ChainCheck:
    """Follows a chain link by link and keeps the first fault of each link (GOV-U9: every leaf is computed again, not only the ends)."""

    def __init__(self, *, after_seq: int = 0, prev: bytes = GENESIS) -> None:
        self.seq, self.prev = after_seq, prev
        self.faults: list[Fault] = []

    def add(self, link: Link) -> Fault | None:
        """One link; the next is expected to follow it whether or not it was sound, so that one fault is named once."""
        code = self._judge(link)
        fault = Fault(self.seq + 1 if code == "seq_gap" else link.seq, code) if code else None
        if fault:
            self.faults.append(fault)
        self.seq, self.prev = link.seq, link.hash
        return fault

    def _judge(self, link: Link) -> str:
        if link.seq > self.seq + 1:
            return "seq_gap"
        if link.seq <= self.seq:
            return "seq_repeated"
        if link.prev != self.prev:
            return "link_broken"
        if link.canonical is not None and leaf_hash(link.prev, link.canonical) != link.hash:
            return "hash_wrong"
        return ""


def verify_chain(links: Iterable[Link], *, after_seq: int = 0, prev: bytes = GENESIS) -> list[Fault]:
    """All faults of a chain, in order; empty when it is whole. Args: after_seq, prev: where the chain is picked up."""
    check = ChainCheck(after_seq=after_seq, prev=prev)
    for link in links:
        check.add(link)
    return check.faults


def judge_checkpoint(checkpoint: Checkpoint, *, prev: str, after_seq: int, head: bytes | None, root: bytes | None) -> str:
    """Why a checkpoint contradicts the chain, or "".

    Args: prev, after_seq: digest and number of the checkpoint before. head, root: of the chain up to `checkpoint.seq`; None when it is shorter.
    """
    if (checkpoint.prev, checkpoint.from_seq) != (prev, after_seq + 1) or checkpoint.seq < checkpoint.from_seq:
        return "checkpoint_chain_broken"
    if head is None or root is None:
        return "checkpoint_beyond_head"
    if (checkpoint.hash, checkpoint.root) != (head.hex(), root.hex()):
        return "checkpoint_differs"
    return ""
