"""Comparing with golden files. `RAG4C_WRITE_GOLDEN=1` writes them anew; the difference is then read before it is committed."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def matches_golden(name: str, data: str) -> bool:
    """Whether the file holds exactly this text."""
    path = FOLDER / name
    if os.environ.get("RAG4C_WRITE_GOLDEN"):
        path.write_bytes(data.encode())
    return path.read_bytes().decode() == data
