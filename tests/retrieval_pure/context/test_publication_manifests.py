from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Conflict, Invalid
from retrieval.manifests import (
    ManifestHead,
    ManifestItem,
    PublicationManifest,
    apply_diff,
    bucket_of,
    build_tree,
    diff_manifests,
    follow_manifest,
    has_item,
    list_new_buckets,
    make_manifest,
    prove_item,
    read_manifest,
    read_tree,
)

HEAD = ManifestHead(tenant="acme", kb="handbook", seq=1, prev_sha256="", space="space-1", chunk_settings="s1", config_sha256="c1")


def item(doc, rev="1"):
    return ManifestItem(doc, f"{doc}-rev{rev}", sha256_hex(f"{doc} {rev}"))


def many(count, changed=()):
    return [item(f"doc-{at:05}", "2" if at in changed else "1") for at in range(count)]


ITEMS = st.dictionaries(st.sampled_from([f"d{at}" for at in range(12)]), st.sampled_from("123")).map(
    lambda held: [item(*pair) for pair in held.items()]
)


def test_GOV_C1_bytes_are_canonical_and_do_not_depend_on_order():
    manifest = make_manifest(HEAD, [item("b"), item("a")])
    assert manifest == make_manifest(HEAD, [item("a"), item("b")])
    assert manifest.sha256 == sha256_hex(manifest.data)
    assert manifest.data.decode() == (
        '{"chunk_settings":"s1","config_sha256":"c1","expires":null,"items":['
        f'{{"content_sha256":"{sha256_hex("a 1")}","doc":"a","rev":"a-rev1"}},{{"content_sha256":"{sha256_hex("b 1")}","doc":"b","rev":"b-rev1"}}],'
        '"kb":"handbook","prev_sha256":"","seq":1,"space":"space-1","tenant":"acme"}'
    )


@pytest.mark.parametrize(
    "change",
    [{"tenant": "globex"}, {"kb": "k"}, {"space": "s"}, {"chunk_settings": "x"}, {"config_sha256": "x"}, {"expires": "2026-01-01T00:00:00Z"}],
)
def test_GOV_C1_every_field_is_under_the_digest(change):
    assert make_manifest(replace(HEAD, **change), [item("a")]).sha256 != make_manifest(HEAD, [item("a")]).sha256


def test_GOV_C1_manifest_reads_back_as_it_was():
    manifest = make_manifest(HEAD, [item("a"), item("b")])
    assert read_manifest(manifest.data, manifest.sha256) == manifest


def test_GOV_C1_altered_bytes_are_refused():
    manifest = make_manifest(HEAD, [item("a")])
    with pytest.raises(Invalid, match="manifest_altered"):
        read_manifest(manifest.data.replace(b"acme", b"evil"), manifest.sha256)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"{",
        lambda data: b"[]",
        lambda data: b"3",
        lambda data: data.replace(b'"seq":1', b'"seq":"1"'),
        lambda data: data.replace(b'"space"', b'"place"'),
        lambda data: data.replace(b'"rev"', b'"rel"'),
        lambda data: data.replace(b'"doc":"a"', b'"doc":7'),
        lambda data: data.replace(b'"items":[{', b'"items":[3,{'),
        lambda data: data.replace(b'"seq":1', b'"seq": 1'),
    ],
)
def test_GOV_C1_bytes_that_are_no_manifest_are_refused(change):
    data = change(make_manifest(HEAD, [item("a")]).data)
    with pytest.raises(Invalid, match="manifest_malformed"):
        read_manifest(data, sha256_hex(data))


@pytest.mark.parametrize("items", [(item("b"), item("a")), (item("a"), item("a", "2"))])
def test_manifest_with_unordered_or_doubled_documents_is_refused(items):
    with pytest.raises(Invalid, match="manifest_items"):
        PublicationManifest(HEAD, items)


@pytest.mark.parametrize(("change", "code"), [({"seq": 0}, "manifest_seq"), ({"seq": 2}, "manifest_prev"), ({"prev_sha256": "x"}, "manifest_prev")])
def test_GOV_C1_sequence_begins_at_one_and_is_chained(change, code):
    with pytest.raises(Invalid, match=code):
        replace(HEAD, **change)


