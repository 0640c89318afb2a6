"""Log-in before the tenant is known, and the two ways a request proves who it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.hashers import check_password, make_password
from rest_framework import authentication, exceptions

from rag4c.kernel.errors import Denied
from rag4c.kernel.grant import Grant
from rag4c.scope.manager import has_scope, scope
from tenants.api import find_token_actor
from tenants.models import User, normalize_username

if TYPE_CHECKING:
    import uuid

    from django.http import HttpRequest
    from rest_framework.request import Request

    from rag4c.kernel.grant import Actor


class TenantBackend:
    """Needs `tenant_id`; the slow hash runs outside any transaction, and takes as long for an unknown name."""

    def authenticate(
        self, request: HttpRequest | None, *, tenant_id: uuid.UUID | None = None, username: str = "", password: str = "", **_: Any
    ) -> User | None:
        user = None
        if tenant_id is not None:
            with scope(Grant(tenant_id)):
                user = User.objects.filter(username_norm=normalize_username(username), is_active=True, kind="person").first()
        if user is None:
            make_password(password)
            return None
        return user if check_password(password, user.password) else None

    def get_user(self, user_id: Any) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True, kind="person").first() if has_scope() else None


class TokenUser:
    """What DRF wants to see of a token's owner."""

    is_authenticated = True

    def __init__(self, actor: Actor) -> None:
        self.pk = actor.user_id


class TokenAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            actor = find_token_actor(secret.strip())
        except Denied as error:
            raise exceptions.AuthenticationFailed from error
        request._request.actor = actor  # type: ignore[attr-defined]  # read by scope.views.actor_of
        return TokenUser(actor), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SessionAuthentication(authentication.SessionAuthentication):
    """DRF's, with CSRF enforced; the actor comes from ActorMiddleware."""

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
