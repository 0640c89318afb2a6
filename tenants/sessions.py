"""Database sessions. The table has no tenant (it is read before the tenant is known), so it holds a digest of the key:
who can read the table cannot use the sessions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from django.contrib.sessions.backends.db import SessionStore as DbStore
from django.utils import timezone

from rag4c.scope.manager import outside_scope

if TYPE_CHECKING:
    from django.contrib.sessions.base_session import AbstractBaseSession


def _digest(key: str | None) -> str:
    return hashlib.blake2b((key or "").encode(), digest_size=20).hexdigest()  # 40 characters: fits session_key


class SessionStore(DbStore):
    def _get_session_from_db(self) -> AbstractBaseSession | None:
        with outside_scope("session"):
            row = self.model.objects.filter(session_key=_digest(self.session_key), expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row

    def exists(self, session_key: str) -> bool:
        with outside_scope("session"):
            return super().exists(_digest(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.session_key = _digest(row.session_key)
        return row

    def save(self, must_create: bool = False) -> None:  # noqa: FBT001, FBT002  # Django's signature
        with outside_scope("session"):
            super().save(must_create=must_create)

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            with outside_scope("session"):
                super().delete(_digest(key))
