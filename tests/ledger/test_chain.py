"""The rules of the chain by themselves: any change of any link is named at its number."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag4c.ledger import chain
from rag4c.ledger.chain import GENESIS, NO_CHECKPOINT, Checkpoint, Fault, Link, judge_checkpoint, leaf_hash, merkle_root, verify_chain

BODIES = st.lists(st.binary(max_size=40), min_size=1, max_size=12)


def build(bodies, prev=GENESIS, after=0):
    links = []
    for seq, body in enumerate(bodies, after + 1):
        links.append(Link(seq, prev, leaf_hash(prev, body), body))
        prev = links[-1].hash
    return links


def test_GOV_U2_the_hash_is_sha256_over_one_prev_and_the_bytes():
    assert leaf_hash(GENESIS, b"{}") == hashlib.sha256(b"\x01" + bytes(32) + b"{}").digest()


def test_GOV_U3_leaf_node_checkpoint_and_statement_never_share_a_digest():
    left, right = b"l" * 32, b"r" * 32
    digests = {
        chain.leaf_hash(left, right),
        chain.node_hash(left, right),
        chain.checkpoint_digest(left + right),
        chain.statement_digest(left + right),
    }
    assert len(digests) == 4
    assert {chain.LEAF, chain.NODE, chain.CHECKPOINT, chain.STATEMENT} == {b"\x01", b"\x02", b"\x03", b"\x04"}


def split_root(leaves):
    """RFC 6962 section 2.1 as it is written there: the left part is the largest power of two below n."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    return chain.node_hash(split_root(leaves[:half]), split_root(leaves[half:]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=70))
def test_GOV_U3_the_root_is_that_of_rfc_6962(leaves):
    assert merkle_root(leaves) == split_root(leaves)


def test_a_tree_without_leaves_has_no_root():
    with pytest.raises(ValueError, match="no leaves"):
        merkle_root([])


@settings(max_examples=60, deadline=None)
@given(BODIES)
def test_GOV_U9_a_whole_chain_has_no_fault_from_any_start(bodies):
    links = build(bodies)
    assert verify_chain(links) == []
    middle = len(links) // 2
    prev = links[middle - 1].hash if middle else GENESIS
    assert verify_chain(links[middle:], after_seq=middle, prev=prev) == []
    assert verify_chain([replace(link, canonical=None) for link in links]) == []  # left out, but linked


@settings(max_examples=80, deadline=None)
@given(BODIES, st.data())
def test_GOV_U9_any_changed_byte_is_named_at_its_number(bodies, data):
    links = build(bodies)
    at = data.draw(st.integers(0, len(links) - 1))
    name = data.draw(st.sampled_from(["canonical", "hash", "prev"]))
    before = getattr(links[at], name)
    changed = data.draw(st.binary(max_size=40).filter(lambda value: value != before))
    links[at] = replace(links[at], **{name: changed})
    faults = verify_chain(links)
    assert faults[0].seq in {at + 1, at + 2}
    assert faults[0].code == ("link_broken" if name == "prev" else "hash_wrong")
    assert faults[0].seq == at + 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=9), min_size=3, max_size=9), st.data())
def test_GOV_U1_a_missing_and_a_doubled_link_are_named(bodies, data):
    links = build(bodies)
    at = data.draw(st.integers(0, len(links) - 2))
    assert verify_chain(links[:at] + links[at + 1 :])[0] == Fault(at + 1, "seq_gap")
    assert verify_chain([*links[: at + 1], *links[at:]])[0] == Fault(at + 1, "seq_repeated")


def test_GOV_U9_one_fault_is_named_once_and_not_for_all_that_follow():
    links = build([b"a", b"b", b"c", b"d"])
    links[1] = replace(links[1], canonical=b"B")
    assert verify_chain(links) == [Fault(2, "hash_wrong")]


CHECKPOINT = Checkpoint("t", 1, 3, "aa", "bb", NO_CHECKPOINT, "2026-01-02T03:04:05+00:00", "k")


@pytest.mark.parametrize(
    ("change", "head", "root", "code"),
    [({}, b"\xaa", b"\xbb", ""), ({}, b"\xab", b"\xbb", "checkpoint_differs"), ({}, b"\xaa", b"\xbc", "checkpoint_differs"),
     ({}, None, None, "checkpoint_beyond_head"), ({"prev": "1" * 64}, b"\xaa", b"\xbb", "checkpoint_chain_broken"),
     ({"from_seq": 2}, b"\xaa", b"\xbb", "checkpoint_chain_broken"), ({"seq": 0}, b"\xaa", b"\xbb", "checkpoint_chain_broken")],
)  # fmt: skip
def test_GOV_U8_a_checkpoint_is_compared_in_every_part(change, head, root, code):
    assert judge_checkpoint(replace(CHECKPOINT, **change), prev=NO_CHECKPOINT, after_seq=0, head=head, root=root) == code


def test_GOV_U3_every_field_of_a_checkpoint_is_signed():
    digests = {CHECKPOINT.digest()}
    for name in CHECKPOINT.__dataclass_fields__:
        value = getattr(CHECKPOINT, name)
        digests.add(replace(CHECKPOINT, **{name: value + 1 if isinstance(value, int) else f"{value}x"}).digest())
    assert len(digests) == 1 + len(CHECKPOINT.__dataclass_fields__)
