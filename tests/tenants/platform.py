"""People of the platform's own tenant, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Max

from approvals.models import ActionPolicy
from rag4c.kernel.grant import PLATFORM_TENANT, system_actor
from rag4c.scope.manager import scope
from tests.builders import make_user

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

PLATFORM = system_actor(PLATFORM_TENANT, channel="cli")


def make_operator(name: str) -> Actor:
    return make_user(PLATFORM_TENANT, name, "platform_operator")


def allow_without_second_person(*actions: str) -> None:
    """The explicit "no approval needed" of the platform."""
    with scope(PLATFORM.grant):
        for action in actions:
            highest = ActionPolicy.objects.filter(action=action).aggregate(rev=Max("rev"))["rev"] or 0
            ActionPolicy.objects.create(tenant_id=PLATFORM_TENANT, action=action, rev=highest + 1, mode="none")
