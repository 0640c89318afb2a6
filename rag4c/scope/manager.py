"""`with scope(grant):` = one short transaction with the tenant set in it. Nothing else may touch the app's connection (GOV-T2)."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.backends.signals import connection_created
from psycopg_pool import PoolTimeout

from rag4c.kernel.errors import Conflict
from rag4c.scope.reasons import OUTSIDE_REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper

    from rag4c.kernel.grant import Grant

_current: ContextVar[Grant | None] = ContextVar("rag4c_grant", default=None)
_outside: ContextVar[str | None] = ContextVar("rag4c_outside", default=None)
_done: ContextVar[set[str] | None] = ContextVar("rag4c_done", default=None)  # of the outermost scope, which is one transaction
_ALWAYS: Final = ("SAVEPOINT", "RELEASE", "ROLLBACK", "SET CONSTRAINTS")


class NoScope(RuntimeError):
    """SQL or a scoped queryset was used outside `with scope(grant):`."""


class ForeignScope(RuntimeError):
    """A scope of another tenant was opened inside a scope."""


def has_scope() -> bool:
    return _current.get() is not None


def current_grant() -> Grant:
    grant = _current.get()
    if grant is None:
        raise NoScope("no scope is open")
    return grant


@contextlib.contextmanager
def scope(grant: Grant, *, using: str = DEFAULT_DB_ALIAS) -> Iterator[Grant]:
    """Open a transaction in which the database shows `grant.tenant_id` only.

    Nested in the same tenant: a savepoint. Another tenant: ForeignScope. A setting made in a savepoint survives its release,
    so the outer value is put back here. When the outermost scope ends, a pooled connection goes back at once; Django would
    keep it to the end of the (perhaps streaming) response.
    """
    connection, outer = connections[using], _current.get()
    changes = outer is None
    if outer is not None and outer.tenant_id != grant.tenant_id:
        raise ForeignScope("a scope of another tenant is open")
    was_atomic = connection.in_atomic_block  # in a scope, or in a test's own transaction
    token, done = _current.set(grant), _done.set(set() if outer is None else _done.get())
    try:
        with transaction.atomic(using=using):
            if changes:
                _set_tenant(connection, str(grant.tenant_id))
            yield grant
            if changes and was_atomic:  # on an error the rollback to the savepoint restores it
                _set_tenant(connection, "")
    except OperationalError as error:
        if not was_atomic and not isinstance(error.__cause__, PoolTimeout):
            _forget_dead(connection, getattr(error.__cause__, "sqlstate", None))
        raise
    finally:
        _current.reset(token)
        _done.reset(done)
        _give_back(connection)


def keep_apart(kind: str, *, never_with: str) -> None:
    """Note that this transaction does `kind`, and refuse when it has done the other: one would be undone when the other fails (GOV-B5).

    Raises: Conflict("transaction_mixes").
    """
    done = _done.get()
    if done is None:
        raise NoScope("no scope is open")
    if never_with in done:
        raise Conflict("transaction_mixes", f"One transaction cannot {kind} and {never_with}; do the two one after the other.")
    done.add(kind)


@contextlib.contextmanager
def outside_scope(reason: str) -> Iterator[None]:
    """SQL that has no tenant: the session store and the look-ups before log-in; `reason` is in `reasons.py`."""
    if reason not in OUTSIDE_REASONS:
        raise NoScope(f"{reason!r} is not a listed reason for SQL outside a scope")
    token = _outside.set(reason)
    try:
        yield
    finally:
        _outside.reset(token)
        _give_back(connections[DEFAULT_DB_ALIAS])


def _set_tenant(connection: BaseDatabaseWrapper, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('rag4c.tenant', %s, true)", [value])


def _give_back(connection: BaseDatabaseWrapper) -> None:
    if not connection.in_atomic_block and connection.settings_dict["OPTIONS"].get("pool"):
        connection.close()  # to the pool; the socket stays open


def _forget_dead(connection: BaseDatabaseWrapper, sqlstate: str | None) -> None:
    """The server went away: one request fails, not one for every pooled connection (health checks stall for seconds instead)."""
    if connection.settings_dict["OPTIONS"].get("pool") and (sqlstate or "08").startswith(("57P", "08")):
        connection.pool.drain()  # type: ignore[attr-defined]  # psycopg pool of the postgresql backend


def refuse_without_scope(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:  # noqa: FBT001  # Django's signature
    """Turns the silent empty result of row-level security into an error (a queryset evaluated too late)."""
    if _current.get() is None and _outside.get() is None and not str(sql).startswith(_ALWAYS):
        raise NoScope(f"SQL outside a scope: {str(sql)[:80]}")
    return execute(sql, params, many, context)


def install() -> None:
    """Called by the AppConfig of rag4c.scope."""
    connection_created.connect(_install_wall, dispatch_uid="rag4c.scope.wall")


def _install_wall(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.settings_dict["USER"] == "rag4c_app" and refuse_without_scope not in connection.execute_wrappers:
        connection.execute_wrappers.append(refuse_without_scope)
