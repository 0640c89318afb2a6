"""ACL sets: interned once, assigned to subjects as intervals, read as the numbers that a grant satisfies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  # read by callers that show it
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import F, Max, OuterRef, Subquery
from django.db.models.functions import Now

from rag4c.kernel.errors import Absent, Invalid
from rag4c.kernel.grant import Sensitivity
from rag4c.scope.manager import keep_apart
from tenants.acl import DENY_ALL, AclSpec, is_within, meet, satisfies, simplify
from tenants.acl_index import ACL_INDEX
from tenants.models import AclAssignment, AclRevision, AclSet

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Sequence

    from rag4c.kernel.grant import Grant

__all__ = [
    "DENY_ALL",
    "AclSpec",
    "AssignedAcl",
    "Sensitivity",
    "allowed_acl_numbers",
    "assign_acl",
    "assign_acl_to_many",
    "bump_acl_rev",
    "close_acl",
    "find_acl",
    "find_acl_of",
    "intern_acl",
    "is_within",
    "lock_acl_rev",
    "meet",
    "read_acl_rev",
    "read_assigned",
    "readers_column",
    "satisfies",
    "simplify",
    "spec_of",
]


def intern_acl(tenant_id: uuid.UUID, spec: AclSpec) -> AclSet:
    """The one row for this set of principals; made when new. Inside a scope and a transaction.

    Raises: Invalid("acl_principal_invalid") for a principal that is not `kind:value`; unknown readers never widen (GOV-B6).
    """
    if any(not kind or not value for kind, _, value in (principal.partition(":") for principal in spec.principals)):
        raise Invalid("acl_principal_invalid", "A principal is written user:<id>, group:<id>, unit:<id>, role:<code> or tenant:*.")
    found = AclSet.objects.filter(digest=spec.digest).first()
    if found:
        return found
    bump_acl_rev(tenant_id)  # takes the tenant's row lock, so that numbers stay dense
    highest = AclSet.objects.aggregate(highest=Max("number"))["highest"]
    row, _ = AclSet.objects.get_or_create(
        tenant_id=tenant_id,
        digest=spec.digest,
        defaults={
            "number": 0 if highest is None else highest + 1,
            "principals": sorted(spec.principals),
            "sensitivity": int(spec.sensitivity),
            "purpose": spec.purpose,
        },
    )
    return row


def assign_acl(tenant_id: uuid.UUID, *, subject_kind: str, subject_id: uuid.UUID, acl_id: uuid.UUID) -> bool:
    """Give the subject this set from now on; the old interval is closed. False when it had it already."""
    current = AclAssignment.objects.filter(subject_kind=subject_kind, subject_id=subject_id, valid_to__isnull=True)
    held = current.select_related("acl").first()
    if held and held.acl_id == acl_id:
        return False
    if held and not is_within(spec_of(held.acl), find_acl(acl_id)):
        keep_apart("revoke", never_with="publish")
    bump_acl_rev(tenant_id)
    current.update(valid_to=Now())
    AclAssignment.objects.create(tenant_id=tenant_id, subject_kind=subject_kind, subject_id=subject_id, acl_id=acl_id)
    return True


def assign_acl_to_many(
    tenant_id: uuid.UUID, *, subject_kind: str, subject_ids: Sequence[uuid.UUID], acl_id: uuid.UUID, origin: str = "readers"
) -> None:
    """Give new subjects, which have no set yet, this one from now on; one statement for all."""
    if not subject_ids:
        return
    bump_acl_rev(tenant_id)
    rows = [
        AclAssignment(tenant_id=tenant_id, subject_kind=subject_kind, subject_id=subject_id, acl_id=acl_id, origin=origin)
        for subject_id in subject_ids
    ]
    AclAssignment.objects.bulk_create(rows, batch_size=1000)


def close_acl(tenant_id: uuid.UUID, *, subject_kind: str, subject_id: uuid.UUID) -> None:
    """End the subject's access interval: nobody may read it from now on."""
    keep_apart("revoke", never_with="publish")
    bump_acl_rev(tenant_id)
    AclAssignment.objects.filter(subject_kind=subject_kind, subject_id=subject_id, valid_to__isnull=True).update(valid_to=Now())


def find_acl(acl_id: uuid.UUID) -> AclSpec:
    """The set behind an id. Raises: Absent("acl_set")."""
    row = AclSet.objects.filter(pk=acl_id).first()
    if row is None:
        raise Absent("acl_set")
    return spec_of(row)


@dataclass(frozen=True, slots=True)
class AssignedAcl:
    """The set that a subject has now. origin: `readers`, `template`, `own`, `denied` or `set`, which a person chose."""

    acl: AclSpec
    origin: str
    since: datetime


def read_assigned(subject_kind: str, subject_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, AssignedAcl]:
    """subject -> its set now; who has none is missing here, which means nobody. Two queries, inside a scope."""
    rows = AclAssignment.objects.filter(subject_kind=subject_kind, subject_id__in=list(subject_ids), valid_to__isnull=True)
    found = list(rows.values_list("subject_id", "acl_id", "origin", "valid_from"))
    sets = {row.pk: spec_of(row) for row in AclSet.objects.filter(pk__in={row[1] for row in found})}
    return {subject: AssignedAcl(sets[acl], origin, since) for subject, acl, origin, since in found}


def readers_column(subject_kind: str) -> Subquery:
    """For lists of subjects: the principals of each row's set now, NULL when it has none. Inside a scope."""
    rows = AclAssignment.objects.filter(subject_kind=subject_kind, subject_id=OuterRef("pk"), valid_to__isnull=True)
    return Subquery(rows.values("acl__principals")[:1])


def spec_of(row: AclSet) -> AclSpec:
    """The set that a row holds."""
    return AclSpec(frozenset(row.principals), Sensitivity(row.sensitivity), row.purpose)


def find_acl_of(*, subject_kind: str, subject_id: uuid.UUID, at: datetime | None = None) -> AclSpec | None:
    """The set that a subject has, or had at a moment; None when nobody was named, which means nobody. Inside a scope."""
    rows = AclAssignment.objects.filter(AclAssignment.in_force(at), subject_kind=subject_kind, subject_id=subject_id)
    row = rows.select_related("acl").order_by("-valid_from").first()
    return spec_of(row.acl) if row else None


def allowed_acl_numbers(grant: Grant) -> frozenset[int]:
    """Numbers of the ACL sets that the grant satisfies, by the inverted index of the process; one query. Inside a scope."""
    return ACL_INDEX.allowed(grant)


def read_acl_rev(tenant_id: uuid.UUID) -> int:
    """The tenant's access revision; every change of access raises it."""
    row = AclRevision.objects.filter(tenant_id=tenant_id).first()
    return row.rev if row else 0


def lock_acl_rev(tenant_id: uuid.UUID) -> None:
    """Changes of readers come one after the other in a tenant: whoever holds this row reads who may read, and changes it."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO tenants_aclrevision (tenant_id, rev) VALUES (%s, 0) ON CONFLICT (tenant_id) DO NOTHING", [tenant_id])
    AclRevision.objects.select_for_update().get(tenant_id=tenant_id)


def bump_acl_rev(tenant_id: uuid.UUID) -> None:
    """Raise the revision under its row lock."""
    if AclRevision.objects.filter(tenant_id=tenant_id).update(rev=F("rev") + 1) == 0:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO tenants_aclrevision (tenant_id, rev) VALUES (%s, 1) ON CONFLICT (tenant_id) DO UPDATE SET rev = tenants_aclrevision.rev + 1",
                [tenant_id],
            )
