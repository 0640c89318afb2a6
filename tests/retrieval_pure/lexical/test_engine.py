from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag4c.kernel.errors import Invalid
from retrieval.lexical import engine
from retrieval.lexical.backend import ViewBackend
from tests.retrieval_pure.lexical.corpora import (
    EVERY_TERM_DENSE,
    LAYOUTS,
    NO_TERM_DENSE,
    assert_best,
    draw_chunks,
    index_chunks,
    score_by_hand,
)

TERMS = st.sampled_from("abcdefg")
CHUNKS = st.lists(st.lists(TERMS, max_size=12), max_size=12)
QUERY = st.lists(st.sampled_from("abcdefgz"), max_size=6)


def search(index, visible, query, k=10):
    return index.search(query, index.make_mask(np.asarray(visible, np.bool_)), k)


@pytest.fixture
def early_stop(monkeypatch):
    """Small corpora go the way of large ones: frequent terms are left out as soon as bounds allow."""
    monkeypatch.setattr(engine, "_SMALL_CHUNKS", 0)


@given(parts=st.lists(CHUNKS, max_size=3), query=QUERY, k=st.integers(1, 8), layout=st.sampled_from(LAYOUTS), data=st.data())
@settings(deadline=None, max_examples=300)
def test_search_equals_brute_force_under_any_mask(parts, query, k, layout, data):
    chunks = [chunk for part in parts for chunk in part]
    visible = data.draw(st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks)))
    hits = search(index_chunks(parts, layout), visible, query, k)
    assert_best(hits, score_by_hand(chunks, visible, query), k)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.05])
def test_search_equals_brute_force_where_frequent_terms_are_left_out(layout, share, early_stop):
    for seed in range(6):
        chunks = draw_chunks(seed, 1500)
        visible = np.random.default_rng(seed).random(len(chunks)) < share
        index = index_chunks([chunks[:1100], chunks[1100:1400], chunks[1400:]], layout)
        for query in (["w40", "w0", "w1", "w2"], ["w55", "w30", "w0"], ["w0"], ["w59", "w58", "w57", "w3", "w3"], [f"w{no}" for no in range(40)]):
            for k in (1, 5, 100):
                assert_best(search(index, visible, query, k), score_by_hand(chunks, visible, query), k)


def test_dense_terms_of_the_default_layout_equal_brute_force(early_stop):
    chunks = draw_chunks(3, 6000, mean_length=6)
    index, visible = index_chunks([chunks]), np.arange(6000) % 3 > 0
    for query in (["w50", "w0", "w1"], ["w0", "w1", "w2"]):
        assert_best(search(index, visible, query, 10), score_by_hand(chunks, visible, query), 10)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_short_chunk_with_only_the_frequent_term_is_not_left_out(layout, early_stop):
    rare, frequent, short = ["rare"] + ["x"] * 164, ["frequent"] + ["x"] * 49, ["frequent"]
    chunks = [rare] * 150 + [frequent] * 690 + [["x"] * 50] * 1150 + [short] * 10
    hits = search(index_chunks([chunks], layout), [True] * 2000, ["rare", "frequent"], 5)
    assert [hit.ordinal for hit in hits] == [1990, 1991, 1992, 1993, 1994]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_hidden_chunks_change_no_bit_of_the_hits(layout, early_stop):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        visible = rng.random(900) < 0.3
        kept = np.flatnonzero(visible)
        shown = draw_chunks(seed, len(kept))
        # What is rare among the visible is frequent among the hidden, so that terms come in another order of cost.
        chunks = [[f"w{59 - int(word[1:])}" for word in chunk] for chunk in draw_chunks(seed + 50, 900)]
        for no, chunk in zip(kept, shown, strict=True):
            chunks[no] = chunk
        masked, alone = index_chunks([chunks], layout), index_chunks([shown], layout)
        for query in (["w20", "w0", "w1"], [f"w{no}" for no in (0, 1, 2, 2, 5, 9, 14, 22, 31)]):
            expected = [(hit.score, int(kept[hit.ordinal])) for hit in search(alone, np.ones(len(kept)), query, 50)]
            assert [(hit.score, hit.ordinal) for hit in search(masked, visible, query, 50)] == expected


