"""The tokenizer gives the ids that the model was trained with, and loses no text on the way."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from rag4c.providers.e5.card import PIECES_FILE
from rag4c.providers.e5.tokenizer import SPECIAL_PIECES, E5Tokenizer, clean_text

UNKNOWN_ID = 3


@pytest.fixture(scope="module")
def tokenizer(model_folder):
    return E5Tokenizer(model_folder / PIECES_FILE)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("query:", [41, 1294, 12]),
        ("passage:", [46692, 12]),
        ("ﬁ ２３", [809, 1105]),
        ("été", [5325]),
        ("\u3000中", [6, 514]),
        ("ก็", [18134]),
    ],
)
def test_known_ids(tokenizer, text, ids):
    assert tokenizer.encode(text) == ids


def test_decomposed_and_composed_text_are_the_same(tokenizer):
    assert tokenizer.encode("e\u0301te\u0301") == tokenizer.encode("été")


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000", "\0\0"])
def test_nothing_gives_no_ids(tokenizer, text):
    assert tokenizer.encode(text) == []


@pytest.mark.parametrize("piece", sorted(SPECIAL_PIECES - {""}))
def test_text_that_spells_a_special_token_is_text(tokenizer, piece):
    assert not set(tokenizer.encode(f"a {piece} b")) & {0, 1, 2, UNKNOWN_ID, 250_001}


def test_a_run_of_unknown_characters_is_one_token(tokenizer):
    assert tokenizer.encode("x𓀀𓀁𓀂x").count(UNKNOWN_ID) == 1
    assert tokenizer.encode("x𓀀x𓀁x").count(UNKNOWN_ID) == 2


def test_R21_nothing_behind_a_nul_is_lost(tokenizer):
    assert tokenizer.encode("annual\0leave") == tokenizer.encode("annual leave")


def test_R21_lone_surrogates_are_replaced_and_pairs_joined():
    assert clean_text("a\ud83db") == "a\ufffdb"
    assert clean_text("a\ude00") == "a\ufffd"
    assert clean_text("\ud83d\ude00") == "😀"


def _compiled_tokenizer(path):
    """The same vocabulary in the `tokenizers` library, as a second opinion."""
    import numpy as np
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    with np.load(path) as arrays:
        borders, blob = arrays["offsets"].tolist(), arrays["blob"].tobytes()
        words = [blob[start:end].decode() for start, end in pairwise(borders)]
        compiled = Tokenizer(models.Unigram(list(zip(words, arrays["scores"].tolist(), strict=True)), unk_id=UNKNOWN_ID, byte_fallback=False))
    compiled.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()])
    compiled.pre_tokenizer = pre_tokenizers.Metaspace()
    return compiled


def test_ids_agree_with_a_compiled_unigram_on_real_paragraphs(tokenizer, model_folder):
    if not (shared := os.environ.get("RAG4C_SHARED")):
        pytest.skip("RAG4C_SHARED is not set")
    compiled = _compiled_tokenizer(model_folder / PIECES_FILE)
    for corpus in ("xquad-en", "xquad-zh"):
        lines = (Path(shared) / "data" / "retrieval" / corpus / "corpus.jsonl").read_text().splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        same = sum(tokenizer.encode(text) == compiled.encode(text).ids for text in texts)
        assert same >= 0.97 * len(texts), corpus  # NFKC of the library and the file's own map differ in a few characters
