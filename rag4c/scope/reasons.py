"""Everything that may run SQL outside a tenant, and the functions that may look across tenants. Tests compare both with the code and the database."""

from __future__ import annotations

from typing import Final

OUTSIDE_REASONS: Final[dict[str, str]] = {
    "session": "the session store is read before the tenant is known; it holds digests of keys only",
    "login_slug": "the tenant of /t/<slug>/login/ by a SECURITY DEFINER function that returns an id",
    "probe": "SELECT 1 and the migration state for /readyz",
    "start_check": "who we are logged in as, before anything is served",
    "seal_lag": "how long committed events wait for their seal, over all tenants, as numbers",
    "sealing": "the sealer under the system login, by listed functions that take and return ids",
    "embedding_spaces": "the spaces of vectors are platform rows without a tenant",
}

# name -> what it returns; each is SECURITY DEFINER with a fixed search_path and EXECUTE for the named role only
DEFINER_FUNCTIONS: Final[dict[str, str]] = {
    "rag4c_tenant_by_slug": "app: tenant id of a slug",
    "rag4c_due_deliveries": "system: (tenant, delivery) pairs that are due",
    "rag4c_due_approvals": "system: (tenant, request) pairs whose time limit has come, or that wait for their execution",
    "rag4c_due_jobs": "system: (tenant, job) pairs that wait or whose lease is over",
    "rag4c_tenant_ids": "system: ids of active tenants",
    "rag4c_platform_tenants": "app: slugs, names and states of all tenants, inside the platform's own tenant only",
    "rag4c_seal": "system: writes the next seals of one tenant's chain, returns how many",
    "rag4c_unsealed": "system: (tenant, event) of the oldest event without a seal, with its time and whether an open transaction holds it",
    "rag4c_unchecked_seals": "system: (tenant, event) of heads that are due for a checkpoint",
    "rag4c_chains": "system: ids and slugs of all tenants, for verifying every chain",
    "rag4c_seal_lag": "app: how many tenants wait for a seal and since when, as numbers",
}
