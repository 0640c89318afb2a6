"""`tenant`: the life of tenants, as the host or, with --as, as a platform operator."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_command, emit, open_platform
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    import argparse

    from rag4c.kernel.grant import Actor


def add_commands(commands: Any) -> None:
    tenant = add_command(commands, "tenant", run_tenant, "list, create, suspend, resume or export tenants", tenant=False)
    tenant.add_argument("action", choices=["list", "create", "suspend", "resume", "export"])
    tenant.add_argument("slug", nargs="?", default="")
    tenant.add_argument("--name", default="", help="how a new tenant is shown")
    tenant.add_argument("--admin", default="admin", help="user name of a new tenant's first admin (default: %(default)s)")
    tenant.add_argument("--reason", default="", help="for suspend, 10 to 500 characters")
    tenant.add_argument("--to", type=Path, metavar="FOLDER", help="for export: a new or empty folder")
    tenant.add_argument("--as", dest="username", default="", metavar="USER", help="the platform operator who acts (default: this host)")


def run_tenant(arguments: argparse.Namespace) -> int:
    with open_platform():
        from tenants import api as tenants

        actor = _operator(arguments.username)
        if arguments.action == "list":
            found = tenants.list_tenants(actor=actor)
            emit(arguments, found, [f"{info.slug}: {info.name}, {'in use' if info.is_active else 'suspended'}" for info in found])
            return 0
        if not arguments.slug:
            raise Invalid("words_wrong", f"Name the tenant: `rag4c tenant {arguments.action} SLUG`.")
        if arguments.action == "create":
            return _create(arguments, actor)
        tenant_id = tenants.find_tenant_info(actor=actor, slug=arguments.slug).id
        if arguments.action == "suspend":
            tenants.suspend_tenant(actor=actor, tenant_id=tenant_id, reason=arguments.reason)
            emit(arguments, {"suspended": tenant_id}, ["Suspended: sessions, tokens, sign-in and tasks have stopped."])
        elif arguments.action == "resume":
            tenants.resume_tenant(actor=actor, tenant_id=tenant_id)
            emit(arguments, {"resumed": tenant_id}, ["In use again."])
        else:
            if arguments.to is None:
                raise Invalid("words_wrong", "Say where to: --to FOLDER.")
            done = tenants.export_tenant(actor=actor, tenant_id=tenant_id, folder=arguments.to)
            emit(arguments, done, [f"files={done.files} rows={done.rows} manifest_sha256={done.sha256}"])
    return 0


def _operator(username: str) -> Actor:
    from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
    from tenants import api as tenants

    host = system_actor(PLATFORM_TENANT, channel="cli")
    if not username:
        return host
    return tenants.actor_for_user(tenant_id=PLATFORM_TENANT, user_id=tenants.find_user(actor=host, username=username), channel="cli")


def _create(arguments: argparse.Namespace, actor: Actor) -> int:
    from tenants import api as tenants

    password = secrets.token_urlsafe(12)
    name = arguments.name or arguments.slug.title()
    tenant_id = tenants.found_tenant(actor=actor, slug=arguments.slug, name=name, admin=arguments.admin, password=password)
    line = f"{arguments.admin} can sign in at /t/{arguments.slug}/login/ with: {password}"
    emit(arguments, {"id": tenant_id, "admin": arguments.admin, "password": password}, [line])
    return 0
