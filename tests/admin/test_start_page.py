"""The start page: what is queued, stuck and refused, each number equal to the list that it links to."""

from __future__ import annotations

import re

from documents import api as documents
from rag4c.scope.admin import TenantForm
from rag4c.scope.admin_parts import TILES
from rag4c.scope.manager import scope
from tenants.models import User, Workspace
from tests.admin.rows import add_document


def test_every_number_equals_the_list_that_it_links_to(acme, filled, alice):
    with scope(acme.system.grant):
        source = filled["documents.DataSource"]
        for n, state in enumerate(["waiting", "waiting", "waiting", "parsing", "parsing", "completed", "indexing"]):
            add_document(filled, source, source.acl, f"{n}.md", state)
    page = alice.get("/admin/")
    tiles = page.context["tiles"]
    assert len(tiles) == len(TILES)
    for tile in tiles:
        assert alice.get(tile["url"]).context["cl"].result_count == tile["count"], tile["title"]
    counts = {str(tile["title"]): tile["count"] for tile in tiles}
    told = documents.count_jobs(actor=acme.alice)
    assert (counts["Jobs queued"], counts["Jobs running"], counts["Jobs stuck"], counts["Jobs in error"]) == (
        told["queued"],
        told["running"],
        told["stuck"],
        told["error"],
    )
    assert (told["queued"], told["running"], told["stuck"], told["error"]) == (3, 1, 2, 1)
    assert counts["Files refused at the last sync"] == 1
    assert counts["Deliveries that need attention"] == 1


def test_start_page_names_what_was_published_and_what_failed(filled, alice):
    text = alice.get("/admin/").content.decode()
    assert "acme handbook / live: release #1 → #2" in text
    assert "The parser gave up. (parser_failed)" in text
    assert "big.md: The file is too large. (too_large)" in text
    assert "Alice" in text


def test_start_page_of_an_empty_tenant_says_how_to_begin(alice):
    page = alice.get("/admin/")
    assert page.status_code == 200
    assert "Nothing needs you." in page.content.decode()


def test_start_page_shows_nothing_of_another_tenant(alice, foreign):
    page = alice.get("/admin/")
    assert "globex" not in page.content.decode().lower()
    assert sum(tile["count"] for tile in page.context["tiles"]) == 0


def test_navigation_is_by_job(alice):
    text = alice.get("/admin/").content.decode()
    for title in ("Needs attention", "Tenants &amp; people", "Knowledge", "Publication", "Approvals", "Compliance", "Quality", "Operations"):
        assert re.search(rf">\s*{title}\s*<", text), title


def test_tenant_form_validates_constraints_with_fields_outside_the_form(acme):
    class WorkspaceForm(TenantForm):
        class Meta:
            model = Workspace
            fields = ("slug", "name")

    with scope(acme.system.grant):
        form = WorkspaceForm({"slug": "main", "name": "Again"}, instance=Workspace(tenant_id=acme.id))
        assert not form.is_valid()
        assert User.objects.count() == 2
