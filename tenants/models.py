"""Tenants, people, groups and access. Memberships, roles, clearances and ACL assignments are intervals, so that the past can be asked."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from rag4c.kernel.grant import Sensitivity
from rag4c.scope.models import ScopedManager, TenantForeignKey, TenantModel, new_id
from tenants import roles

if TYPE_CHECKING:
    from datetime import datetime

ACCOUNT_KINDS = [("person", "person"), ("service", "service account")]


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    is_active = models.BooleanField(default=True)
    allows_support_access = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[models.Manager[Self]] = models.Manager()  # row-level security shows one row: the tenant itself

    def __str__(self) -> str:
        return self.name


class Workspace(TenantModel):
    slug = models.SlugField()
    name = models.CharField(max_length=200)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "slug"], name="tenants_workspace_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class UserManager(ScopedManager["User"], BaseUserManager["User"]):
    """BaseUserManager for get_by_natural_key."""


class User(TenantModel, AbstractBaseUser):
    username = models.CharField(max_length=150)
    username_norm = models.CharField(max_length=150, editable=False)
    display_name = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=10, choices=ACCOUNT_KINDS, default="person", db_default="person")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "username_norm"], name="tenants_user_username", violation_error_message="This name is taken."),
        ]

    def __str__(self) -> str:
        return self.display_name or self.username

    # The admin asks these; what a role may do is in tenants/roles.py and reaches a request as its grant.
    rag4c_permissions: frozenset[str] = frozenset()

    @property
    def is_staff(self) -> bool:
        return self.is_active and bool(self.rag4c_permissions - roles.PERMISSIONS[roles.MEMBER])

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        return self.is_staff

    def has_perms(self, perms: Any, obj: Any = None) -> bool:
        return self.is_staff

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_staff


class Group(TenantModel):
    slug = models.SlugField()
    name = models.CharField(max_length=200)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "slug"], name="tenants_group_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class IntervalModel(TenantModel):
    """True from valid_from (inclusive) to valid_to (exclusive); open while valid_to is NULL. Rows are closed, never deleted."""

    valid_from = models.DateTimeField(db_default=Now(), editable=False)
    valid_to = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(TenantModel.Meta):
        abstract = True

    @classmethod
    def in_force(cls, at: datetime | None = None) -> models.Q:
        """Rows that are open now, or that were in force at a moment."""
        is_open = models.Q(valid_to__isnull=True)
        return is_open if at is None else models.Q(valid_from__lte=at) & (is_open | models.Q(valid_to__gt=at))


class Membership(IntervalModel):
    group = TenantForeignKey("tenants.Group")
    user = TenantForeignKey("tenants.User", related_name="memberships")

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "group", "user"], condition=models.Q(valid_to__isnull=True), name="tenants_membership_open"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["tenant", "user"], name="tenants_membership_user")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.group_id}"


class RoleAssignment(IntervalModel):
    user = TenantForeignKey("tenants.User", related_name="role_assignments")
    role = models.CharField(max_length=40, choices=[(code, code) for code in roles.PERMISSIONS])

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "user", "role"], condition=models.Q(valid_to__isnull=True), name="tenants_role_open"),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.user_id}"


class Clearance(IntervalModel):
    user = TenantForeignKey("tenants.User", related_name="clearances")
    level = models.PositiveSmallIntegerField(choices=[(level.value, level.name.lower()) for level in Sensitivity])

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "user"], condition=models.Q(valid_to__isnull=True), name="tenants_clearance_open"),
        ]

    def __str__(self) -> str:
        return f"{Sensitivity(self.level).name} for {self.user_id}"


class AclSet(TenantModel):
    """Interned: who may read, once for all documents that share it. `number` is dense per tenant, for bitmaps. No principals: deny all."""

    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    principals = ArrayField(models.CharField(max_length=80))
    sensitivity = models.PositiveSmallIntegerField(choices=[(level.value, level.name.lower()) for level in Sensitivity])
    purpose = models.CharField(max_length=40, blank=True)  # RESTRICTED only: the purpose a reader must state

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "number"], name="tenants_aclset_number"),
            models.UniqueConstraint(fields=["tenant", "digest"], name="tenants_aclset_digest"),
        ]

    def __str__(self) -> str:
        return ", ".join(self.principals) or "nobody"


# Where a subject's set is from: what a person set stays narrower than what any sync finds (GOV-B7).
ACL_ORIGINS = [("readers", "readers of the source"), ("template", "template"), ("own", "the file's own"), ("denied", "unknown, so nobody"),
               ("set", "set by a person")]  # fmt: skip


class AclAssignment(IntervalModel):
    """Which ACL set a subject had, and when. The subject belongs to a higher app, so it is a kind and an id."""

    subject_kind = models.CharField(max_length=20)
    subject_id = models.UUIDField()
    acl = TenantForeignKey("tenants.AclSet")
    origin = models.CharField(max_length=10, choices=ACL_ORIGINS, db_default="readers")

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "subject_kind", "subject_id"], condition=models.Q(valid_to__isnull=True), name="tenants_aclassignment_open"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "subject_kind", "subject_id", "valid_from"], name="tenants_aclassignment_past")
        ]

    def __str__(self) -> str:
        return f"{self.subject_kind}:{self.subject_id}"


class AclRevision(models.Model):
    """One counter per tenant; every change of access bumps it, caches key on it."""

    tenant = models.OneToOneField(Tenant, on_delete=models.PROTECT, primary_key=True, related_name="+")
    rev = models.PositiveBigIntegerField(default=0)

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()

    def __str__(self) -> str:
        return str(self.rev)


class ApiToken(TenantModel):
    """A bearer token of a person: only its digest is kept. The tenant stands in the token's prefix."""

    user = TenantForeignKey("tenants.User", related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "digest"], name="tenants_apitoken_digest"),
        ]

    def __str__(self) -> str:
        return self.name


def normalize_username(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


from tenants.models_access import AclChangeLine, AclChangeSet, PrincipalMapping  # noqa: E402  # they build on those above
from tenants.models_org import ActivePeriod, GroupNesting, OrgUnit, Suspension, UnitParent, UnitPlacement  # noqa: E402  # they build on IntervalModel
from tenants.models_support import SupportSession, SupportVisit  # noqa: E402

__all__ = [
    "AclAssignment",
    "AclChangeLine",
    "AclChangeSet",
    "AclRevision",
    "AclSet",
    "ActivePeriod",
    "ApiToken",
    "Clearance",
    "Group",
    "GroupNesting",
    "IntervalModel",
    "Membership",
    "OrgUnit",
    "PrincipalMapping",
    "RoleAssignment",
    "SupportSession",
    "SupportVisit",
    "Suspension",
    "Tenant",
    "UnitParent",
    "UnitPlacement",
    "User",
    "UserManager",
    "Workspace",
    "normalize_username",
]
