from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag4c.kernel.errors import Invalid, Unavailable
from retrieval.lexical.packing import PackedRow, digest_rows, pack_segment, unpack_segment
from retrieval.lexical.segments import MAX_CHUNKS, build_segment, hash_term, join_postings, merge_segments
from tests.retrieval_pure.lexical.corpora import draw_chunks

CHUNKS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=8)


def assert_same(left, right):
    for field in dataclasses.fields(left):
        one, two = getattr(left, field.name), getattr(right, field.name)
        assert one.dtype == two.dtype, field.name
        assert np.array_equal(one, two), field.name


def read_tfs(segment, term):
    place = int(segment.terms.searchsorted(hash_term(term)))
    span = slice(segment.starts[place], segment.starts[place + 1])
    return dict(zip(segment.ordinals[span].tolist(), segment.tfs[span].tolist(), strict=True))


def test_a_segment_holds_counts_lengths_and_documents():
    segment = build_segment([["a", "b", "a"], [], ["b"]], [7, 7, 9])
    assert read_tfs(segment, "a") == {0: 2}
    assert read_tfs(segment, "b") == {0: 1, 2: 1}
    assert segment.lengths.tolist() == [3, 0, 1]
    assert segment.doc_numbers.tolist() == [7, 7, 9]
    assert (segment.ordinals.dtype, segment.tfs.dtype) == (np.uint16, np.uint8)


def test_tf_above_a_byte_goes_to_the_overflow_list():
    segment = build_segment([["a"] * 255, ["a"] * 256, ["b"] * 70_000], [0, 1, 2])
    assert read_tfs(segment, "a") == {0: 255, 1: 255}
    overflow = zip(segment.overflow_terms.tolist(), segment.overflow_ordinals.tolist(), segment.overflow_tfs.tolist(), strict=True)
    assert set(overflow) == {(hash_term("a"), 1, 256), (hash_term("b"), 2, 70_000)}
    assert segment.lengths.tolist() == [255, 256, 70_000]


def test_a_segment_takes_65536_chunks_and_not_one_more():
    assert build_segment([["a"]] * MAX_CHUNKS, [0] * MAX_CHUNKS).ordinals.max() == MAX_CHUNKS - 1
    with pytest.raises(Invalid, match="segment_too_large"):
        build_segment([[]] * (MAX_CHUNKS + 1), [0] * (MAX_CHUNKS + 1))
    half = build_segment([["a"]] * (MAX_CHUNKS // 2 + 1), [0] * (MAX_CHUNKS // 2 + 1))
    with pytest.raises(Invalid, match="segment_too_large"):
        merge_segments([half, half])
    assert merge_segments([half, half], np.arange(2 * half.chunk_count) < 2).chunk_count == MAX_CHUNKS
    assert join_postings([half, half]).ordinals.max() == MAX_CHUNKS + 1


def test_chunks_without_a_document_are_refused():
    with pytest.raises(Invalid, match="segment_misaligned"):
        build_segment([["a"]], [])
    with pytest.raises(Invalid, match="segment_misaligned"):
        merge_segments([build_segment([["a"]], [0])], np.zeros(2, np.bool_))


@given(parts=st.lists(CHUNKS, max_size=4), data=st.data())
@settings(deadline=None)
def test_merging_and_dropping_equal_building_anew(parts, data):
    chunks = [chunk * data.draw(st.sampled_from([1, 1, 90])) for part in parts for chunk in part]
    cuts = np.cumsum([0, *map(len, parts)])
    segments = [build_segment(chunks[start:end], range(start, end)) for start, end in pairwise(cuts)]
    drop = np.array(data.draw(st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks))), np.bool_)
    kept = np.flatnonzero(~drop)
    assert_same(merge_segments(segments), build_segment(chunks, range(len(chunks))))
    assert_same(merge_segments(segments, drop), build_segment([chunks[no] for no in kept], kept))


@given(chunks=CHUNKS, factor=st.sampled_from([1, 90]))
@settings(deadline=None)
def test_packing_and_unpacking_gives_the_segment_again(chunks, factor):
    segment = build_segment([chunk * factor for chunk in chunks], range(len(chunks)))
    assert_same(unpack_segment(pack_segment(segment)[::-1]), segment)


def test_rare_terms_share_rows_and_frequent_ones_have_their_own():
    chunks = draw_chunks(1, 1000, term_count=500)
    segment = build_segment(chunks, [no // 8 for no in range(1000)])
    rows = pack_segment(segment)
    frequent = int((segment.document_frequencies > 256).sum())
    rare = len(segment.terms) - frequent
    assert frequent > 3
    assert len(rows) == 1 + frequent + -(-rare // 128)
    assert_same(unpack_segment(rows), segment)


def test_the_digest_of_rows_depends_on_content_alone():
    rows = pack_segment(build_segment([["a", "b"]], [1]))
    assert digest_rows(rows) == digest_rows(pack_segment(build_segment([["b", "a"]], [1]))) == digest_rows(rows[::-1])
    assert digest_rows(rows) != digest_rows(pack_segment(build_segment([["a", "b"]], [2])))


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: [],
        lambda rows: rows[:-1],
        lambda rows: rows[1:],
        lambda rows: [*rows, rows[-1]],
        lambda rows: [*rows[:-1], dataclasses.replace(rows[-1], payload=rows[-1].payload[:-1])],
        lambda rows: [*rows[:-1], dataclasses.replace(rows[-1], payload=rows[-1].payload + b"\0")],
        lambda rows: [PackedRow(0, 0, rows[0].payload[:-3]), *rows[1:]],
        lambda rows: [PackedRow(0, 0, b""), *rows[1:]],
        lambda rows: [rows[0], *(dataclasses.replace(rows[1], no=row.no) for row in rows[1:])],
    ],
)
def test_rows_that_do_not_fit_together_are_refused(damage):
    rows = pack_segment(build_segment(draw_chunks(2, 50, term_count=400), range(50)))
    assert len(rows) > 2
    with pytest.raises(Unavailable, match="lexical_rows_damaged"):
        unpack_segment(damage(rows))


def test_an_ordinal_beyond_the_chunks_is_refused():
    head, row = pack_segment(build_segment([["a"], ["a"]], [0, 1]))
    altered = row.payload[:-4] + (9).to_bytes(2, "little") + row.payload[-2:]  # two ordinals, then two tf bytes
    with pytest.raises(Unavailable, match="lexical_rows_damaged"):
        unpack_segment([head, dataclasses.replace(row, payload=altered)])


def test_a_term_in_two_rows_is_refused():
    chunks = [[f"w{no}" for no in range(256)]]
    head, first, second = pack_segment(build_segment(chunks, [0]))
    assert len(first.payload) == len(second.payload)
    with pytest.raises(Unavailable, match="lexical_rows_damaged"):
        unpack_segment([head, first, dataclasses.replace(first, no=second.no)])


def test_pack_round_trip_of_neighbouring_hashes_at_both_ends_of_the_range():
    """A difference of two signed 64-bit hashes can overflow: order is compared, never subtracted."""
    segment = build_segment([["low", "high"]], [0])
    ends = np.array([np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max - 1], np.int64)
    again = unpack_segment(pack_segment(dataclasses.replace(segment, terms=ends)))
    assert again.terms.tolist() == ends.tolist()
