"""The OpenAPI file is the contract (SYS-E23)."""

from __future__ import annotations

from pathlib import Path

import yaml
from django.core.management import call_command

CONTRACT = Path(__file__).parents[2] / "docs" / "openapi.yaml"


def test_SYS_E23_contract_is_what_the_code_says(tmp_path):
    fresh = tmp_path / "openapi.yaml"
    call_command("spectacular", file=str(fresh), validate=True, fail_on_warn=True)
    assert fresh.read_text() == CONTRACT.read_text(), "run: manage.py spectacular --file docs/openapi.yaml"


def test_SYS_E23_every_address_of_the_rest_interface_is_in_it():
    paths = yaml.safe_load(CONTRACT.read_text())["paths"]
    assert {"/api/query", "/api/answers", "/api/documents", "/api/sources", "/v1/ask", "/api/enterprise/approvals"} <= set(paths)
