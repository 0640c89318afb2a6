"""The converted model, made once a machine and shared by all runs (RAG4C_MODEL_DIR or `.local/models`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag4c.providers.e5.convert import convert_model
from rag4c.providers.e5.weights import find_weight_file, read_weights
from rag4c.providers.folders import default_model_folder
from rag4c.providers.registry import get_embedder

if TYPE_CHECKING:
    from pathlib import Path

    from rag4c.providers.e5.weights import WeightFile
    from rag4c.providers.protocols import Embedder


@pytest.fixture(scope="session")
def model_folder() -> Path:
    return convert_model(default_model_folder())


@pytest.fixture(scope="session")
def embedder(model_folder: Path) -> Embedder:
    return get_embedder("e5-small")


@pytest.fixture(scope="session")
def weights() -> WeightFile:
    return read_weights(find_weight_file())
