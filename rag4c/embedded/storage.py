"""The folder of the embedded services: room on the disk, and the credentials made at the first start."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Conflict, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# a fresh cluster is 40 MB, its write-ahead log may grow to max_wal_size (256 MB), the rest is air for the append-only file
MIN_FREE_BYTES = 512 * 2**20
CREDENTIALS = "credentials.json"


def measure_free_bytes(folder: Path) -> int:
    """What an unprivileged user may still write to the disk that holds `folder`."""
    return shutil.disk_usage(folder).free


def check_disk(folder: Path, free_bytes: Callable[[Path], int] = measure_free_bytes) -> None:
    """Raise Unavailable `disk_full` when less than MIN_FREE_BYTES are free."""
    free = free_bytes(folder)
    if free < MIN_FREE_BYTES:
        need_mb, free_mb = MIN_FREE_BYTES // 2**20, free // 2**20
        raise Unavailable(
            "disk_full",
            f"The disk of {folder} has {free_mb} MB left, {need_mb} MB are needed; free some space and start again.",
            {"free_bytes": free, "needed_bytes": MIN_FREE_BYTES},
        )


def prepare_root(root: Path) -> Path:
    """Create the folder, closed to others; returns it absolute."""
    root = root.absolute()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        usable = os.access(root, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    if not usable:
        raise Conflict("data_folder_owner", f"{root} cannot be written by this user; start as the user who owns it, or choose another folder.")
    return root


def load_credentials(root: Path, names: Sequence[str]) -> dict[str, str]:
    """The passwords by name, made on first use and kept in a file that only its owner can read."""
    path = root / CREDENTIALS
    try:
        known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    except PermissionError as exc:
        raise Conflict("data_folder_owner", f"{path} belongs to another user; start as that user, or choose another folder.") from exc
    except ValueError as exc:
        raise Conflict("credentials_lost", f"{path} is damaged; put it back from a copy, or remove {root} to start anew.") from exc
    missing = [name for name in names if name not in known]
    if missing:
        known |= {name: secrets.token_urlsafe(24) for name in missing}
        write_secret(path, json.dumps(known, indent=1))
    return known


def read_credentials(root: Path) -> dict[str, str]:
    """What is known so far; empty before the first start."""
    return load_credentials(root, [])


def write_secret(path: Path, text: str) -> None:
    """Write a 0600 file whole or not at all."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
