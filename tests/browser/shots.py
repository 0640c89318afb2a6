"""`make shots`: walks a running server as a person would and keeps pictures in docs/images/. Needs Chromium; the server is started by this module."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from benchmarks.platform import Kit, temporary_platform
from rag4c.demo import CORPUS
from rag4c.embedded.ports import find_free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUESTIONS = {
    "answer": "How many weeks of paid parental leave does a parent get?",
    "conflict": "How long is the warranty period of the NL-210 precision balance?",
    "abstain": "What is the phone extension of the Leeds front desk?",
    "answer-zh": "苏州办公室的工作时间是几点到几点？",
}


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """Headless Chromium. Raises: RuntimeError when it is not installed."""
    from playwright.sync_api import sync_playwright

    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        raise RuntimeError("Chromium is not installed; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def serve() -> Iterator[str]:
    """A web server of the platform that this process has started; its address."""
    port = find_free_port()
    argv = [
        sys.executable,
        "-m",
        "uvicorn",
        "rag4c.asgi:application",
        "--port",
        str(port),
        "--no-access-log",
        "--log-level",
        "warning",
        "--lifespan",
        "off",
    ]
    process = subprocess.Popen(argv, env=os.environ.copy())
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{base}/healthz").status_code == 200:
                    break
            time.sleep(0.1)
        yield base
    finally:
        process.terminate()
        process.wait(20)


def sign_in(page: Page, base: str, username: str, password: str) -> None:
    page.goto(f"{base}/t/demo/login/")
    page.fill("input[name=username]", username)
    page.fill("input[name=password]", password)
    page.click("main button.button")
    page.wait_for_load_state()


def ask_on_page(page: Page, base: str, question: str) -> None:
    page.goto(f"{base}/")
    page.fill("[name=question]", question)
    page.click("main button.button")
    page.wait_for_url("**/answers/*/", timeout=120_000)


def take_all(kit: Kit, base: str, browser: Browser, passwords: dict[str, str]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(base)
    page.screenshot(path=IMAGES / "start.png")
    sign_in(page, base, "charlie", passwords["charlie"])
    page.screenshot(path=IMAGES / "ask.png")
    for name, question in QUESTIONS.items():
        ask_on_page(page, base, question)
        page.screenshot(path=IMAGES / f"{name}.png", full_page=True)
        if name == "answer":
            address = page.url
            page.goto(f"{address}lifeline/")
            page.screenshot(path=IMAGES / "lifeline.png", full_page=True)
            page.goto(f"{address}citations/1/")
            page.screenshot(path=IMAGES / "citation.png")
    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(address)
    page.screenshot(path=IMAGES / "answer-narrow.png", full_page=True)
    admin = browser.new_context(viewport={"width": 1300, "height": 900}).new_page()
    admin.set_default_timeout(120_000)
    sign_in(admin, base, "alice", passwords["alice"])
    for name, path in (("admin", ""), ("admin-documents", "documents/document/"), ("admin-channels", "retrieval/channel/")):
        admin.goto(f"{base}/admin/{path}")
        admin.wait_for_load_state("networkidle")
        admin.screenshot(path=IMAGES / f"{name}.png")


def main() -> int:
    passwords = {name: secrets.token_urlsafe(12) for name in ("alice", "bob", "charlie")}
    with temporary_platform(passwords) as kit:
        kit.publish(CORPUS, [], slug="handbook")
        with serve() as base, open_browser() as browser:
            take_all(kit, base, browser, passwords)
    sys.stdout.write("".join(f"{path.name}\n" for path in sorted(IMAGES.glob("*.png"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
