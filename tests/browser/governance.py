"""The walk of a compliance officer through the admin of a platform of its own, by clicks alone; prints what each page said, as JSON."""

from __future__ import annotations

import contextlib
import json
import secrets
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.platform import temporary_platform
from tests.browser.desk import Desk
from tests.browser.shots import IMAGES, open_browser, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

REASON: Final = "The new rule about badges is in force from Monday."
DEEP: Final = "<html><body>" + "<div>" * 2000 + "<p>Too deep.</p>" + "</div>" * 2000 + "</body></html>"
FILES: Final = {
    "badges.md": "# Badges\n\nVisitors get a yellow badge at the reception desk.\n",
    "parking.md": "# Parking\n\nVisitors park on the second floor.\n",
    "map.html": DEEP,
}
Said = dict[str, Any]


class Walk:
    """The three people of the demo tenant: Alice manages knowledge, Bob approves, Charlie is the compliance officer."""

    def __init__(self, browser: Browser, base: str, passwords: dict[str, str], pictures: Path | None) -> None:
        self.alice, self.bob, self.charlie = (Desk(browser, base, (name, passwords[name]), pictures) for name in ("alice", "bob", "charlie"))
        self.said: Said = {}

    def set_policy(self) -> None:
        desk = self.charlie
        desk.open("Approvals", "Action policies")
        desk.follow("channel.release")
        desk.press("Set the policy")
        desk.choose(s1_mode="quorum")
        desk.fill(s1_quorum="2", s1_approvers="role:approver, role:compliance_officer")
        self.said["policy rehearsed"] = desk.send()
        desk.shoot("governance-policy")
        self.said["policy"] = desk.send()

    def be_away(self) -> None:
        """Bob lends his vote and says that he is away; both ends again after the simulation has shown it."""
        day = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%d")
        self.bob.open("Approvals", "Delegations")
        self.bob.press("Delegate my votes")
        self.bob.fill(username="alice", valid_to_0=day, valid_to_1="08:00:00")
        self.said["delegated"] = self.bob.send()
        self.bob.open("Approvals", "Absences")
        self.bob.press("Say that I am away")
        self.bob.fill(valid_to_0=day, valid_to_1="08:00:00")
        self.said["away"] = self.bob.send()

    def simulate(self) -> None:
        desk = self.charlie
        desk.open("Approvals", "Action policies")
        desk.press("Who would have to approve this?")
        desk.choose(action="channel.release")
        desk.fill(username="alice")
        self.said["simulation"] = desk.send()
        desk.shoot("governance-simulation")

    def come_back(self) -> None:
        for title in ("Delegations", "Absences"):
            self.bob.open("Approvals", title)
            self.bob.follow("in force")
            self.bob.press("End")
            self.said[f"ended {title.lower()}"] = self.bob.send()

    def draft(self) -> None:
        """Reads the source again and writes a manifest down, as a knowledge manager does."""
        desk = self.alice
        desk.open("Knowledge", "Sources")
        desk.follow("folder")
        desk.press("Read again now")
        desk.send()
        desk.open("Operations", "Jobs")
        desk.wait_until(lambda text: text.count("completed") >= 3 and "queued" not in text and "running" not in text)
        desk.open("Knowledge", "Knowledge bases")
        desk.follow("Badges")
        desk.press("Draft a manifest")
        self.said["drafted"] = desk.send()

    def ask_release(self) -> None:
        desk = self.alice
        desk.open("Publication", "Manifests")
        desk.follow(row="not served")
        desk.press("Release to a channel")
        desk.choose(channel="live")
        desk.fill(reason=REASON)
        self.said["offered"] = desk.send()
        desk.shoot("governance-approval-offered")
        desk.fill(approval_reason=REASON)
        self.said["asked"] = desk.send()

    def vote_own(self) -> None:
        desk = self.alice
        desk.open("Approvals", "My requests")
        desk.follow("channel.release")
        desk.press("Approve")
        self.said["own vote"] = desk.send()

    def vote(self) -> None:
        """Bob on the request's page and with a comment, Charlie from the list."""
        desk = self.bob
        desk.open("Approvals", "Inbox")
        desk.follow("channel.release")
        self.said["diff"] = desk.read()
        desk.press("Approve")
        desk.fill(comment="Read it; the rule is the one that was agreed.")
        self.said["first vote"] = desk.send()
        desk.shoot("governance-request")
        desk = self.charlie
        desk.open("Approvals", "Inbox")
        desk.run_on(["channel.release"], "approve")
        self.said["second vote"] = desk.send()

    def see_live(self) -> None:
        desk = self.charlie
        desk.open("Approvals", "All requests")
        desk.follow("channel.release")
        self.said["executed"] = desk.wait_until(lambda text: "runs soon" not in text and "runs now" not in text)
        desk.open("Publication", "Channels")
        desk.follow(row="live")
        self.said["channel"] = desk.read()

    def change_readers(self) -> None:
        desk = self.alice
        desk.open("Knowledge", "Documents")
        desk.follow("parking.md")
        desk.press("Set readers")
        desk.fill(readers="user:bob, role:compliance_officer", reason="Only those who run the car park need it.")
        self.said["rehearsed"] = desk.send()
        desk.shoot("governance-readers")
        self.said["readers"] = desk.send()
        desk.open("Tenants & people", "Changes of readers")
        desk.follow()
        self.said["reader diff"] = desk.read()

    def ask_access(self) -> None:
        desk = self.charlie
        desk.open("Tenants & people", "Who may read what")
        desk.fill(document="badges/parking.md", person="alice")
        self.said["why"] = desk.send()
        desk.shoot("governance-access")
        desk.fill(document="badges/parking.md", person="")
        self.said["who"] = desk.send()
        self.alice.open("Tenants & people", "Roles and permissions")
        self.said["matrix"] = self.alice.read()

    def work_task(self) -> None:
        desk = self.charlie
        desk.open("Compliance", "Tasks")
        desk.follow()
        desk.press("Take it")
        self.said["claimed"] = desk.send()
        desk.press("Resolve")
        desk.fill(reason="The map was drawn again and the file replaced.")
        self.said["resolved"] = desk.send()

    def search_audit(self) -> None:
        desk = self.charlie
        desk.open("Compliance", "Ledger")
        desk.press("Keep a search")
        desk.fill(code="approval.*", name="What was approved")
        desk.send()
        desk.open("Compliance", "Saved searches")
        desk.follow("approval.*")
        self.said["found"] = desk.read()
        desk.shoot("governance-ledger")
        desk.follow()

    def export(self, folder: Path) -> None:
        desk = self.charlie
        desk.open("Compliance", "Audit exports")
        desk.press("Export the ledger")
        desk.page.check("input[name=views][value=csv]")
        self.said["export asked"] = desk.send()
        desk.wait_until(lambda text: "done" in desk.page.locator("#result_list tbody").inner_text())
        desk.follow()
        desk.shoot("governance-export")
        with desk.page.expect_download() as arriving:
            desk.page.get_by_role("link", name=".zip").click()
        arriving.value.save_as(folder / "export.zip")

    def take(self, folder: Path) -> Said:
        """All of it, in the order of the day. folder: gets the downloaded export."""
        self.set_policy()
        self.be_away()
        self.simulate()
        self.come_back()
        self.draft()
        self.ask_release()
        self.vote_own()
        self.vote()
        self.see_live()
        self.change_readers()
        self.ask_access()
        self.work_task()
        self.search_audit()
        self.export(folder)
        return self.said


