"""People, groups, roles and clearances of one tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from rag4c.kernel.errors import Absent, Blocked, Conflict, Invalid
from rag4c.kernel.grant import PLATFORM_TENANT
from rag4c.ledger import api as ledger
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission
from tenants import duties, guarded, roles
from tenants.api.access import bump_acl_rev
from tenants.models import ActivePeriod, ApiToken, Clearance, Group, Membership, RoleAssignment, UnitPlacement, User, normalize_username

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from rag4c.kernel.grant import Actor, Sensitivity

__all__ = [
    "add_to_group",
    "change_password",
    "create_group",
    "create_service_account",
    "create_user",
    "deactivate_user",
    "find_group",
    "find_user",
    "grant_role",
    "reactivate_user",
    "remove_from_group",
    "revoke_role",
    "set_clearance",
]


def create_user(*, actor: Actor, username: str, password: str, display_name: str = "", role: str = roles.MEMBER) -> uuid.UUID:
    """A person who can sign in with a password, holding one role.

    Raises: Denied("not_allowed"), Invalid("username_invalid" | "password_invalid" | "role_unknown"), Conflict("username_taken"),
    Blocked("role_needs_approval") for another role than member where `role.grant` needs an approval.
    """
    check_permission(actor, "user.manage")
    return _create_account(actor, User(username=username, display_name=display_name, password=_hash_password(password)), role)


def create_service_account(*, actor: Actor, username: str, display_name: str = "") -> uuid.UUID:
    """An account without a person: it holds tokens and its one role, and can never sign in.

    Raises: Denied("not_allowed"), Invalid("username_invalid"), Conflict("username_taken"), Blocked("approval_required" | "no_policy").
    """
    check_permission(actor, "user.manage")
    return _create_account(
        actor, User(username=username, display_name=display_name, password=make_password(None), kind="service"), roles.SERVICE_ACCOUNT
    )


def _create_account(actor: Actor, user: User, role: str) -> uuid.UUID:
    user.username = user.username.strip()
    if not 1 <= len(user.username) <= 150 or any(not character.isprintable() for character in user.username):
        raise Invalid("username_invalid", "A user name is 1 to 150 printable characters.")
    user.tenant_id, user.username_norm = actor.tenant_id, normalize_username(user.username)
    with scope(actor.grant), transaction.atomic():
        try:
            with transaction.atomic():
                user.save(force_insert=True)
        except IntegrityError as error:
            raise Conflict("username_taken", "This user name is taken in the tenant.") from error
        ActivePeriod.objects.create(tenant_id=actor.tenant_id, user_id=user.pk)
        ledger.record(actor, "user.created", subject=("user", user.pk), data={"kind": user.kind})
        _give_first_role(actor, user.pk, role)
    return user.pk


def _give_first_role(actor: Actor, user_id: uuid.UUID, role: str) -> None:
    """A member can ask, and no more: that is a part of creating a person. Other roles go through the guarded door."""
    if role == roles.MEMBER:
        _give_role(actor, user_id, role, permit="user.created")
        return
    try:
        grant_role(actor=actor, user_id=user_id, role=role)
    except Blocked as error:
        raise Blocked("role_needs_approval", "This role needs an approval: create the person as a member, then ask for the role.") from error


def _hash_password(password: str) -> str:
    try:
        validate_password(password)
    except ValidationError as error:
        raise Invalid("password_invalid", " ".join(error.messages)) from error
    return make_password(password)


def change_password(*, actor: Actor, user_id: uuid.UUID, password: str) -> None:
    """Set a new password; sessions of the old one end, because their hash is bound to it. A service account has none and reads as absent.

    Raises: Denied("not_allowed"), Absent("user"), Invalid("password_invalid").
    """
    if actor.user_id != user_id:
        check_permission(actor, "user.manage")
    encoded = _hash_password(password)
    with scope(actor.grant), transaction.atomic():
        if User.objects.filter(pk=user_id, kind="person").update(password=encoded) == 0:
            raise Absent("user", "There is no such person.")
        ledger.record(actor, "user.password_changed", subject=("user", user_id))


def find_user(*, actor: Actor, username: str) -> uuid.UUID:
    """The id behind a user name, in any spelling of case and width. Raises: Absent("user")."""
    with scope(actor.grant):
        user = User.objects.filter(username_norm=normalize_username(username)).first()
    if user is None:
        raise Absent("user", "There is no such person.")
    return user.pk


def _lock_user(user_id: uuid.UUID) -> User:
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise Absent("user", "There is no such person.")
    return user


def grant_role(*, actor: Actor, user_id: uuid.UUID, role: str) -> tuple[duties.RoleConflict, ...]:
    """Give a role from now on; holding it already changes nothing. Returns the conflicts of duty that are allowed with a warning.

    Raises: Denied("not_allowed"), Absent("user"), Invalid("role_unknown" | "role_of_platform" | "role_of_people" | "role_of_service_accounts"),
    Conflict("roles_conflict"), Blocked("approval_required" | "no_policy").
    """
    check_permission(actor, "role.grant")
    if role not in roles.PERMISSIONS:
        raise Invalid("role_unknown", f"Known roles: {', '.join(roles.PERMISSIONS)}.")
    with scope(actor.grant), transaction.atomic():
        user = _lock_user(user_id)
        conflicts = _check_duties(actor, user, role)
        permit = gate.require(guarded.GRANT_ROLE, actor, (user_id, role))
        _give_role(actor, user_id, role, permit=permit, conflicts=conflicts)
    return conflicts


def _give_role(actor: Actor, user_id: uuid.UUID, role: str, *, permit: str, conflicts: Sequence[duties.RoleConflict] = ()) -> None:
    _, is_new = RoleAssignment.objects.get_or_create(tenant_id=actor.tenant_id, user_id=user_id, role=role, valid_to=None)
    if is_new:
        bump_acl_rev(actor.tenant_id)
        warned = {"warned": [f"{row.one}+{row.other}" for row in conflicts]} if conflicts else {}
        ledger.record(actor, "role.granted", subject=("user", user_id), data={"role": role, "permit": permit, **warned})


def _check_duties(actor: Actor, user: User, role: str) -> tuple[duties.RoleConflict, ...]:
    if code := duties.refuse_role_of(kind=user.kind, role=role, is_platform=actor.tenant_id == PLATFORM_TENANT):
        raise Invalid(
            code, "This role is not for this account: operators belong to the platform, and programs hold the role of service accounts only."
        )
    held = RoleAssignment.objects.filter(user_id=user.pk, valid_to__isnull=True).values_list("role", flat=True)
    conflicts = duties.find_conflicts(held, role)
    if conflicts and conflicts[0].effect == "refuse":
        first = conflicts[0]
        raise Conflict(
            "roles_conflict", f"{first.one} and {first.other} do not go together: {first.why}", {"roles": sorted({first.one, first.other})}
        )
    return conflicts


def revoke_role(*, actor: Actor, user_id: uuid.UUID, role: str) -> None:
    """Take a role away at once (GOV-B1). Raises: Denied("not_allowed"), Absent("user"), Conflict("last_admin")."""
    check_permission(actor, "role.grant")
    with scope(actor.grant), transaction.atomic():
        _lock_user(user_id)
        bump_acl_rev(actor.tenant_id)  # the tenant's row lock: the last two admins cannot lose their roles at the same time
        others = RoleAssignment.objects.filter(role=roles.TENANT_ADMIN, valid_to__isnull=True, user__is_active=True).exclude(user_id=user_id)
        if role == roles.TENANT_ADMIN and not others.exists():
            raise Conflict("last_admin", "This is the last tenant admin; give the role to somebody else first.")
        if RoleAssignment.objects.filter(user_id=user_id, role=role, valid_to__isnull=True).update(valid_to=Now()):
            ledger.record(actor, "role.revoked", subject=("user", user_id), data={"role": role})


def set_clearance(*, actor: Actor, user_id: uuid.UUID, level: Sensitivity) -> None:
    """Set the clearance from now on. Raises: Denied("not_allowed"), Absent("user")."""
    check_permission(actor, "acl.manage")
    with scope(actor.grant), transaction.atomic():
        _lock_user(user_id)
        Clearance.objects.filter(user_id=user_id, valid_to__isnull=True).update(valid_to=Now())
        Clearance.objects.create(tenant_id=actor.tenant_id, user_id=user_id, level=int(level))
        bump_acl_rev(actor.tenant_id)
        ledger.record(actor, "clearance.set", subject=("user", user_id), data={"level": int(level)})


def create_group(*, actor: Actor, slug: str, name: str) -> uuid.UUID:
    """A group of people, usable as the principal `group:<id>`. Raises: Denied("not_allowed"), Conflict("group_taken")."""
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        group, is_new = Group.objects.get_or_create(tenant_id=actor.tenant_id, slug=slug, defaults={"name": name})
        if not is_new:
            raise Conflict("group_taken", "A group of this name exists.")
        ledger.record(actor, "group.created", subject=("group", group.pk))
    return group.pk


def find_group(*, actor: Actor, slug: str) -> uuid.UUID:
    """The id behind a group's slug. Raises: Absent("group")."""
    with scope(actor.grant):
        group = Group.objects.filter(slug=slug).first()
    if group is None:
        raise Absent("group", "There is no such group.")
    return group.pk


