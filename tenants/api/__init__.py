"""What other apps may call of tenants: grants, access sets, people, tokens."""
from tenants.api.access import DENY_ALL, AclSpec, Sensitivity, allowed_acl_numbers, assign_acl, assign_acl_to_many, bump_acl_rev, close_acl, find_acl, intern_acl, read_acl_rev
from tenants.api.grants import actor_for_user, grant_for, restrict_grant
from tenants.api.people import add_to_group, change_password, create_group, create_user, deactivate_user, find_group, find_user, grant_role, remove_from_group, revoke_role, set_clearance
from tenants.api.tenancy import create_tenant, create_workspace, find_tenant_id, find_workspace, list_workspaces
from tenants.api.tokens import NewToken, create_token, find_token_actor, revoke_token

__all__ = [
    "DENY_ALL", "AclSpec", "NewToken", "Sensitivity", "actor_for_user", "add_to_group", "allowed_acl_numbers", "assign_acl", "assign_acl_to_many", "bump_acl_rev", "change_password", "close_acl", "create_group",
    "create_tenant", "create_token", "create_user", "create_workspace", "deactivate_user", "find_acl", "find_group", "find_tenant_id", "find_token_actor", "find_user",
    "find_workspace", "grant_for", "grant_role", "intern_acl", "list_workspaces", "read_acl_rev", "remove_from_group", "restrict_grant", "revoke_role", "revoke_token", "set_clearance",
]
