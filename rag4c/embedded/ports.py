"""Ports on loopback: one that is free, or a plain sentence about the one that is not."""

from __future__ import annotations

import errno
import socket

from rag4c.kernel.errors import Conflict, Invalid

LOOPBACK = "127.0.0.1"


def find_free_port() -> int:
    """A TCP port of loopback that nobody listens on right now; another program may still take it before its use."""
    with socket.socket() as sock:
        sock.bind((LOOPBACK, 0))
        return int(sock.getsockname()[1])


def check_port_free(port: int, *, setting: str = "") -> None:
    """Refuse a port that cannot be listened on.

    Args: setting: the name of the environment variable that chooses the port, for the sentence.
    Raises: Conflict `port_taken`, Invalid `port_refused` (below 1024 without the right, or no port number).
    """
    how = f"set {setting} to another one" if setting else "choose another one"
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that are still closing do not count
        try:
            sock.bind((LOOPBACK, port))
        except OverflowError as exc:
            raise Invalid("port_refused", f"{port} is no port number; {how}.", {"port": port}) from exc
        except OSError as exc:
            if exc.errno == errno.EADDRINUSE:
                raise Conflict("port_taken", f"Port {port} is used by another program; stop it, or {how}.", {"port": port}) from exc
            raise Invalid("port_refused", f"This user may not listen on port {port}; {how}.", {"port": port}) from exc
