"""Ways into the surfaces for these tests: a browser that is signed in, and a program with a token."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.test import Client

from tenants import api as tenants
from tests.builders import PASSWORD

if TYPE_CHECKING:
    from django.http import HttpResponse

    from rag4c.kernel.grant import Actor
    from tests.builders import TenantKit

_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]+"')
_PER_REQUEST = {"Date", "X-Request-Id", "Set-Cookie"}


def log_in(slug: str, username: str = "bob", password: str = PASSWORD, client: Client | None = None, **data: str) -> tuple[Client, HttpResponse]:
    client = client or Client()
    return client, client.post(f"/t/{slug}/login/", {"username": username, "password": password, **data})


def browser_of(kit: TenantKit, username: str = "bob") -> Client:
    client, response = log_in(kit.slug, username)
    assert response.status_code == 302
    return client


def program_of(actor: Actor) -> Client:
    token = tenants.create_token(actor=actor, user_id=actor.user_id, name="tests")
    return Client(headers={"authorization": f"Bearer {token.secret}"})


def fingerprint(response: HttpResponse) -> tuple[int, bytes, dict[str, str]]:
    """Everything that a reader can compare: all but the date, the request id and the masked CSRF token."""
    headers = {name: value for name, value in response.items() if name not in _PER_REQUEST}
    return response.status_code, _TOKEN.sub(b"", response.content), headers


def staff_templates() -> list[Path]:
    """The templates under the strict policy: all but the admin's."""
    root = Path(settings.BASE_DIR, "templates")
    return [*root.glob("*.html"), *(root / "tenants").rglob("*.html"), *(root / "verification").rglob("*.html")]
