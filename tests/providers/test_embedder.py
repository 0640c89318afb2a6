"""Vectors: right, of length 1, the same every time, from whole texts or not at all."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rag4c.kernel.errors import Invalid
from rag4c.providers.e5.check import PASSAGES, QUESTIONS, measure_cosines
from rag4c.providers.e5.convert import MIN_COSINE
from rag4c.providers.e5.embedder import MAX_CHARACTERS, MAX_WINDOWS, E5Embedder, split_evenly

LONG = " ".join(f"Clause {number} says that part {number * 7} is kept for {number % 30} days." for number in range(60))


def test_the_conversion_agrees_with_the_original_on_twenty_texts_in_two_languages(model_folder):
    cosines = measure_cosines(model_folder)
    assert len(cosines) == 20
    assert min(cosines) >= MIN_COSINE


def test_rows_are_float32_of_length_one(embedder):
    for vectors in (embedder.embed_queries(QUESTIONS[:3]), embedder.embed_passages([*PASSAGES[:2], LONG])):
        assert vectors.shape == (3, 384)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed_passages([]).shape == (0, 384)


def test_each_question_finds_its_passage_in_its_own_language(embedder):
    questions = [question for index, question in enumerate(QUESTIONS) if index not in (4, 9)]
    wanted = [0, 1, 2, 3, 5, 6, 7, 8]
    assert (embedder.embed_queries(questions) @ embedder.embed_passages(PASSAGES).T).argmax(axis=1).tolist() == wanted


def test_a_question_and_a_passage_of_the_same_words_differ(embedder):
    text = QUESTIONS[0]
    assert float(embedder.embed_queries([text])[0] @ embedder.embed_passages([text])[0]) < 0.999


def test_vectors_do_not_depend_on_order_company_or_run(embedder):
    together = embedder.embed_passages(PASSAGES)
    backwards = embedder.embed_passages(PASSAGES[::-1])[::-1]
    alone = np.concatenate([embedder.embed_passages([text]) for text in PASSAGES])
    assert np.array_equal(together, backwards)
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("text", ["", " \n", "\0", "\u3000"])
def test_empty_text_is_refused_with_its_place(embedder, text):
    with pytest.raises(Invalid) as refusal:
        embedder.embed_passages(["fine", text])
    assert refusal.value.code == "empty_text"
    assert refusal.value.data == {"index": 1}


def test_R21_text_behind_a_nul_counts(embedder):
    with_nul, without, cut = embedder.embed_passages(["annual\0leave of 25 days", "annual leave of 25 days", "annual"])
    assert np.array_equal(with_nul, without)
    assert not np.allclose(with_nul, cut, atol=1e-3)


def test_R21_lone_surrogates_do_not_stop_the_batch(embedder):
    assert np.isfinite(embedder.embed_passages(["price \ud83d list", "fine"])).all()


def test_R16_windows_are_even_and_lose_no_token():
    assert split_evenly(list(range(507)), 507) == [list(range(507))]
    windows = split_evenly(list(range(1100)), 507)
    assert [len(window) for window in windows] == [366, 367, 367]
    assert [token for window in windows for token in window] == list(range(1100))


def test_R16_the_end_of_a_long_text_counts(embedder):
    assert embedder.count_tokens(LONG) > embedder.max_tokens
    text, other_end = embedder.embed_passages([LONG, LONG + " 差旅费由总经理审批。" * 5])
    assert float(text @ other_end) < 0.9999


def test_R16_a_long_text_is_the_weighted_mean_of_its_windows(model_folder, embedder):
    own = E5Embedder(model_folder, threads=1, batch_size=1)
    engine = own._engine()
    windows = split_evenly(engine.tokenizer.encode(LONG), own.max_tokens)
    assert len(windows) > 1
    mean = sum(len(window) * engine.embed_window(window, "passage: ") for window in windows)
    assert np.allclose(embedder.embed_passages([LONG])[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_R16_the_longest_text_of_one_run_is_not_split(embedder):
    words = ["day"] * embedder.max_tokens
    assert embedder.count_tokens(" ".join(words)) == embedder.max_tokens == 512 - 5
    assert np.isfinite(embedder.embed_queries([" ".join(words)])).all()


def test_R16_a_text_beyond_the_cap_is_refused_not_cut(embedder):
    for text in ("day " * (embedder.max_tokens * MAX_WINDOWS + 1), "a" * (MAX_CHARACTERS + 1)):
        with pytest.raises(Invalid) as refusal:
            embedder.embed_passages([text])
        assert refusal.value.code == "text_too_long"


def test_the_space_names_model_tokenizer_and_split_rule(embedder):
    space = embedder.space
    assert (space.model, space.dims, space.max_tokens, space.normalisation) == ("multilingual-e5-small", 384, 512, "l2")
    assert space.version == "convert=1;tokenizer=1;split=even-windows-1"
    assert len(space.model_sha256) == 64


def test_threads_share_one_engine_and_agree(model_folder):
    own = E5Embedder(model_folder, threads=1, batch_size=1)
    expected = own.embed_queries(QUESTIONS[:2])
    fresh = E5Embedder(model_folder, threads=1, batch_size=1)
    results = []
    threads = [threading.Thread(target=lambda: results.append(fresh.embed_queries(QUESTIONS[:2]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fresh._engines) == 1
    assert all(np.array_equal(result, expected) for result in results)
    assert len(results) == 4
