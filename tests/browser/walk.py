"""Asks on a page of a platform of its own and prints what a reader sees, as JSON; a process of its own, since settings are read once."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from benchmarks.platform import temporary_platform
from tests.browser.shots import ask_on_page, open_browser, serve, sign_in


def main(folder: Path, question: str) -> None:
    passwords = {name: secrets.token_urlsafe(12) for name in ("alice", "bob", "charlie")}
    with temporary_platform(passwords) as kit:
        kit.publish(folder, [], slug="badges")
        with serve() as base, open_browser() as browser:
            page = browser.new_page()
            page.set_default_timeout(60_000)
            sign_in(page, base, "charlie", passwords["charlie"])
            ask_on_page(page, base, question)
            seen = {"quote": page.locator("blockquote").first.inner_text().strip()}
            page.goto(f"{page.url}citations/1/")
            seen["marked"] = page.locator("mark").all_inner_texts()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
