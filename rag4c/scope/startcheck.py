"""Before anything is served: the login must be one that row-level security binds (tenancy.md, "Roles")."""

from __future__ import annotations

from typing import Final

from django.db import connection

from rag4c.kernel.errors import Denied
from rag4c.scope.manager import outside_scope

# the owner of a single table could drop its policy; membership counts too, since SET ROLE would lend the power
_POWERS: Final = """
    SELECT bool_or(role.rolsuper), bool_or(role.rolbypassrls),
           EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                   WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
                     AND pg_has_role(current_user, c.relowner, 'MEMBER'))
    FROM pg_roles AS role WHERE pg_has_role(current_user, role.oid, 'MEMBER')
"""


def check_login() -> None:
    """Refuse to serve under a login that could see every tenant.

    Raises: Denied("login_too_powerful") for a superuser, a role with BYPASSRLS and the owner of a table, or a member of one.
    Source: GOV-T3.
    """
    with outside_scope("start_check"), connection.cursor() as cursor:
        cursor.execute(_POWERS)
        is_super, bypasses, owns = cursor.fetchone()
    powers = [name for name, has in (("superuser", is_super), ("bypassrls", bypasses), ("owner", owns)) if has]
    if powers:
        raise Denied(
            "login_too_powerful",
            "Serve under rag4c_app or rag4c_system: this database login is not bound by row-level security.",
            {"powers": powers},
        )
