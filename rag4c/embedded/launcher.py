"""Postgres refuses to run as root. How a root user starts it all the same without touching the system's users or parent folders."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOBODY = 65534
_SETPRIV = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


@dataclass(frozen=True, slots=True)
class Launcher:
    """A command prefix under which Postgres agrees to run.

    Args: uid: who owns its files, as the system sees it. statement: what a person is told at start, empty when nothing is special.
    """

    name: str
    prefix: tuple[str, ...]
    uid: int
    statement: str = ""


def _find_named_uid() -> int:
    """A uid with a name on this machine, not root's: initdb refuses an id that has none."""
    return next((entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid not in {0, NOBODY}), NOBODY)


# no --fork: unshare execs in place, so the id that we start is the postmaster's
_UNSHARE = ("unshare", "--user", f"--map-user={_find_named_uid()}", f"--map-group={_find_named_uid()}")
NAMESPACE = Launcher(
    "namespace",
    _UNSHARE,
    0,
    "Started by root: Postgres runs in a user namespace of its own; its files stay root's, nothing outside the data folder is changed.",
)
AS_NOBODY = Launcher("nobody", _SETPRIV, NOBODY, f"Started by root: Postgres runs as uid {NOBODY} (nobody), which now owns its data folder.")
# the folder of the project or of its Python may be closed to others (0700): the one right to pass permissions, and no other;
# without the secure bit access(2), which Postgres asks about its own program, would not honour it
AS_NOBODY_PASSING = Launcher(
    "nobody, passing",
    (*_SETPRIV, *(f"--{kind}=-all,+dac_override" for kind in ("bounding-set", "inh-caps", "ambient-caps")), "--securebits=+no_setuid_fixup"),
    NOBODY,
    f"Started by root: Postgres runs as uid {NOBODY} (nobody), which now owns its data folder, "
    "with the capability CAP_DAC_OVERRIDE because the folders above are closed to others.",
)
FOR_ROOT = (NAMESPACE, AS_NOBODY, AS_NOBODY_PASSING)


def choose_launcher(folder: Path, binary: Path, candidates: Sequence[Launcher] = FOR_ROOT) -> Launcher:
    """The first way in which this user can run `binary` and write `folder`; the folder is handed to the uid it needs.

    Raises: Conflict `root_refused` when none works, `data_folder_owner` when an unprivileged user meets another's folder.
    """
    if os.geteuid() != 0:
        if folder.stat().st_uid != os.geteuid():
            raise Conflict("data_folder_owner", f"{folder} belongs to another user; start as that user, or choose another folder.")
        return Launcher("direct", () if _has_name(os.geteuid()) else _UNSHARE, os.geteuid())
    for launcher in candidates:
        give_folder(folder, launcher.uid)
        # setpriv itself may still pass where the program it becomes may not: so ask a program that runs under it
        if _is_working(launcher, ["test", "-w", str(folder), "-a", "-x", str(binary)]) and _is_working(launcher, [str(binary), "--version"]):
            return launcher
    raise Conflict("root_refused", "Postgres does not run as root, and neither unshare nor setpriv works here; start as an unprivileged user.")


def _has_name(uid: int) -> bool:
    """False in containers that run under any number; initdb must then see another one."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def give_folder(folder: Path, uid: int) -> None:
    """Make `uid` the owner of the folder and all in it; nothing to do in the usual case."""
    if uid != os.geteuid():
        folder.parent.chmod(0o711)  # ours, made 0700: its new owner may pass, the credentials there stay 0600
    if folder.stat().st_uid == uid:
        return
    for parent, names, files in os.walk(folder):
        for name in (*names, *files):
            os.chown(os.path.join(parent, name), uid, uid, follow_symlinks=False)  # noqa: PTH118 - Path.chown follows links before 3.13
    os.chown(folder, uid, uid)  # last: an interrupted walk is done again


def _is_working(launcher: Launcher, command: list[str]) -> bool:
    try:
        return subprocess.run([*launcher.prefix, *command], capture_output=True, check=False, cwd="/").returncode == 0
    except FileNotFoundError:
        return False
