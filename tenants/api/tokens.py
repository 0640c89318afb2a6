"""API tokens: hashed, shown once, expiring, with the tenant in the prefix (tenancy.md "Before the tenant is known")."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models.functions import Now

from rag4c.kernel import clock
from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.errors import Absent, Denied, Invalid
from rag4c.kernel.grant import Grant
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import guarded
from tenants.api.grants import actor_for_user
from tenants.models import ApiToken, User

if TYPE_CHECKING:
    from datetime import datetime

    from rag4c.kernel.grant import Actor

__all__ = ["NewToken", "create_token", "find_token_actor", "make_secret", "open_token", "revoke_token"]
PREFIX: Final = "rag4c"
MAX_DAYS: Final = 365


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made. `secret` is shown once and never stored."""

    id: uuid.UUID
    secret: str
    expires_at: datetime


def make_secret(tenant_id: uuid.UUID) -> str:
    """A new secret with the tenant in its prefix; worth nothing until a token of it is opened."""
    return f"{PREFIX}_{tenant_id.hex}_{secrets.token_urlsafe(32)}"


def create_token(*, actor: Actor, user_id: uuid.UUID, name: str, days: int = 90, secret: str = "") -> NewToken:
    """A bearer token that acts as the person.

    Args: days: 1 to 365. secret: of `make_secret`, for those who must keep it while an approval is awaited; a new one when empty.
    Raises: Denied("not_allowed"), Absent("user"), Invalid("token_days_invalid"), Blocked("approval_required" | "no_policy").
    """
    own = secret or make_secret(actor.tenant_id)
    token = open_token(actor=actor, draft=guarded.TokenDraft(user_id, name[:100], days, sha256_hex(own)))
    return NewToken(token.pk, own, token.expires_at)


def open_token(*, actor: Actor, draft: guarded.TokenDraft) -> ApiToken:
    """Make the token of a digest: what `create_token` does, and the executor after an approval. Raises: as `create_token`."""
    check_permission(actor, "token.create_own" if actor.user_id == draft.user_id else "token.manage")
    if not 1 <= draft.days <= MAX_DAYS:
        raise Invalid("token_days_invalid", f"A token lives 1 to {MAX_DAYS} days.")
    with scope(actor.grant), transaction.atomic():
        if not User.objects.select_for_update().filter(pk=draft.user_id, is_active=True).exists():
            raise Absent("user", "There is no such person.")
        permit = gate.require(guarded.CREATE_TOKEN, actor, draft)
        expires_at = clock.now() + timedelta(days=draft.days)
        token = ApiToken.objects.create(tenant_id=actor.tenant_id, user_id=draft.user_id, name=draft.name, digest=draft.digest, expires_at=expires_at)
        ledger.record(actor, "token.created", subject=("token", token.pk), data={"user": str(draft.user_id), "permit": permit})
    return token


def revoke_token(*, actor: Actor, token_id: uuid.UUID) -> None:
    """End a token at once. Raises: Denied("not_allowed"), Absent("token")."""
    with scope(actor.grant), transaction.atomic():
        token = ApiToken.objects.filter(pk=token_id).first()
        if token is None:
            raise Absent("token", "There is no such token.")
        check_permission(actor, "token.create_own" if actor.user_id == token.user_id else "token.manage")
        if ApiToken.objects.filter(pk=token_id, revoked_at__isnull=True).update(revoked_at=Now()):
            ledger.record(actor, "token.revoked", subject=("token", token_id))


def find_token_actor(secret: str) -> Actor:
    """The actor behind a bearer token; its tenant is read from the prefix, then proven by the digest inside that tenant.

    Raises: Denied("token_invalid") for every kind of wrong: malformed, unknown, foreign, expired, revoked, deactivated.
    """
    parts = secret.split("_", 2)
    try:
        tenant_id = uuid.UUID(hex=parts[1]) if len(parts) == 3 and parts[0] == PREFIX else None
    except ValueError:
        tenant_id = None
    row = None
    if tenant_id is not None:
        with scope(Grant(tenant_id)):
            row = ApiToken.objects.filter(digest=sha256_hex(secret), revoked_at__isnull=True, expires_at__gt=Now()).first()
    if tenant_id is None or row is None:
        raise Denied("token_invalid", "This token is not valid; make a new one.")
    try:
        return actor_for_user(tenant_id=tenant_id, user_id=row.user_id, kind="token", channel="api")
    except Absent as error:
        raise Denied("token_invalid", "This token is not valid; make a new one.") from error
