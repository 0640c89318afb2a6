from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.reliability.lab import Lab


@pytest.fixture(scope="package")
def lab(postgres_clones):
    root = Path(tempfile.mkdtemp(prefix="rag4c-lab-"))
    made = Lab(postgres_clones, root)
    yield made
    made.close()
    shutil.rmtree(root, ignore_errors=True)
