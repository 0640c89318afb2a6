from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag4c.kernel.errors import Invalid
from retrieval.fusion import fuse_min_max, fuse_rrf

RANKINGS = st.dictionaries(st.sampled_from(["dense", "bm25", "graph"]), st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8))


def test_SYS_E6_rrf_gives_the_published_sum():
    first, second, third = fuse_rrf({"dense": ["a", "b"], "bm25": ["b", "c"]})
    assert (first.id, second.id, third.id) == ("b", "a", "c")
    assert first.score == math.fsum([1 / 62, 1 / 61])
    assert (first.ranks, second.ranks) == ({"bm25": 1, "dense": 2}, {"dense": 1})


def test_ties_go_by_id():
    assert [one.id for one in fuse_rrf({"dense": ["z"], "bm25": ["a"], "graph": ["m"]})] == ["a", "m", "z"]


def test_id_named_twice_counts_at_its_first_place():
    assert fuse_rrf({"dense": ["a", "b", "a", "c"]}) == fuse_rrf({"dense": ["a", "b", "c"]})


def test_weight_of_zero_is_not_a_missing_weight():
    scores = {one.id: one.score for one in fuse_rrf({"dense": ["a"], "bm25": ["b"]}, weights={"dense": 0.0})}
    assert scores == {"a": 0.0, "b": 1 / 61}


@pytest.mark.parametrize("weights", [{"graph": 1.0}, {"dense": -1.0}, {"dense": float("nan")}])
def test_weight_that_cannot_be_meant_is_refused(weights):
    with pytest.raises(Invalid, match="fusion_weight"):
        fuse_rrf({"dense": ["a"]}, weights=weights)


def test_k_below_one_is_refused():
    with pytest.raises(Invalid, match="fusion_k"):
        fuse_rrf({"dense": ["a"]}, k=0)


def test_no_lists_give_nothing():
    assert fuse_rrf({}) == fuse_rrf({"dense": []}) == fuse_min_max({"dense": {}}) == ()


@given(RANKINGS)
def test_SYS_E6_order_of_the_lists_never_matters(rankings):
    fused = fuse_rrf(rankings)
    assert fused == fuse_rrf(dict(reversed(rankings.items())))
    assert {one.id for one in fused} == {item for ids in rankings.values() for item in ids}
    assert [(-one.score, one.id) for one in fused] == sorted((-one.score, one.id) for one in fused)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=2))
def test_one_list_keeps_its_order(ids):
    assert [one.id for one in fuse_rrf({"dense": ids})] == ids


def test_min_max_scales_each_list_by_itself():
    fused = fuse_min_max({"dense": {"a": 0.9, "b": 0.5, "c": 0.7}, "bm25": {"b": 30.0, "c": 10.0}}, weights={"bm25": 0.5})
    assert [(one.id, round(one.score, 9)) for one in fused] == [("a", 1.0), ("b", 0.5), ("c", 0.5)]
    assert fused[1].ranks == {"bm25": 1, "dense": 3}


def test_min_max_of_equal_scores_gives_each_a_full_share():
    assert [one.score for one in fuse_min_max({"dense": {"a": 0.0, "b": 0.0}})] == [1.0, 1.0]


def test_min_max_refuses_scores_that_are_no_numbers():
    with pytest.raises(Invalid, match="fusion_score"):
        fuse_min_max({"dense": {"a": float("nan")}})


@given(st.dictionaries(st.sampled_from("abcd"), st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@example({"a": 0.0, "b": 5e-324})
@example({"a": -1.7e308, "b": 1.7e308})
def test_min_max_stays_between_nothing_and_one(scores):
    assert all(0.0 <= one.score <= 1.0 for one in fuse_min_max({"dense": scores}))
