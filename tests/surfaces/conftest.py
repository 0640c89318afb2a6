from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def static_folder(settings, tmp_path):
    """Where collected files would lie: there, and empty, as on a first start."""
    settings.STATIC_ROOT = tmp_path
