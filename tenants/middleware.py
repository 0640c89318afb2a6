"""request.actor and request.user, read in their own short scope; views open theirs."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser

from rag4c.kernel.errors import Absent
from rag4c.kernel.grant import Grant
from rag4c.scope.manager import scope
from tenants.api import actor_for_user, find_acting_actor
from tenants.models import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from rag4c.kernel.grant import Actor

TENANT_KEY: Final = "_rag4c_tenant"
ACTING_KEY: Final = "_rag4c_acting"  # [tenant id, id of the acting-tenant session]


class ActorMiddleware:
    """Replaces AuthenticationMiddleware: eager, because a lazy request.user would query outside a scope."""

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.user, request.actor, request.acting = AnonymousUser(), None, None  # type: ignore[attr-defined]
        tenant = request.session.get(TENANT_KEY)
        if tenant:
            user, actor = _read_person(request, uuid.UUID(tenant))
            if user is not None and actor is not None:
                actor = _look_into_tenant(request, actor)
                user.rag4c_permissions = actor.grant.permissions
                request.user, request.actor = user, actor  # type: ignore[attr-defined]
        return self.get_response(request)


def _read_person(request: HttpRequest, tenant_id: uuid.UUID) -> tuple[User | None, Actor | None]:
    """A session of a suspended tenant, or of an account that ended, is a stranger's."""
    with scope(Grant(tenant_id)):
        user = get_user(request)
        if not isinstance(user, User):
            return None, None
        try:
            return user, actor_for_user(tenant_id=user.tenant_id, user_id=user.pk)
        except Absent:
            return None, None


def _look_into_tenant(request: HttpRequest, operator: Actor) -> Actor:
    """The operator inside the tenant of their acting session; back at home once it is over."""
    acting = request.session.get(ACTING_KEY)
    if not acting:
        return operator
    found = find_acting_actor(operator=operator, tenant_id=uuid.UUID(acting[0]), session_id=uuid.UUID(acting[1]))
    if found is None:
        del request.session[ACTING_KEY]
        return operator
    request.acting = found[1]  # type: ignore[attr-defined]  # what the banner tells
    return found[0]
