"""Where converted models lie on this host."""

from __future__ import annotations

import os
from pathlib import Path

MODEL_FOLDER_VARIABLE = "RAG4C_MODEL_DIR"


def default_model_folder() -> Path:
    """RAG4C_MODEL_DIR, or `.local/models` below the project (the folder with pyproject.toml), or below the working folder when installed elsewhere."""
    if configured := os.environ.get(MODEL_FOLDER_VARIABLE):
        return Path(configured).expanduser()
    checkout = Path(__file__).resolve().parents[2]
    root = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    return root / ".local" / "models"
