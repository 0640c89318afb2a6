"""Where converted models lie on this host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag4c.kernel import env

if TYPE_CHECKING:
    from pathlib import Path


def default_model_folder() -> Path:
    """RAG4C_MODEL_DIR, or the folder `models` of RAG4C_HOME."""
    return env.read_path("RAG4C_MODEL_DIR") or env.home_dir() / "models"
