"""Raw SQL of tenants: the edges that lead from people to principals. Always inside a scope; names the tenant besides row-level security."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from tenants.principals import Edge

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence
    from datetime import datetime

# Plan: the people's memberships, placements and roles by (tenant, user), then nestings by (tenant, child) and parents by (tenant, unit), step by
# step. UNION drops what was seen, so the recursion ends whatever the rows say. Without a time, open rows; with one, those in force then.
EDGES = """
WITH RECURSIVE joined(kind, source, target, since) AS (
    SELECT 'user', m.user_id, m.group_id, m.valid_from FROM tenants_membership m
    WHERE m.tenant_id = %(tenant)s AND (%(users)s::uuid[] IS NULL OR m.user_id = ANY(%(users)s::uuid[]))
      AND (%(at)s::timestamptz IS NULL AND m.valid_to IS NULL OR m.valid_from <= %(at)s AND (m.valid_to IS NULL OR m.valid_to > %(at)s))
  UNION
    SELECT 'group', n.child_id, n.parent_id, n.valid_from FROM joined j
    JOIN tenants_groupnesting n ON n.tenant_id = %(tenant)s AND n.child_id = j.target
      AND (%(at)s::timestamptz IS NULL AND n.valid_to IS NULL OR n.valid_from <= %(at)s AND (n.valid_to IS NULL OR n.valid_to > %(at)s))
), placed(kind, source, target, since) AS (
    SELECT 'user', p.user_id, p.unit_id, p.valid_from FROM tenants_unitplacement p
    WHERE p.tenant_id = %(tenant)s AND (%(users)s::uuid[] IS NULL OR p.user_id = ANY(%(users)s::uuid[]))
      AND (%(at)s::timestamptz IS NULL AND p.valid_to IS NULL OR p.valid_from <= %(at)s AND (p.valid_to IS NULL OR p.valid_to > %(at)s))
  UNION
    SELECT 'unit', u.unit_id, u.parent_id, u.valid_from FROM placed p
    JOIN tenants_unitparent u ON u.tenant_id = %(tenant)s AND u.unit_id = p.target
      AND (%(at)s::timestamptz IS NULL AND u.valid_to IS NULL OR u.valid_from <= %(at)s AND (u.valid_to IS NULL OR u.valid_to > %(at)s))
)
SELECT kind || ':' || source, 'group:' || target, since FROM joined
UNION ALL
SELECT kind || ':' || source, 'unit:' || target, since FROM placed
UNION ALL
SELECT 'user:' || r.user_id, 'role:' || r.role, r.valid_from FROM tenants_roleassignment r
WHERE r.tenant_id = %(tenant)s AND (%(users)s::uuid[] IS NULL OR r.user_id = ANY(%(users)s::uuid[]))
  AND (%(at)s::timestamptz IS NULL AND r.valid_to IS NULL OR r.valid_from <= %(at)s AND (r.valid_to IS NULL OR r.valid_to > %(at)s))
"""


def load_edges(tenant_id: uuid.UUID, user_ids: Sequence[uuid.UUID] | None, at: datetime | None) -> list[Edge]:
    """Everything that these people are, directly or through groups and units. Args: user_ids: None for all people. at: None for now."""
    with connection.cursor() as cursor:
        cursor.execute(EDGES, {"tenant": tenant_id, "users": None if user_ids is None else list(user_ids), "at": at})
        return [Edge(*row) for row in cursor.fetchall()]
