"""One person's browser in the admin: goes where the menu leads, presses what is there, and reads what is said."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from tests.browser.shots import sign_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page

VIEW: Final[Any] = {"width": 1360, "height": 900}
PATIENCE_S: Final = 120.0


class Desk:
    """Args: pictures: folder that gets one picture for each `shoot`; None takes none."""

    def __init__(self, browser: Browser, base: str, who: tuple[str, str], pictures: Path | None, language: str = "en") -> None:
        self.page: Page = browser.new_context(viewport=VIEW, locale=language, accept_downloads=True).new_page()
        self.page.set_default_timeout(30_000)
        self.base, self.pictures = base, pictures
        sign_in(self.page, base, *who)

    def open(self, section: str, title: str) -> None:
        """By the menu at the side, as people go."""
        self.page.goto(f"{self.base}/admin/")
        link = self.page.locator(f'#nav-sidebar-apps a:has(span:text-is("{title}"))')
        if not link.is_visible():
            self.page.locator("#nav-sidebar-apps h2").filter(has_text=section).click()
        link.click()
        self.page.wait_for_load_state("networkidle")

    def press(self, label: str) -> None:
        """A button above a list or on an object's page."""
        self.page.locator("a.scoped-button").filter(has_text=label).first.click()
        self.page.wait_for_load_state("networkidle")

    def follow(self, text: str = "", row: str = "") -> None:
        """The first link with a text in a row with a text, of the list that is open."""
        self.page.locator("#result_list tbody tr").filter(has_text=row).locator("a").filter(has_text=text).first.click()
        self.page.wait_for_load_state("networkidle")

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            self.page.fill(f"#content [name={name}]", value)

    def choose(self, **fields: str) -> None:
        for name, value in fields.items():
            self.page.select_option(f"#content [name={name}]", value)

    def send(self) -> str:
        """The main button of a form; what the next page says."""
        self.page.locator("#content button.scoped-button-main").click()
        self.page.wait_for_load_state("networkidle")
        return self.read()

    def run_on(self, rows: list[str], action: str) -> None:
        """Ticks rows of a list and runs one of its actions on them."""
        for text in rows:
            self.page.locator("#result_list tr").filter(has_text=text).locator("input.action-select").first.check()
        self.page.select_option("select[name=action]", action)
        self.page.locator("#changelist-actions button[type=submit]").click()
        self.page.wait_for_load_state("networkidle")

    def read(self) -> str:
        """What stands beside the menu, messages first."""
        self.page.wait_for_load_state("networkidle")
        return self.page.locator("#main").inner_text()

    def wait_until(self, is_there: Callable[[str], bool]) -> str:
        """Reads the page again and again, as one who waits does. Raises: TimeoutError."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if is_there(self.read()):
                return self.read()
            time.sleep(0.5)
            self.page.reload()
        raise TimeoutError(self.read())

    def shoot(self, name: str) -> None:
        if self.pictures is not None:
            self.page.wait_for_load_state("networkidle")
            self.page.screenshot(path=self.pictures / f"{name}.png")
