"""The conversion: once, checked, all or nothing."""

from __future__ import annotations

import json
import shutil
import threading

import pytest

from rag4c.kernel.errors import Absent, Invalid
from rag4c.providers.e5 import convert
from rag4c.providers.e5.card import CARD_FILE, ENCODER_FILE, MODEL_FILES, WORDS_FILE, hash_file, read_card
from rag4c.providers.e5.convert import convert_model, main
from rag4c.providers.e5.embedder import E5Embedder


@pytest.fixture
def copied(model_folder, tmp_path):
    """A models folder of this test alone."""
    shutil.copytree(model_folder, tmp_path / model_folder.name)
    return tmp_path


def _state_of(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_valid_model_is_kept_untouched(copied, model_folder):
    before = _state_of(copied / model_folder.name)
    said = []
    folder = convert_model(copied, said.append)
    assert _state_of(folder) == before
    assert said == ["model is there and valid"]


def test_converting_again_gives_the_same_bytes_and_leaves_no_scratch(model_folder, tmp_path):
    folder = convert_model(tmp_path)
    assert {name: hash_file(folder / name) for name in MODEL_FILES} == read_card(model_folder).files
    assert {path.name for path in tmp_path.iterdir()} == {"e5-small", ".e5-small.lock"}


@pytest.mark.parametrize("name", [CARD_FILE, ENCODER_FILE, WORDS_FILE])
def test_a_damaged_model_is_not_loaded_and_is_made_anew(copied, name):
    path = copied / "e5-small" / name
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(Invalid) as refusal:
        E5Embedder(copied / "e5-small", threads=1, batch_size=1).count_tokens("x")
    assert refusal.value.code == "model_broken"
    assert refusal.value.data == {"file": name}
    convert_model(copied)
    assert E5Embedder(copied / "e5-small", threads=1, batch_size=1).count_tokens("day") == 1


@pytest.mark.parametrize("change", [{"converter_version": 0}, {"files": {}}, {"surplus": 1}])
def test_a_card_of_another_make_is_refused(copied, change):
    path = copied / "e5-small" / CARD_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(Invalid, match="model_broken"):
        read_card(copied / "e5-small")


def test_an_inexact_conversion_is_refused_and_the_old_model_stays(copied, monkeypatch):
    (copied / "e5-small" / CARD_FILE).unlink()
    monkeypatch.setattr(convert, "MIN_COSINE", 0.99999)
    with pytest.raises(Invalid) as refusal:
        convert_model(copied)
    assert refusal.value.code == "conversion_inexact"
    assert (copied / "e5-small" / ENCODER_FILE).is_file()
    assert {path.name for path in copied.iterdir()} == {"e5-small", ".e5-small.lock"}
    with pytest.raises(Absent, match="model_missing"):
        read_card(copied / "e5-small")


def test_of_two_conversions_at_once_one_works_and_one_waits(tmp_path):
    said: list[str] = []
    threads = [threading.Thread(target=convert_model, args=(tmp_path, said.append)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said.count("reading weights") == 1
    assert said[-1] == "model is there and valid"


def test_the_command_prints_the_folder_and_fails_with_a_code(copied, capsys, monkeypatch):
    assert main(["--out", str(copied)]) == 0
    assert capsys.readouterr().out == f"{copied / 'e5-small'}\n"
    (copied / "e5-small" / CARD_FILE).unlink()
    monkeypatch.setattr(convert, "MIN_COSINE", 1.1)
    assert main(["--out", str(copied)]) == 1
    assert capsys.readouterr().err.startswith("conversion_inexact")
