"""May this item enter a prompt under this grant? One question, asked by the router and again by the composer (SYS-C1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Invalid
from rag4c.kernel.grant import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from rag4c.kernel.grant import Grant
    from retrieval.context.blocks import Permission

ROUTER, COMPOSER = "router", "composer"
FOREIGN_GRANT = "foreign_grant"


class Permitted(Protocol):
    """What carries a permission: a candidate, or the record of one."""

    @property
    def chunk_id(self) -> str: ...
    @property
    def permission(self) -> Permission: ...
    @property
    def grant_sha256(self) -> str: ...


P = TypeVar("P", bound=Permitted)


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The question as it was asked, tied to the grant it was asked under.

    Args: asked_at: aware; expiry is judged at this time, so that a replay gives the same. grant_sha256: see `ask`.
    """

    text: str
    asked_at: datetime
    grant_sha256: str
    language: str = "und"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One item, refused at one stage. Args: position: 0-based place in the list that this stage was handed."""

    position: int
    chunk_id: str
    stage: str
    code: str


@dataclass(frozen=True, slots=True)
class Routing(Generic[P]):
    """What the router let through and what it refused."""

    selected: tuple[P, ...]
    rejected: tuple[Refusal, ...]


def grant_view(grant: Grant) -> dict[str, object]:
    """The grant as JSON: ids and codes only."""
    return {
        "tenant": str(grant.tenant_id),
        "user": _text_or_none(grant.user_id),
        "workspace": _text_or_none(grant.workspace_id),
        "principals": sorted(grant.principals),
        "permissions": sorted(grant.permissions),
        "clearance": int(grant.clearance),
        "purpose": grant.purpose,
        "task_family": grant.task_family,
        "allowed_tools": sorted(grant.allowed_tools),
        "allow_network": bool(grant.allow_network),
        "acl_rev": grant.acl_rev,
        "as_of": grant.as_of.astimezone(UTC).isoformat() if grant.as_of else None,
    }


@lru_cache(maxsize=256)  # asked twice for every candidate of a question; equal grants have equal views
def grant_digest(grant: Grant) -> str:
    """sha256 of the grant's view: two grants that differ in anything have two digests."""
    return digest_of(grant_view(grant))


def ask(text: str, grant: Grant, *, asked_at: datetime, language: str = "und") -> ContextQuery:
    """The query object that router and composer both get. Raises: Invalid("question_invalid"), Invalid("asked_at")."""
    if not text.strip() or not _is_unicode(text):
        raise Invalid("question_invalid", "Ask a question that is not empty and has no broken characters.")
    if asked_at.tzinfo is None:
        raise Invalid("asked_at", "The time of a question carries its zone.")
    return ContextQuery(text=text, asked_at=asked_at, grant_sha256=grant_digest(grant), language=language)


def policy_denial(item: Permitted, grant: Grant, query: ContextQuery) -> str | None:
    """The code of the first rule that refuses the item, or None. Nothing in a text can change the outcome.

    Args: query: the original object; one built under another grant, or an item gathered under another, is `foreign_grant`.
    Source: SYS-C1, SYS-C2, context.md "QueryGrant".
    """
    digest = grant_digest(grant)
    if query.grant_sha256 != digest or item.grant_sha256 != digest:
        return FOREIGN_GRANT
    return next((code for code, is_broken in _RULES if is_broken(item.permission, grant, query)), None)


def route(items: Iterable[P], grant: Grant, query: ContextQuery, *, stage: str = ROUTER) -> Routing[P]:
    """Split items into those that the grant covers and refusals with their codes; order is kept."""
    selected: list[P] = []
    rejected: list[Refusal] = []
    for position, item in enumerate(items):
        code = policy_denial(item, grant, query)
        if code is None:
            selected.append(item)
        else:
            rejected.append(Refusal(position, item.chunk_id, stage, code))
    return Routing(tuple(selected), tuple(rejected))


def _is_foreign_tenant(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.tenant_id != grant.tenant_id


def _is_outside_acl(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.principals.isdisjoint(grant.principals)


def _is_above_clearance(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.sensitivity > grant.clearance


def _lacks_purpose(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.sensitivity >= Sensitivity.RESTRICTED and not grant.purpose.strip()


def _is_other_workspace(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.workspace_id is not None and item.workspace_id != grant.workspace_id


def _is_other_user(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.user_scope is not None and item.user_scope != grant.user_id


def _is_other_task(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return bool(item.task_family) and item.task_family != grant.task_family


def _needs_other_tools(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return not item.tools <= grant.allowed_tools


def _needs_network(item: Permission, grant: Grant, _query: ContextQuery) -> bool:
    return item.needs_network and not grant.allow_network


def _is_expired(item: Permission, _grant: Grant, query: ContextQuery) -> bool:
    return item.expires_at is not None and item.expires_at <= query.asked_at


_RULES: Final[tuple[tuple[str, Callable[[Permission, Grant, ContextQuery], bool]], ...]] = (
    ("foreign_tenant", _is_foreign_tenant),
    ("acl_denied", _is_outside_acl),
    ("above_clearance", _is_above_clearance),
    ("purpose_missing", _lacks_purpose),
    ("other_workspace", _is_other_workspace),
    ("other_user", _is_other_user),
    ("other_task_family", _is_other_task),
    ("tool_not_allowed", _needs_other_tools),
    ("network_not_allowed", _needs_network),
    ("expired", _is_expired),
)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _text_or_none(value: object | None) -> str | None:
    return None if value is None else str(value)
