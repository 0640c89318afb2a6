"""`user`, `token`: people of a tenant."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_asking, add_command, asking, emit, host_actor, open_platform

if TYPE_CHECKING:
    import argparse
    import uuid

    from rag4c.kernel.grant import Actor


def add_commands(commands: Any) -> None:
    user = add_command(commands, "user", run_user, "create an account, set a password, clearance or unit, give a role, deactivate or reactivate")
    user.add_argument("action", choices=["create", "service", "password", "grant", "revoke", "clearance", "place", "deactivate", "reactivate"])
    user.add_argument("username")
    user.add_argument("--role", default="member", help="for create, grant and revoke; docs/roles.md lists them")
    user.add_argument("--level", choices=["public", "internal", "confidential", "restricted"], default="internal", help="for clearance")
    user.add_argument("--unit", default="", metavar="SLUG", help="for place; empty ends it")
    user.add_argument("--name", default="", help="how the person is shown")
    token = add_command(commands, "token", run_token, "make an API token for a person; it is shown once")
    token.add_argument("username")
    token.add_argument("--label", default="command line")
    token.add_argument("--days", type=int, default=90)
    add_asking(token)


def run_user(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        if arguments.action in {"create", "service"}:
            return _create(arguments, actor)
        user_id = tenants.find_user(actor=actor, username=arguments.username)
        if arguments.action == "password":
            password = secrets.token_urlsafe(12)
            tenants.change_password(actor=actor, user_id=user_id, password=password)
            emit(arguments, {"password": password}, [f"The new password is: {password}"])
        elif arguments.action in {"grant", "revoke"}:
            _change_role(arguments, actor, user_id)
        else:
            emit(arguments, {"done": arguments.action}, [_change_account(arguments, actor, user_id)])
    return 0


def _create(arguments: argparse.Namespace, actor: Actor) -> int:
    from tenants import api as tenants

    if arguments.action == "service":
        user_id = tenants.create_service_account(actor=actor, username=arguments.username, display_name=arguments.name)
        emit(arguments, {"id": user_id}, [f"{arguments.username} can hold tokens: `rag4c token {arguments.username}`. It never signs in."])
        return 0
    password = secrets.token_urlsafe(12)
    user_id = tenants.create_user(actor=actor, username=arguments.username, password=password, display_name=arguments.name, role=arguments.role)
    line = f"{arguments.username} can sign in at /t/{arguments.tenant}/login/ with: {password}"
    emit(arguments, {"id": user_id, "password": password}, [line])
    return 0


def _change_role(arguments: argparse.Namespace, actor: Actor, user_id: uuid.UUID) -> None:
    from tenants import api as tenants

    if arguments.action == "revoke":
        tenants.revoke_role(actor=actor, user_id=user_id, role=arguments.role)
        warned: tuple[tenants.RoleConflict, ...] = ()
    else:
        warned = tenants.grant_role(actor=actor, user_id=user_id, role=arguments.role)
    lines = [f"Warning: {row.one} and {row.other}: {row.why}" for row in warned]
    emit(arguments, {"role": arguments.role, "warnings": warned}, ["Done.", *lines])


def _change_account(arguments: argparse.Namespace, actor: Actor, user_id: uuid.UUID) -> str:
    from tenants import api as tenants

    if arguments.action == "deactivate":
        tenants.deactivate_user(actor=actor, user_id=user_id)
        return f"{arguments.username} has lost all access."
    if arguments.action == "reactivate":
        tenants.reactivate_user(actor=actor, user_id=user_id)
        return f"{arguments.username} may be used again, without groups, unit, tokens and other roles."
    if arguments.action == "clearance":
        tenants.set_clearance(actor=actor, user_id=user_id, level=tenants.Sensitivity[arguments.level.upper()])
        return f"{arguments.username} reads up to {arguments.level}."
    if arguments.unit:
        tenants.place_in_unit(actor=actor, user_id=user_id, unit_id=tenants.find_unit(actor=actor, slug=arguments.unit))
        return f"{arguments.username} belongs to {arguments.unit}."
    tenants.remove_from_unit(actor=actor, user_id=user_id)
    return f"{arguments.username} belongs to no unit."


def run_token(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = host_actor(arguments)
        user_id = tenants.find_user(actor=actor, username=arguments.username)
        secret = tenants.make_secret(actor.tenant_id)
        with asking(arguments, actor) as asked:
            token = tenants.create_token(actor=actor, user_id=user_id, name=arguments.label, days=arguments.days, secret=secret)
            emit(arguments, token, [token.secret, f"Shown once; ends {token.expires_at:%Y-%m-%d}. Send it as `Authorization: Bearer …`."])
        if asked:
            emit(arguments, {"secret": secret}, [secret, "Shown once; it is worth nothing until the approval is given."])
    return 1 if asked else 0
