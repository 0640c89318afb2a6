"""request.actor and request.user, read in their own short scope; views open theirs."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser

from rag4c.kernel.grant import Grant
from rag4c.scope.manager import scope
from tenants.api import actor_for_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

TENANT_KEY: Final = "_rag4c_tenant"


class ActorMiddleware:
    """Replaces AuthenticationMiddleware: eager, because a lazy request.user would query outside a scope."""

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.user, request.actor = AnonymousUser(), None  # type: ignore[attr-defined]
        tenant = request.session.get(TENANT_KEY)
        if tenant:
            with scope(Grant(uuid.UUID(tenant))):
                user = get_user(request)
                if user.is_authenticated:
                    actor = actor_for_user(tenant_id=user.tenant_id, user_id=user.pk)
                    user.rag4c_permissions = actor.grant.permissions
                    request.user, request.actor = user, actor  # type: ignore[attr-defined]
        return self.get_response(request)
