"""R01 in a real browser: the quote that is shown, the lines that are marked, and the verified span are one and the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
PAGE = "# Badges\n\nVisitors get a yellow badge at the reception desk.\n\n## Lost badges\n\nA lost badge costs 12 euros.\n"
SAID = "A lost badge costs 12 euros."


def test_R01_quote_marked_lines_and_span_are_one(tmp_path):
    (tmp_path / "badges.md").write_text(PAGE)
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAG4C_") or name == "RAG4C_MODEL_DIR"}
    words = [sys.executable, "-m", "tests.browser.walk", str(tmp_path), "How much does a lost badge cost?"]
    done = subprocess.run(words, env=env, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"quote": SAID, "marked": [SAID]}
