"""Alice governs Acme, Bob asks there; Globex is the foreign tenant."""

from __future__ import annotations

import pytest

from rag4c.unfold_settings import UNFOLD
from tests.admin.rows import fill_tenant, sign_in


@pytest.fixture(autouse=True)
def quick(settings, tmp_path):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # four people a test; the slow hash is tested with the log-in
    settings.UNFOLD = UNFOLD
    settings.STATIC_ROOT = tmp_path  # the middleware of static files warns of a folder that is not there


@pytest.fixture
def alice(quick, acme):
    return sign_in("acme", "alice")


@pytest.fixture
def bob(quick, acme):
    return sign_in("acme", "bob")


@pytest.fixture
def filled(acme):
    return fill_tenant(acme)


@pytest.fixture
def foreign(globex):
    return fill_tenant(globex)