@contextlib.contextmanager
def workers() -> Iterator[None]:
    from rag4c.commands.services import service_programs
    from rag4c.embedded.supervisor import Supervisor

    supervisor = Supervisor(service_programs(None), say=lambda _line: None)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


def write_files(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)


def walk(folder: Path, pictures: Path | None) -> Said:
    """On a platform of its own. Args: folder: gets `docs`, the downloaded `export.zip`, and the public key `public.pem`. pictures: as `Desk`."""
    passwords = {name: secrets.token_urlsafe(12) for name in ("alice", "bob", "charlie")}
    write_files(folder / "docs")
    with temporary_platform(passwords) as kit:
        kit.publish(folder / "docs", [], slug="badges")
        (folder / "docs" / "keys.md").write_text("# Keys\n\nThe key of the archive hangs at the reception desk.\n")
        from rag4c.ledger.api import public_key_path

        with workers(), serve() as base, open_browser() as browser:
            said = Walk(browser, base, passwords, pictures).take(folder)
        (folder / "public.pem").write_bytes(public_key_path().read_bytes())
    return said


def main() -> None:
    """With a folder: the walk for the test. Without: pictures for the documentation."""
    if len(sys.argv) > 1:
        print(json.dumps(walk(Path(sys.argv[1]), None)))
        return
    with tempfile.TemporaryDirectory() as folder:
        walk(Path(folder), IMAGES)


if __name__ == "__main__":
    main()
