"""The child of a parser pool: limits itself, then parses one file after another from its standard input."""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from documents.parsing.contract import ParseLimits
from documents.parsing.registry import parse_bytes
from documents.parsing.wire import LENGTH, dump_extract, frame
from rag4c.kernel.errors import Permanent

FOLDER_PREFIX = "rag4c-parse-"
EXIT_MEMORY = 77  # told apart from a crash by the pool


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What one child may use; CPU and wall time count for each file."""

    memory_bytes: int = 1 << 30
    cpu_s: int = 60
    wall_s: float = 120.0
    open_files: int = 64
    file_bytes: int = 1 << 20
    files_per_child: int = 100


def main(limits_json: str) -> None:
    """Runs until its input ends. `limits_json`: {"process": ProcessLimits, "parse": ParseLimits} as JSON."""
    limits = json.loads(limits_json)
    process, parse = ProcessLimits(**limits["process"]), ParseLimits(**limits["parse"])
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # a library that prints must not speak in our frames
    _limit_process(process)
    while (name := _read_part(source)) is not None:
        data = _read_part(source) or b""
        _limit_cpu(process)
        try:
            reply = _answer(data, name.decode("utf-8", "replace"), parse)
        except MemoryError:
            os._exit(EXIT_MEMORY)
        sink.write(reply)
        sink.flush()
    _remove_folder()


def _remove_folder() -> None:
    """A parent that was killed leaves no folder behind: its end closes our input, and we clear up."""
    folder = Path.cwd()
    if folder.name.startswith(FOLDER_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def _answer(data: bytes, name: str, limits: ParseLimits) -> bytes:
    try:
        return frame(b"extract", dump_extract(parse_bytes(data, name, limits)))
    except RecursionError:
        refusal = {"code": "too_deep", "message": "The file nests its parts too deeply. Save it in a simpler form and add it again.", "data": {}}
    except Permanent as error:
        refusal = {"code": error.code, "message": error.message, "data": error.data}
    return frame(b"refused", json.dumps(refusal).encode())


def _read_part(source: BinaryIO) -> bytes | None:
    head = source.read(LENGTH.size)
    return source.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


def _limit_process(limits: ProcessLimits) -> None:
    most_cpu_s = limits.cpu_s * (limits.files_per_child + 1)
    for kind, soft, hard in (
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s, most_cpu_s),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
    ):
        resource.setrlimit(kind, (soft, hard))


def _limit_cpu(limits: ProcessLimits) -> None:
    """The kernel counts CPU over the life of the child; each file gets its own share on top of what is spent."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    _soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (min(hard, math.ceil(spent.ru_utime + spent.ru_stime) + limits.cpu_s), hard))
