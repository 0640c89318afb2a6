from __future__ import annotations

import os
import resource
import threading
import time

import numpy as np
import pytest

from rag4c.kernel.errors import Unavailable
from retrieval.lexical.engine import LexicalIndex
from retrieval.lexical.segments import build_segment, join_postings
from retrieval.lexical.view_cache import ViewCache
from retrieval.lexical.views import View, write_view
from tests.retrieval_pure.lexical.corpora import draw_chunks

PLENTY = 10**9


class Shelf:
    """Segments by name, and which were read."""

    def __init__(self):
        self.segments = {name: build_segment(draw_chunks(no, 40), range(40)) for no, name in enumerate("abc")}
        self.reads = []

    def open_in(self, cache, names):
        def load():
            self.reads.append(names)
            return [self.segments[name] for name in names]

        return cache.open_view(list(names), load)


def find(view, *terms):
    index = LexicalIndex([view])
    return index.search(terms, index.make_mask(np.ones(index.chunk_count, np.bool_)), 5)


@pytest.fixture
def shelf():
    return Shelf()


def view_files(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".view")


def test_a_view_is_made_once_and_found_again_by_another_process(tmp_path, shelf):
    first = shelf.open_in(ViewCache(tmp_path, PLENTY), "ab")
    cache = ViewCache(tmp_path, PLENTY)
    again = shelf.open_in(cache, "ab")
    assert shelf.open_in(cache, "ab") is again
    assert shelf.reads == ["ab"]
    assert again.chunk_count == 80
    assert find(again, "w1", "w30") == find(first, "w1", "w30")


def test_the_order_of_segments_is_part_of_the_name(tmp_path, shelf):
    cache = ViewCache(tmp_path, PLENTY)
    assert shelf.open_in(cache, "ab").lengths.tolist() != shelf.open_in(cache, "ba").lengths.tolist()


@pytest.mark.parametrize("cut", [0, 5, 31, 40, 700, -1])
def test_a_truncated_view_is_made_anew(tmp_path, shelf, cut):
    expected = find(shelf.open_in(ViewCache(tmp_path, PLENTY), "a"), "w1", "w30")
    [path] = view_files(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    assert find(shelf.open_in(ViewCache(tmp_path, PLENTY), "a"), "w1", "w30") == expected
    assert shelf.reads == ["a", "a"]


@pytest.mark.parametrize("at", [0, 9, 20, 60, 2000, -70])
def test_an_altered_byte_is_never_served(tmp_path, shelf, at):
    shelf.open_in(ViewCache(tmp_path, PLENTY), "a")
    [path] = view_files(tmp_path)
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(Unavailable, match="lexical_view_damaged"):
        View(path)
    assert shelf.open_in(ViewCache(tmp_path, PLENTY), "a").lengths.tolist() == shelf.segments["a"].lengths.tolist()
    assert shelf.reads == ["a", "a"]


def test_a_file_under_the_name_of_another_view_is_not_served(tmp_path, shelf):
    cache = ViewCache(tmp_path, PLENTY)
    shelf.open_in(cache, "a")
    [path_a] = view_files(tmp_path)
    shelf.open_in(cache, "b")
    [path_b] = set(view_files(tmp_path)) - {path_a}
    path_a.replace(path_b)
    assert shelf.open_in(ViewCache(tmp_path, PLENTY), "b").lengths.tolist() == shelf.segments["b"].lengths.tolist()


def test_the_folder_stays_below_its_bound_and_the_least_recently_opened_goes(tmp_path, shelf):
    sizes, hour_ago = {}, time.time_ns() - 3600 * 10**9
    for no, name in enumerate("abc"):
        before = set(view_files(tmp_path))
        shelf.open_in(ViewCache(tmp_path, PLENTY), name)
        [path] = set(view_files(tmp_path)) - before
        sizes[name] = path, path.stat().st_size
        os.utime(path, ns=(hour_ago + no, hour_ago + no))
    cache = ViewCache(tmp_path, sum(size for _, size in sizes.values()))
    held = shelf.open_in(cache, "a")
    shelf.open_in(cache, "ab")
    assert sum(path.stat().st_size for path in view_files(tmp_path)) <= sum(size for _, size in sizes.values())
    assert not sizes["b"][0].exists()
    assert sizes["a"][0].exists()
    assert find(held, "w1")


def test_a_view_above_the_whole_bound_is_refused_and_leaves_nothing(tmp_path, shelf):
    with pytest.raises(Unavailable, match="lexical_cache_too_small"):
        shelf.open_in(ViewCache(tmp_path, 100), "a")
    assert list(tmp_path.iterdir()) == []


def test_forgetting_a_segment_unlinks_every_view_made_from_it(tmp_path, shelf):
    cache, other_process = ViewCache(tmp_path, PLENTY), ViewCache(tmp_path, PLENTY)
    for names in ("a", "ab", "c"):
        shelf.open_in(cache, names)
        shelf.open_in(other_process, names)
    assert cache.forget_segments(["a"]) == 2
    assert len(view_files(tmp_path)) == 1
    shelf.reads.clear()
    for names in ("ab", "c"):
        shelf.open_in(other_process, names)
    assert shelf.reads == ["ab"]


def test_forgetting_removes_a_damaged_view_too(tmp_path):
    (tmp_path / "x.view").write_bytes(b"unreadable")
    assert ViewCache(tmp_path, PLENTY).forget_segments(["a"]) == 1


def test_a_write_that_fails_leaves_the_old_view_and_no_temporary_file(tmp_path, shelf):
    path = tmp_path / "x.view"
    write_view(path, join_postings([shelf.segments["a"]]), ["a"])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_view(path, join_postings([shelf.segments["b"]]), ["b"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert View(path).segment_digests == ("a",)
    assert list(tmp_path.iterdir()) == [path]


def test_files_of_a_crashed_writer_go_after_an_hour(tmp_path):
    old, young = tmp_path / "x.view.1.1.tmp", tmp_path / "y.view.1.1.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    ViewCache(tmp_path, PLENTY)
    assert [path.name for path in tmp_path.iterdir()] == [young.name]


def test_only_the_owner_can_read_postings(tmp_path, shelf):
    shelf.open_in(ViewCache(tmp_path / "views", PLENTY), "a")
    assert (tmp_path / "views").stat().st_mode & 0o077 == 0
    assert view_files(tmp_path / "views")[0].stat().st_mode & 0o077 == 0


def test_threads_that_open_one_view_make_it_once(tmp_path, shelf):
    cache, opened = ViewCache(tmp_path, PLENTY), []
    threads = [threading.Thread(target=lambda: opened.append(shelf.open_in(cache, "abc"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shelf.reads == ["abc"]
    assert len({id(view) for view in opened}) == 1