def test_hidden_text_cannot_be_probed_by_a_term_that_only_it_has():
    index = index_chunks([[["pay", "secret"], ["pay"], ["leave"]]])
    visible = [False, True, True]
    assert search(index, visible, ["secret"]) == []
    assert search(index, visible, ["pay", "secret"]) == search(index, visible, ["pay"])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tf", [254, 255, 256, 300, 70_000])
def test_tf_above_a_byte_is_exact(layout, tf):
    parts = [[["a"] * 255 + ["b"] * 9, ["a"] * tf, ["b"]], [["a"] * 256 + ["c"], ["a"] * tf + ["b"] * 500]]
    chunks = [chunk for part in parts for chunk in part]
    for query in (["a"], ["a", "b"]):
        assert_best(search(index_chunks(parts, layout), [True] * 5, query), score_by_hand(chunks, [True] * 5, query), 10)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tf_above_a_byte_decides_who_is_best(layout):
    chunks = [["a"] * 255 + ["b"] * 45, ["a"] * 70_000]
    assert [hit.ordinal for hit in search(index_chunks([chunks], layout), [True, True], ["a"], 1)] == [1]


def test_ties_come_by_ordinal():
    chunks = [["a", "b"]] * 300
    for layout in (NO_TERM_DENSE, EVERY_TERM_DENSE):
        index = index_chunks([chunks[:100], chunks[100:]], layout)
        assert [hit.ordinal for hit in search(index, np.arange(300) % 2 == 1, ["b", "a"], 5)] == [1, 3, 5, 7, 9]


def test_a_repeated_term_counts_as_often_as_it_is_said():
    index = index_chunks([[["a", "b"], ["a"], ["b", "c"]]])
    once, twice = search(index, [True] * 3, ["b"]), search(index, [True] * 3, ["b", "b"])
    assert [hit.score for hit in twice] == [2 * hit.score for hit in once]


def test_SYS_A6_no_hit_when_no_chunk_has_a_term():
    index = index_chunks([[["a"], ["b"]]])
    assert search(index, [True, True], ["z"]) == []
    assert search(index, [True, True], []) == []
    assert search(index, [False, False], ["a"]) == []


def test_an_empty_index_finds_nothing():
    for parts in ([], [[]], [[[], []]]):
        index = index_chunks(parts)
        assert search(index, [True] * index.chunk_count, ["a"]) == []


def test_a_bad_k_or_mask_is_refused():
    index, other = index_chunks([[["a"]], [["a"]]]), index_chunks([[["a"]], [["a"]]])
    with pytest.raises(Invalid, match="k_out_of_range"):
        search(index, [True, True], ["a"], 0)
    with pytest.raises(Invalid, match="mask_misaligned"):
        search(index, [True], ["a"])
    with pytest.raises(Invalid, match="mask_misaligned"):
        index.search(["a"], other.make_mask(np.ones(2, np.bool_)), 1)


def test_one_index_serves_threads_with_different_masks():
    chunks = draw_chunks(9, 2000)
    backend = ViewBackend(index_chunks([chunks]))
    cases = [(np.random.default_rng(no).random(2000) < 0.4, [f"w{no + 10}", "w0", "w1", "w2"]) for no in range(6)]
    expected = [backend.search(query, visible, 20) for visible, query in cases]
    differing = []

    def search_often(no):
        visible, query = cases[no]
        differing.extend(no for _ in range(150) if backend.search(query, visible, 20) != expected[no])

    threads = [threading.Thread(target=search_often, args=(no,)) for no in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert differing == []


def test_a_backend_keeps_askers_apart_and_few_masks():
    backend = ViewBackend(index_chunks([[["a"]] * 60]))
    for no in range(60):
        assert [hit.ordinal for hit in backend.search(["a"], np.arange(60) == no, 5)] == [no]
    assert [hit.ordinal for hit in backend.search(["a"], np.arange(60) == 0, 5)] == [0]
