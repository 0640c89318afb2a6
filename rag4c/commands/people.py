"""`user`, `token`: people of a tenant."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_asking, add_command, asking, emit, host_actor, open_platform

if TYPE_CHECKING:
    import argparse


def add_commands(commands: Any) -> None:
    user = add_command(commands, "user", run_user, "create a person, set a password, give a role or deactivate")
    user.add_argument("action", choices=["create", "password", "grant", "revoke", "deactivate"])
    user.add_argument("username")
    user.add_argument("--role", default="member", help="member, knowledge_manager, tenant_admin or platform_operator")
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
        if arguments.action == "create":
            password = secrets.token_urlsafe(12)
            user_id = tenants.create_user(
                actor=actor, username=arguments.username, password=password, display_name=arguments.name, role=arguments.role
            )
            emit(
                arguments,
                {"id": user_id, "password": password},
                [f"{arguments.username} can sign in at /t/{arguments.tenant}/login/ with: {password}"],
            )
            return 0
        user_id = tenants.find_user(actor=actor, username=arguments.username)
        if arguments.action == "password":
            password = secrets.token_urlsafe(12)
            tenants.change_password(actor=actor, user_id=user_id, password=password)
            emit(arguments, {"password": password}, [f"The new password is: {password}"])
        elif arguments.action == "deactivate":
            tenants.deactivate_user(actor=actor, user_id=user_id)
            emit(arguments, {"deactivated": True}, [f"{arguments.username} has lost all access."])
        else:
            change = tenants.grant_role if arguments.action == "grant" else tenants.revoke_role
            change(actor=actor, user_id=user_id, role=arguments.role)
            emit(arguments, {"role": arguments.role}, ["Done."])
    return 0


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
