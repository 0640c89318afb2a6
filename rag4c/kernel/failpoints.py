"""Places where a test may kill, raise, sleep or drop the connection: `fp("name")` does nothing unless armed (reliability.md)."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag4c.kernel import env
from rag4c.kernel.errors import Transient

if TYPE_CHECKING:
    from collections.abc import Callable

SLEEP_S: Final = 3600.0
_passes: Counter[str] = Counter()
_drop_connection: list[Callable[[], None]] = []


def on_dropconn(action: Callable[[], None]) -> None:
    """Wiring hands over how to cut the database connection; the kernel knows no database."""
    _drop_connection[:] = [action]


def fp(name: str) -> None:
    """Pass a named point. Armed by RAG4C_FAILPOINTS="a=kill,b=raise@3": at its n-th pass in this process, once over all processes.

    Raises: Transient("failpoint") when armed with `raise`.
    """
    armed = os.environ.get("RAG4C_FAILPOINTS")
    if not armed:
        return
    action, at = _armed(armed, name)
    if not action:
        return
    _passes[name] += 1
    if _passes[name] == at and _fires_first_time(name):
        _do(action, name)


def _armed(spec: str, name: str) -> tuple[str, int]:
    for part in spec.split(","):
        key, _, rest = part.partition("=")
        if key == name:
            action, _, at = rest.partition("@")
            return action, int(at or 1)
    return "", 0


def _fires_first_time(name: str) -> bool:
    folder = env.read_path("RAG4C_FAILPOINT_DIR")
    if folder is None:
        return True
    try:
        (Path(folder) / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _do(action: str, name: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "sleep":
        time.sleep(SLEEP_S)
    elif action == "dropconn":
        for drop in _drop_connection:
            drop()
    elif action == "raise":
        raise Transient("failpoint", f"The failpoint {name} was armed.", {"name": name})
    else:
        raise ValueError(f"unknown failpoint action {action!r}")
