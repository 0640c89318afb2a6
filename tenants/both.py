"""One transaction in two tenants: an operator's act is recorded where they belong and where it took effect, or nowhere (GOV-T8)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from django.db import transaction

from rag4c.kernel.errors import Denied
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator

    from rag4c.kernel.grant import Actor


@contextlib.contextmanager
def one_transaction() -> Iterator[None]:
    """Around scopes of different tenants, one after the other, never one inside the other: the wall shows one tenant at a time."""
    with transaction.atomic():
        yield


def check_operator(actor: Actor, permission: str) -> None:
    """Raises: Denied("not_allowed") unless the actor is of the platform and may do this."""
    is_host = actor.kind == "system" and actor.tenant_id == PLATFORM_TENANT
    if actor.tenant_id != PLATFORM_TENANT or not (is_host or permission in actor.grant.permissions):
        raise Denied("not_allowed", "Only a platform operator may do this.", {"permission": permission})


def check_operating_person(actor: Actor, permission: str) -> uuid.UUID:
    """Returns the person. Raises: Denied("not_allowed" | "person_needed")."""
    check_operator(actor, permission)
    if actor.user_id is None:
        raise Denied("person_needed", "This is done by a person under their own name, not by the host.")
    return actor.user_id


def recorders(actor: Actor, tenant_id: uuid.UUID) -> tuple[Actor, Actor]:
    """Who writes the event in the tenant and who in the platform: the actor at home, elsewhere the system with the actor in the data."""
    return (
        actor if actor.tenant_id == tenant_id else system_actor(tenant_id, channel=actor.channel),
        actor if actor.tenant_id == PLATFORM_TENANT else system_actor(PLATFORM_TENANT, channel=actor.channel),
    )