def test_GOV_C1_following_manifest_is_the_next_number_and_names_its_predecessor():
    first = make_manifest(HEAD, [item("a")])
    second = follow_manifest(first, [item("a", "2")], chunk_settings="s2", expires="2026-01-01T00:00:00Z")
    assert (second.head.seq, second.head.prev_sha256, second.head.chunk_settings, second.head.space) == (2, first.sha256, "s2", "space-1")
    assert follow_manifest(second, []).head.expires == "2026-01-01T00:00:00Z"
    assert follow_manifest(second, [], expires=None).head.expires is None


def test_following_manifest_cannot_change_its_knowledge_base():
    with pytest.raises(Invalid, match="manifest_change"):
        follow_manifest(make_manifest(HEAD, []), [], kb="other")


@given(ITEMS, ITEMS)
def test_GOV_C12_applying_the_difference_gives_the_other(before, after):
    a = make_manifest(HEAD, before)
    b = follow_manifest(a, after, space="space-2")
    there = diff_manifests(a, b)
    assert apply_diff(there, a) == b
    assert apply_diff(diff_manifests(b, a), b) == a
    assert {one.doc for one in there.put}.isdisjoint(there.removed)
    assert set(there.put).isdisjoint(a.items)


def test_GOV_C12_difference_fits_only_the_manifest_it_was_made_from():
    a, b = make_manifest(HEAD, [item("a")]), make_manifest(HEAD, [item("b")])
    with pytest.raises(Conflict, match="diff_base"):
        apply_diff(diff_manifests(a, b), b)


def test_publishing_10_changes_of_10_000_writes_at_most_10_buckets():
    before, after = build_tree(many(10_000)), build_tree(many(10_000, changed=range(0, 10_000, 1_000)))
    written = list_new_buckets(before, after)
    assert 1 <= len(written) <= 10
    assert sum(len(items) for items in written.values()) < 1_000
    assert before.root != after.root
    assert sum(left != right for left, right in zip(before.buckets, after.buckets, strict=True)) == len(written)


def test_leaves_and_nodes_are_hashed_apart():
    one = f'{{"content_sha256":"{sha256_hex("doc-a 1")}","doc":"doc-a","rev":"doc-a-rev1"}}'.encode()
    leaf = sha256(b"\x00" + one).digest()
    tree = build_tree([item("doc-a")])
    assert tree.buckets[bucket_of("doc-a")] == leaf.hex()
    twin = next(f"doc-{at}" for at in range(10_000) if bucket_of(f"doc-{at}") == bucket_of("doc-a"))
    pair = sorted([item("doc-a"), item(twin)])
    leaves = [bytes.fromhex(build_tree([each]).buckets[bucket_of("doc-a")]) for each in pair]
    assert build_tree(pair).buckets[bucket_of("doc-a")] == sha256(b"\x01" + leaves[0] + leaves[1]).hexdigest()


def test_unchanged_items_share_every_bucket():
    assert list_new_buckets(build_tree(many(100)), build_tree(reversed(many(100)))) == {}


@given(ITEMS, ITEMS)
def test_tree_reads_back_from_shared_buckets(before, after):
    old, new = build_tree(before), build_tree(after)
    store = {**old.contents, **list_new_buckets(old, new)}
    assert read_tree(new.buckets, store) == tuple(sorted(after))
    assert (old.root == new.root) == (sorted(before) == sorted(after))


def test_missing_or_altered_bucket_is_refused():
    tree = build_tree([item("a")])
    with pytest.raises(Invalid, match="bucket_missing"):
        read_tree(tree.buckets, {})
    with pytest.raises(Invalid, match="bucket_altered"):
        read_tree(tree.buckets, dict.fromkeys(tree.contents, (item("a", "2"),)))


@pytest.mark.parametrize("count", [1, 2, 3, 700])
def test_every_item_can_be_proved_without_its_neighbours(count):
    tree = build_tree(many(count))
    for one in many(count):
        proof = prove_item(tree, one.doc)
        assert has_item(proof, tree.root)
        assert not has_item(replace(proof, item=replace(one, rev="forged")), tree.root)


def test_proof_of_what_is_not_there_is_refused():
    with pytest.raises(Invalid, match="item_missing"):
        prove_item(build_tree(many(3)), "doc-99999")


def test_buckets_spread_any_kind_of_id():
    counts = [0] * 256
    for at in range(10_000):
        counts[bucket_of(f"doc-{at}")] += 1
    assert 10 < min(counts) <= max(counts) < 80
