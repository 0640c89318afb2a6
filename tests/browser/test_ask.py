"""R01 in a real browser: the quote that is shown, the lines that are marked, and the verified span are one and the same."""

from __future__ import annotations

import secrets

import pytest

from benchmarks.platform import temporary_platform
from tests.browser.shots import ask_on_page, open_browser, serve, sign_in

pytestmark = pytest.mark.browser
PAGE = "# Badges\n\nVisitors get a yellow badge at the reception desk.\n\n## Lost badges\n\nA lost badge costs 12 euros.\n"


def test_R01_quote_marked_lines_and_span_are_one(tmp_path):
    (tmp_path / "badges.md").write_text(PAGE)
    passwords = {name: secrets.token_urlsafe(12) for name in ("alice", "bob", "charlie")}
    with temporary_platform(passwords) as kit:
        kit.publish(tmp_path, [], slug="badges")
        with serve() as base, open_browser() as browser:
            page = browser.new_page()
            page.set_default_timeout(60_000)
            sign_in(page, base, "charlie", passwords["charlie"])
            ask_on_page(page, base, "How much does a lost badge cost?")
            quote = page.locator("blockquote").first.inner_text().strip()
            assert quote == "A lost badge costs 12 euros."
            page.goto(f"{page.url}citations/1/")
            assert page.locator("mark").all_inner_texts() == [quote]
