"""Guarded actions of tenants: their payload is what people approve (GOV-A)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Absent
from rag4c.scope.gate import Change, GuardedAction, declare
from tenants.models import RoleAssignment, User

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor


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
