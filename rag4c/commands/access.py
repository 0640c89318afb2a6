"""`group`, `unit`, `access`: who belongs where, and who may read what and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_command, emit, host_actor, open_platform
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    import argparse

    from rag4c.kernel.grant import Actor


def add_commands(commands: Any) -> None:
    group = add_command(commands, "group", run_group, "create a group, change its members, put it into another")
    group.add_argument("action", choices=["create", "add", "remove", "nest", "unnest"])
    group.add_argument("group", metavar="SLUG")
    group.add_argument("names", nargs="*", help="user names for add and remove; groups around it for nest and unnest")
    group.add_argument("--name", default="", help="how a new group is shown")
    unit = add_command(commands, "unit", run_unit, "create a unit of the organisation, or move it")
    unit.add_argument("action", choices=["create", "move"])
    unit.add_argument("unit", metavar="SLUG")
    unit.add_argument("--name", default="", help="how a new unit is shown")
    unit.add_argument("--parent", default="", metavar="SLUG", help="the unit that it is part of; empty for the top")
    access = add_command(commands, "access", run_access, "why somebody may read a document or not, and who may")
    access.add_argument("question", choices=["why", "who"])
    access.add_argument(
        "words", nargs="+", metavar="PERSON DOCUMENT", help="why: a user name and a document; who: a document (path, base/path or id)"
    )
    access.add_argument("--at", default="", metavar="TIME", help="ISO 8601, UTC unless it says otherwise; default: now")
    access.add_argument("--purpose", help="what the reader states; default: what the document asks for")


def run_group(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        if arguments.action == "create":
            group_id = tenants.create_group(actor=actor, slug=arguments.group, name=arguments.name or arguments.group)
            emit(arguments, {"id": group_id}, [f"Readers may name it as group:{arguments.group}."])
            return 0
        group_id = tenants.find_group(actor=actor, slug=arguments.group)
        for name in arguments.names:
            _change_group(actor, arguments.action, group_id, name)
    emit(arguments, {"group": group_id, "names": arguments.names}, [f"{arguments.action}: {', '.join(arguments.names) or 'nothing named'}."])
    return 0


def _change_group(actor: Actor, action: str, group_id: Any, name: str) -> None:
    from tenants import api as tenants

    if action in {"add", "remove"}:
        change = tenants.add_to_group if action == "add" else tenants.remove_from_group
        change(actor=actor, group_id=group_id, user_id=tenants.find_user(actor=actor, username=name))
        return
    nest = tenants.nest_group if action == "nest" else tenants.unnest_group
    nest(actor=actor, child_id=group_id, parent_id=tenants.find_group(actor=actor, slug=name))


def run_unit(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        parent_id = tenants.find_unit(actor=actor, slug=arguments.parent) if arguments.parent else None
        if arguments.action == "create":
            unit_id = tenants.create_unit(actor=actor, slug=arguments.unit, name=arguments.name or arguments.unit, parent_id=parent_id)
        else:
            unit_id = tenants.find_unit(actor=actor, slug=arguments.unit)
            tenants.move_unit(actor=actor, unit_id=unit_id, parent_id=parent_id)
    emit(
        arguments,
        {"id": unit_id},
        [f"{arguments.unit} is part of {arguments.parent}." if arguments.parent else f"{arguments.unit} stands at the top."],
    )
    return 0


def run_access(arguments: argparse.Namespace) -> int:
    """Exit code 1 for a person who may not, and for a document that nobody may read."""
    wanted = 2 if arguments.question == "why" else 1
    if len(arguments.words) != wanted:
        raise Invalid("words_wrong", "Write `rag4c access why PERSON DOCUMENT` or `rag4c access who DOCUMENT`.")
    options = {"at": read_time(arguments.at), "purpose": arguments.purpose}
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        document_id, name = tenants.find_subject(actor=actor, text=arguments.words[-1])
        subject = ("document", document_id)
        if arguments.question == "who":
            readers = tenants.who_could_see(actor=actor, subject=subject, **options)
            ways = [(row.name, tenants.say_entrance(row.name, row.through, row.chain)) for row in readers]
            emit(arguments, readers, [way if way.startswith(name) else f"{name}: {way}" for name, way in ways] or ["Nobody."])
            return 0 if readers else 1
        user_id = tenants.find_user(actor=actor, username=arguments.words[0])
        told = tenants.explain_access(actor=actor, user_id=user_id, subject=subject, **options)
        emit(arguments, told, [tenants.say_verdict(told, name), *(f"  {line}" for line in tenants.say_reasons(told))])
    return 0 if told.is_allowed else 1


def read_time(text: str) -> datetime | None:
    """Raises: Invalid("time_invalid")."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise Invalid("time_invalid", "Write a time as 2026-05-31 or 2026-05-31T14:00.") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)
