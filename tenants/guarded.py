"""Guarded actions of tenants: their payload is what people approve (GOV-A)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Absent
from rag4c.scope.gate import Change, GuardedAction, declare
from tenants.models import AclChangeSet, RoleAssignment, SupportVisit, User

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor


@dataclass(frozen=True, slots=True)
class AclGrant:
    """What a change of readers gives. payload: frozen when it was proposed; it names who gains (`gains`, `everyone`, `members`)."""

    change_set_id: uuid.UUID
    base_acl_rev: int
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class VisitDraft:
    """An operator's session in a tenant before it is opened. reason: read by the tenant; it stays out of the ledger."""

    tenant_id: uuid.UUID
    reason: str
    minutes: int


@dataclass(frozen=True, slots=True)
class TokenDraft:
    """A token before it exists. digest: of the secret, which only its maker knows."""

    user_id: uuid.UUID
    name: str
    days: int
    digest: str


def find_person(payload: Any) -> User:
    """Raises: Absent("user")."""
    user = User.objects.filter(pk=uuid.UUID(payload["user"])).first()
    if user is None:
        raise Absent("user", "There is no such person.")
    return user


def list_roles(user: User) -> list[str]:
    return sorted(RoleAssignment.objects.filter(user=user, valid_to__isnull=True).values_list("role", flat=True))


def read_person_rev(payload: Any) -> str:
    """Roles and activity: a person who holds something else, or has left, is not whom people approved."""
    user = find_person(payload)
    return digest_of({"active": user.is_active, "roles": list_roles(user)})


def subject_person(payload: Any) -> tuple[str, str]:
    return "user", str(payload["user"])


def who_gains(payload: Any) -> frozenset[uuid.UUID]:
    return frozenset({uuid.UUID(payload["user"])})


def load_grant(payload: Any) -> tuple[uuid.UUID, str]:
    return uuid.UUID(payload["user"]), str(payload["role"])


def describe_grant(payload: Any) -> list[Change]:
    user = find_person(payload)
    held = list_roles(user)
    return [Change(f"Roles of {user}", ", ".join(held), ", ".join(sorted({*held, str(payload["role"])})))]


def execute_grant(actor: Actor, payload: Any) -> None:
    from tenants.api.people import grant_role  # the door imports this module

    user_id, role = load_grant(payload)
    grant_role(actor=actor, user_id=user_id, role=role)


def token_payload(draft: TokenDraft) -> dict[str, Any]:
    return {"user": str(draft.user_id), "name": draft.name, "days": draft.days, "digest": draft.digest}


def load_token(payload: Any) -> TokenDraft:
    return TokenDraft(uuid.UUID(payload["user"]), str(payload["name"]), int(payload["days"]), str(payload["digest"]))


def describe_token(payload: Any) -> list[Change]:
    user, draft = find_person(payload), load_token(payload)
    what = f"{draft.name}, for {draft.days} days, acts as {user} with: {', '.join(list_roles(user)) or 'no role'}"
    return [Change(f"Token of {user}", "", what)]


def execute_token(actor: Actor, payload: Any) -> None:
    from tenants.api.tokens import open_token  # the door imports this module

    open_token(actor=actor, draft=load_token(payload))


GRANT_ROLE = declare(
    GuardedAction(
        "role.grant",
        payload=lambda subject: {"user": str(subject[0]), "role": subject[1]},
        seeded="none",
        load=load_grant,
        describe=describe_grant,
        subject_ref=subject_person,
        subject_rev=read_person_rev,
        execute=execute_grant,
        beneficiaries=who_gains,
    )
)
CREATE_TOKEN = declare(
    GuardedAction(
        "token.create",
        payload=token_payload,
        seeded="none",
        load=load_token,
        describe=describe_token,
        subject_ref=subject_person,
        subject_rev=read_person_rev,
        execute=execute_token,
        beneficiaries=who_gains,
    )
)


def load_acl(payload: Any) -> AclGrant:
    return AclGrant(uuid.UUID(payload["change_set"]), int(payload["base_acl_rev"]), dict(payload))


def describe_acl(payload: Any) -> list[Change]:
    from tenants.api.acl_words import tell_change

    return [Change(line) for line in tell_change(payload)]


def read_acl_rev_of(payload: Any) -> str:
    """State of the change set and the tenant's fault with it: applied, withdrawn or stale supersedes. Raises: Absent("acl_change")."""
    row = AclChangeSet.objects.filter(pk=uuid.UUID(payload["change_set"])).first()
    if row is None:
        raise Absent("acl_change", "There is no such change of readers.")
    return digest_of({"state": row.state, "payload": row.payload_sha256})


def execute_acl(actor: Actor, payload: Any) -> None:
    from tenants.api.acl_changes import apply_acl_grants  # the door imports this module

    apply_acl_grants(actor=actor, change_set_id=load_acl(payload).change_set_id)


GRANT_ACL = declare(
    GuardedAction(
        "acl.grant",
        payload=lambda change: change.payload,
        seeded="none",
        load=load_acl,
        describe=describe_acl,
        subject_ref=lambda payload: ("acl_change", str(payload["change_set"])),
        subject_rev=read_acl_rev_of,
        execute=execute_acl,
        beneficiaries=lambda payload: frozenset(map(uuid.UUID, payload["gains"])),
    )
)


def load_visit(payload: Any) -> VisitDraft:
    return VisitDraft(uuid.UUID(payload["tenant"]), str(payload["reason"]), int(payload["minutes"]))


def describe_visit(payload: Any) -> list[Change]:
    visit = load_visit(payload)
    return [Change(f"Session in tenant {visit.tenant_id}", "", f"{visit.minutes} minutes, read-only"), Change("Reason", "", visit.reason)]


def count_visits(payload: Any) -> str:
    """A visit of this tenant since then supersedes: what was asked for may be done."""
    return str(SupportVisit.objects.filter(target_id=uuid.UUID(payload["tenant"])).count())


def execute_visit(actor: Actor, payload: Any) -> None:
    from tenants.api.support_visits import approve_visit  # the door imports this module

    approve_visit(actor=actor, visit=load_visit(payload))


OPEN_SUPPORT = declare(
    GuardedAction(
        "support.open",
        payload=lambda visit: {"tenant": str(visit.tenant_id), "reason": visit.reason, "minutes": visit.minutes},
        seeded="second_person",
        load=load_visit,
        describe=describe_visit,
        subject_ref=lambda payload: ("tenant", str(payload["tenant"])),
        subject_rev=count_visits,  # whether the tenant lets operators in is looked at when the session opens, inside that tenant
        execute=execute_visit,
    )
)
