"""Parses files in a child process with hard limits, so that no file can take the worker down with it."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from documents.parsing.contract import ParseLimits
from documents.parsing.wire import LENGTH, frame, load_extract
from documents.parsing.worker import EXIT_MEMORY, FOLDER_PREFIX, ProcessLimits
from rag4c.kernel import clock
from rag4c.kernel.errors import Permanent

if TYPE_CHECKING:
    from types import TracebackType

    from documents.parsing.contract import Extract

_ROOT = Path(__file__).resolve().parents[2]
_START = "import sys; sys.path.insert(0, sys.argv[1]); from documents.parsing.worker import main; main(sys.argv[2])"
_MAX_REPLY_BYTES = 1 << 29
_PIECE_BYTES = 1 << 16
_LIMIT_SIGNALS = frozenset({signal.SIGABRT, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGKILL})  # a SIGKILL that is not ours comes from the kernel
_MESSAGES = {
    "timeout": "The file took too long to read. Split it and add the parts.",
    "resource_limit": "The file needed more memory or computing time than is allowed. Split it and add the parts.",
    "parser_crashed": "The file could not be read: its parser failed on it. Save it again, or in another format, and add that.",
}


class ParserPool:
    """One child for up to `files_per_child` files of one tenant; another tenant needs another pool.

    Safe to use from threads (files wait for each other) and from daemonic worker processes. After a fork the
    new process starts a child of its own.
    """

    def __init__(self, limits: ParseLimits | None = None, process_limits: ProcessLimits | None = None) -> None:
        self._process_limits = process_limits or ProcessLimits()
        self._limits_json = json.dumps({"process": asdict(self._process_limits), "parse": asdict(limits or ParseLimits())})
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def parse(self, data: bytes, path: str) -> Extract:
        """Parses one file; only the extension of `path` reaches the child.

        Raises: Permanent with the code of the refusal, or timeout, resource_limit, parser_crashed.
        """
        with self._lock:
            child = self._ready_child()
            try:
                kind, body = child.ask(frame(f"file{PurePosixPath(path).suffix}".encode("utf-8", "replace"), data), self._process_limits.wall_s)
            except _ChildFailedError as failure:
                self._stop_child()
                raise Permanent(failure.code, _MESSAGES[failure.code]) from None
            if child.files_done >= self._process_limits.files_per_child:
                self._stop_child()
        reply = json.loads(body)
        if kind == b"refused":
            raise Permanent(reply["code"], reply["message"], reply["data"])
        return load_extract(reply)

    def close(self) -> None:
        """Ends the child and removes its folder. The pool may be used again: a new child starts then."""
        with self._lock:
            self._stop_child()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _ready_child(self) -> _Child:
        if self._child is not None and (self._child.owner_pid != os.getpid() or not self._child.is_alive()):
            self._stop_child()
        if self._child is None:
            self._child = _Child(self._limits_json)
        return self._child

    def _stop_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()


class _ChildFailedError(Exception):
    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Child:
    """One process with its pipes and its folder."""

    def __init__(self, limits_json: str) -> None:
        self.owner_pid = os.getpid()
        self.files_done = 0
        self._folder = tempfile.mkdtemp(prefix=FOLDER_PREFIX)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own code, no shell
            [sys.executable, "-I", "-B", "-c", _START, str(_ROOT), limits_json],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env={},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise _ChildFailedError("parser_crashed")
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: bytes, wall_s: float) -> tuple[bytes, bytes]:
        """Sends one request and reads its two-part reply. Raises _ChildFailedError."""
        deadline = clock.monotonic() + wall_s
        self._send(memoryview(request), deadline)
        kind = self._receive(deadline)
        body = self._receive(deadline)
        self.files_done += 1
        return kind, body

    def _send(self, rest: memoryview, deadline: float) -> None:
        while rest:
            self._wait(self._in, select.POLLOUT, deadline)
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def _receive(self, deadline: float) -> bytes:
        size = LENGTH.unpack(self._read(LENGTH.size, deadline))[0]
        if size > _MAX_REPLY_BYTES:
            raise _ChildFailedError("resource_limit")
        return self._read(size, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        pieces, left = [], size
        while left:
            self._wait(self._out, select.POLLIN, deadline)
            piece = os.read(self._out, min(left, _PIECE_BYTES))
            if not piece:
                raise self._ended()
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(max(0.0, deadline - clock.monotonic()) * 1_000):
            raise _ChildFailedError("timeout")

    def _ended(self) -> _ChildFailedError:
        """Why the child closed its pipe: join first, then read the exit code."""
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return _ChildFailedError("parser_crashed")
        is_limit = code == EXIT_MEMORY or (code < 0 and signal.Signals(-code) in _LIMIT_SIGNALS)
        return _ChildFailedError("resource_limit" if is_limit else "parser_crashed")

    def stop(self) -> None:
        """Leaves nothing running. In a forked process the child belongs to the parent and only our pipe ends are closed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        if self.owner_pid == os.getpid():
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self._folder, ignore_errors=True)
