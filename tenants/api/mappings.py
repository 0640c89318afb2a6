"""What the users and groups of a file system are called here, and what words like `group:hr` mean (SYS-G5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models.functions import Now

from rag4c.kernel.errors import Absent, Invalid
from rag4c.kernel.grant import EVERYONE
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import roles
from tenants.models import Group, OrgUnit, User, normalize_username
from tenants.models_access import PrincipalMapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag4c.kernel.grant import Actor

__all__ = [
    "MappingInfo",
    "end_principal_mapping",
    "list_principal_mappings",
    "load_principal_map",
    "map_principal",
    "read_readers",
    "resolve_principals",
]
KINDS: Final = ("user", "group", "other")


@dataclass(frozen=True, slots=True)
class MappingInfo:
    """A mapping in force. external: a number or a name of the file system; `*` for kind `other`."""

    kind: str
    external: str
    principal: str


def resolve_principals(words: Iterable[str]) -> dict[str, str]:
    """word -> principal, for `everyone`, user:NAME, group:SLUG, unit:SLUG and role:CODE; words that name nobody are missing. Inside a scope."""
    wanted = set(words)
    found = {word: word for word in wanted if word.startswith("role:") and word.removeprefix("role:") in roles.PERMISSIONS}
    for kind, rows, field in (("user", User.objects, "username_norm"), ("group", Group.objects, "slug"), ("unit", OrgUnit.objects, "slug")):
        names = {word: word.removeprefix(f"{kind}:") for word in wanted if word.startswith(f"{kind}:")}
        if kind == "user":
            names = {word: normalize_username(name) for word, name in names.items()}
        known = dict(rows.filter(**{f"{field}__in": set(names.values())}).values_list(field, "pk")) if names else {}
        found |= {word: f"{kind}:{known[name]}" for word, name in names.items() if name in known}
    return found | ({"everyone": EVERYONE} if "everyone" in wanted else {})


def read_readers(*, actor: Actor, text: str) -> frozenset[str]:
    """Readers as people write them, separated by commas, as principals; `nobody` and an empty text are nobody.

    Raises: Invalid("reader_unknown") naming the first word that is nobody here: an unknown reader never widens (GOV-B6).
    """
    words = [word for word in (part.strip() for part in text.split(",")) if word and word != "nobody"]
    with scope(actor.grant):
        found = resolve_principals(words)
    if unknown := [word for word in words if word not in found]:
        raise Invalid(
            "reader_unknown", f"{unknown[0][:80]}: a reader is `everyone`, user:NAME, group:SLUG, unit:SLUG or role:CODE, of somebody who exists."
        )
    return frozenset(found.values())


def map_principal(*, actor: Actor, kind: str, external: str, word: str) -> None:
    """Say who a user or group of the file system is here; files follow at the next sync of their source.

    Args: kind: `user`, `group`, or `other` for everybody else. external: a number or a name; `*` for other. word: as in `resolve_principals`.
    Raises: Denied("not_allowed"), Invalid("mapping_invalid" | "reader_unknown").
    """
    check_permission(actor, "acl.manage")
    name = external.strip()
    if kind not in KINDS or not 1 <= len(name) <= 100 or not name.isprintable() or (kind == "other") != (name == "*"):
        raise Invalid("mapping_invalid", "A mapping is for a user or a group by number or name, or for `other` with `*`.")
    with scope(actor.grant), transaction.atomic():
        principal = resolve_principals([word]).get(word)
        if principal is None:
            raise Invalid("reader_unknown", "A reader is `everyone`, user:NAME, group:SLUG, unit:SLUG or role:CODE, of somebody who exists.")
        _close(kind, name)
        row = PrincipalMapping.objects.create(tenant_id=actor.tenant_id, kind=kind, external=name, principal=principal)
        ledger.record(actor, "principal.mapped", subject=("principal_mapping", row.pk), data={"kind": kind, "principal": principal})


def end_principal_mapping(*, actor: Actor, kind: str, external: str) -> None:
    """Nobody reads through this user or group any more, from the next sync on. Raises: Denied("not_allowed"), Absent("mapping")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant), transaction.atomic():
        row = PrincipalMapping.objects.filter(kind=kind, external=external, valid_to__isnull=True).first()
        if row is None or not _close(kind, external):
            raise Absent("mapping", "There is no such mapping.")
        ledger.record(actor, "principal.unmapped", subject=("principal_mapping", row.pk), data={"kind": kind})


def _close(kind: str, external: str) -> int:
    return PrincipalMapping.objects.filter(kind=kind, external=external, valid_to__isnull=True).update(valid_to=Now())


def list_principal_mappings(*, actor: Actor) -> list[MappingInfo]:
    """All in force, by kind and name. Raises: Denied("not_allowed")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant):
        rows = PrincipalMapping.objects.visible_to(actor.grant).filter(valid_to__isnull=True).order_by("kind", "external")
        return [MappingInfo(row.kind, row.external, row.principal) for row in rows]


def load_principal_map() -> dict[tuple[str, str], str]:
    """(kind, external) -> principal. Inside a scope."""
    rows = PrincipalMapping.objects.filter(valid_to__isnull=True).values_list("kind", "external", "principal")
    return {(kind, external): principal for kind, external, principal in rows}