def add_to_group(*, actor: Actor, group_id: uuid.UUID, user_id: uuid.UUID) -> None:
    """Make a person a member from now on. Raises: Denied("not_allowed"), Absent("user" | "group")."""
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        _lock_user(user_id)
        if not Group.objects.filter(pk=group_id).exists():
            raise Absent("group", "There is no such group.")
        _, is_new = Membership.objects.get_or_create(tenant_id=actor.tenant_id, group_id=group_id, user_id=user_id, valid_to=None)
        if is_new:
            bump_acl_rev(actor.tenant_id)
            ledger.record(actor, "group.member_added", subject=("group", group_id), data={"user": str(user_id)})


def remove_from_group(*, actor: Actor, group_id: uuid.UUID, user_id: uuid.UUID) -> None:
    """End a membership at once. Raises: Denied("not_allowed")."""
    check_permission(actor, "group.manage")
    with scope(actor.grant), transaction.atomic():
        if Membership.objects.filter(group_id=group_id, user_id=user_id, valid_to__isnull=True).update(valid_to=Now()):
            bump_acl_rev(actor.tenant_id)
            ledger.record(actor, "group.member_removed", subject=("group", group_id), data={"user": str(user_id)})


def deactivate_user(*, actor: Actor, user_id: uuid.UUID) -> None:
    """The account loses everything at once: sign-in, sessions, tokens, memberships, its place in a unit, roles (R24, R27).

    Raises: Denied("not_allowed"), Absent("user"), Conflict("last_admin").
    """
    check_permission(actor, "user.manage")
    with scope(actor.grant), transaction.atomic():
        user = _lock_user(user_id)
        for role in RoleAssignment.objects.filter(user_id=user_id, valid_to__isnull=True).values_list("role", flat=True):
            revoke_role(actor=actor, user_id=user_id, role=role)
        for kind in (Membership, UnitPlacement, ActivePeriod):
            kind.objects.filter(user_id=user_id, valid_to__isnull=True).update(valid_to=Now())
        ApiToken.objects.filter(user_id=user_id, revoked_at__isnull=True).update(revoked_at=Now())
        User.objects.filter(pk=user.pk).update(is_active=False)
        bump_acl_rev(actor.tenant_id)
        ledger.record(actor, "user.deactivated", subject=("user", user_id))


def reactivate_user(*, actor: Actor, user_id: uuid.UUID) -> None:
    """The account may be used again, as a member or service account without groups, unit or tokens: what was lost is given anew, not back.

    Raises: Denied("not_allowed"), Absent("user"), Conflict("user_active"), Blocked("approval_required" | "no_policy").
    """
    check_permission(actor, "user.manage")
    with scope(actor.grant), transaction.atomic():
        user = _lock_user(user_id)
        if user.is_active:
            raise Conflict("user_active", "This account is active.")
        User.objects.filter(pk=user_id).update(is_active=True)
        ActivePeriod.objects.create(tenant_id=actor.tenant_id, user_id=user_id)
        bump_acl_rev(actor.tenant_id)
        ledger.record(actor, "user.reactivated", subject=("user", user_id))
        grant_role(actor=actor, user_id=user_id, role=roles.SERVICE_ACCOUNT if user.kind == "service" else roles.MEMBER)
