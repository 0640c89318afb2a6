from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import retrieval.fusion, retrieval.manifests, retrieval.context.compose, retrieval.context.replay
from datetime import UTC, datetime
import uuid
from rag4c.kernel.grant import Grant
from retrieval.context.compose import compose
from retrieval.context.policy import ask
from retrieval.context.settings import PackSettings
grant = Grant(uuid.UUID(int=1))
result = compose(ask("Why?", grant, asked_at=datetime(2025, 1, 1, tzinfo=UTC)), grant, [], {}, PackSettings(policy_rev="p"))
assert result.reason == "no_evidence"
heavy = {"django", "onnx", "onnxruntime", "openai", "numpy", "tokenizers", "httpx", "requests"} & set(sys.modules)
assert not heavy, heavy
"""


def test_SYS_C8_importing_and_planning_need_no_model_key_or_network():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
