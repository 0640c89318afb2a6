"""A process that has loaded Django once and forks a child for every call, so that a kill -9 costs a fork and not a start.

It holds no database connection and no model itself: a child inherits nothing that a killed worker would not have lost.
Calls come as JSON lines on standard input, outcomes leave as JSON lines on standard output.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

STORY = "tests.reliability.story"


def main() -> None:
    import django

    django.setup()
    import_module(STORY)
    print(json.dumps({"ready": os.getpid()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(fork_for(json.loads(line))), flush=True)


def fork_for(call: dict[str, Any]) -> dict[str, Any]:
    """Exit code of the child, negative for a signal, and what it returned, None when it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run_and_exit(call, writer)
    os.close(writer)
    with open(reader, "rb") as stream:  # noqa: PTH123  # a descriptor, not a path
        reply = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"exit": code, "result": json.loads(reply) if reply else None}


def _run_and_exit(call: dict[str, Any], writer: int) -> None:
    code = 1
    try:
        os.environ.update(call["env"])
        _use_login(call["db"], call["role"])
        result = getattr(import_module(STORY), call["name"])(**call["arguments"])
        os.write(writer, json.dumps(result, default=str).encode())
        code = 0
    except BaseException:  # noqa: BLE001  # the child's rim: told to the parent, whatever it was
        os.write(writer, json.dumps({"error": traceback.format_exc()}).encode())
    finally:
        os._exit(code)


def _use_login(database: str, role: str) -> None:
    from django.db import connections

    settings = connections.settings["default"]
    settings.update(NAME=database, USER=f"rag4c_{role}", PASSWORD=os.environ[f"RAG4C_DB_PASSWORD_{role.upper()}"])
    if role != "app":
        settings["OPTIONS"] = {}
    os.environ.update(RAG4C_DB_NAME=database, RAG4C_DB_ROLE=role)
    Path(os.environ["RAG4C_HOME"]).mkdir(parents=True, exist_ok=True)


if __name__ == "__main__":
    main()
