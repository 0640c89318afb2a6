"""What commands share: words, output, the platform and the actor."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Any

from rag4c import bootstrap
from rag4c.kernel import env
from rag4c.kernel.errors import Absent, Blocked, DomainError

if TYPE_CHECKING:
    import argparse
    import uuid
    from collections.abc import Callable, Iterator

    from rag4c.kernel.grant import Actor

_acting: list[tuple[str, Actor]] = []  # (command, for whom), so that a refusal can be written down


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help_text: str, *, tenant: bool = True, person: bool = False
) -> argparse.ArgumentParser:
    """A command with the words that all have."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_text, description=help_text)
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    if tenant:
        parser.add_argument("--tenant", default=env.read_str("RAG4C_TENANT"), metavar="SLUG", help="tenant (default: %(default)s)")
    if person:
        parser.add_argument("--as", dest="username", required=True, metavar="USER", help="the person who acts")
    return parser


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def progress(text: str) -> None:
    """On a terminal only: one line that is written over."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def emit(arguments: argparse.Namespace, value: Any, lines: list[str]) -> None:
    """JSON for machines, lines for people."""
    say(json.dumps(plain(value), ensure_ascii=False, default=str) if arguments.json else "\n".join(lines))


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


@contextlib.contextmanager
def open_platform() -> Iterator[bootstrap.Platform]:
    """Services and Django for one command; what this command started is stopped at its end."""
    platform = bootstrap.start_platform()
    try:
        if platform.is_owner:
            bootstrap.convert_model()
            bootstrap.init_database(platform)
        bootstrap.open_django()
        yield platform
    except DomainError as error:
        _note_refusal(error)
        raise
    finally:
        _acting.clear()
        platform.stop()


def _note_refusal(error: DomainError) -> None:
    """Whoever the command acted for, while the database is still there."""
    if _acting:
        from rag4c.scope.refusals import note_refusal

        note_refusal(_acting[-1][1], _acting[-1][0], error)


def find_tenant(slug: str) -> uuid.UUID:
    """Raises: Absent("tenant")."""
    from tenants import api as tenants

    tenant_id = tenants.find_tenant_id(slug)
    if tenant_id is None:
        raise Absent("tenant", f"There is no tenant {slug}; name one with --tenant.")
    return tenant_id


def host_actor(arguments: argparse.Namespace) -> Actor:
    """The operator of this host acting inside a tenant; the ledger names the channel `cli`."""
    from rag4c.kernel.grant import system_actor

    return _act(arguments, system_actor(find_tenant(arguments.tenant), channel="cli"))


def _act(arguments: argparse.Namespace, actor: Actor) -> Actor:
    _acting.append((arguments.command, actor))
    return actor


def person_actor(arguments: argparse.Namespace) -> Actor:
    """The person named by --as, with exactly their grant. Raises: Absent("user")."""
    from tenants import api as tenants

    tenant_id = find_tenant(arguments.tenant)
    host = host_actor(arguments)
    user_id = tenants.find_user(actor=host, username=arguments.username)
    return _act(arguments, tenants.actor_for_user(tenant_id=tenant_id, user_id=user_id, channel="cli"))


def add_asking(parser: argparse.ArgumentParser) -> None:
    """For commands behind a guarded door."""
    parser.add_argument(
        "--ask", metavar="REASON", default="", help="when this needs an approval: ask for it, with this reason of 10 to 500 characters"
    )


@contextlib.contextmanager
def asking(arguments: argparse.Namespace, actor: Actor) -> Iterator[list[uuid.UUID]]:
    """Around a call of a guarded door: with --ask a refusal for want of an approval becomes a request, whose id is in the list afterwards."""
    from rag4c.scope import gate

    asked: list[uuid.UUID] = []
    try:
        yield asked
    except Blocked as error:
        if error.code != "approval_required" or not arguments.ask:
            raise
        asked.append(gate.submit(actor=actor, action=error.data["action"], payload=error.data["payload"], reason=arguments.ask))
        emit(arguments, {"request": asked[0]}, [f"An approval is asked for: {asked[0]}. The change runs by itself when it is given."])
