"""Migration operations: tenant row-level security and composite foreign keys. Reversible; SQL only, so sqlmigrate shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.migrations.operations.base import Operation

if TYPE_CHECKING:
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.state import ProjectState

# NULLIF: after a transaction-local set_config the setting is '' and not NULL
TENANT_SQL: Final = "NULLIF(current_setting('rag4c.tenant', true), '')::uuid"


class _SqlOperation(Operation):
    reversible = reduces_to_sql = True
    forward: tuple[str, ...]
    backward: tuple[str, ...]

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Changes the database only."""

    def database_forwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState) -> None:
        for statement in self.forward:
            schema_editor.execute(statement, params=None)

    def database_backwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState) -> None:
        for statement in self.backward:
            schema_editor.execute(statement, params=None)


class EnableTenantRLS(_SqlOperation):
    """ENABLE + FORCE, a policy for the app by tenant, an allow-all policy for the owner, and the app's grants (GOV-T3)."""

    def __init__(self, table: str, *, column: str = "tenant_id", grants: str = "SELECT, INSERT, UPDATE, DELETE") -> None:
        self.table = table
        self.forward = rls_statements(table, column=column, grants=grants)
        self.backward = (
            f'REVOKE ALL ON "{table}" FROM rag4c_app',
            f'DROP POLICY tenant_owner ON "{table}"',
            f'DROP POLICY tenant_app ON "{table}"',
            f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY',
        )

    def describe(self) -> str:
        return f"Tenant wall on {self.table}"


def rls_statements(table: str, *, column: str = "tenant_id", grants: str = "SELECT, INSERT, UPDATE, DELETE") -> tuple[str, ...]:
    """The statements of the wall; tables of embedding spaces are made outside migrations and use them too."""
    check = f'"{column}" = {TENANT_SQL}'
    return (
        f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
        f'CREATE POLICY tenant_app ON "{table}" TO rag4c_app USING ({check}) WITH CHECK ({check})',
        f'CREATE POLICY tenant_owner ON "{table}" TO rag4c_owner USING (true) WITH CHECK (true)',
        f'GRANT {grants} ON "{table}" TO rag4c_app',
    )


class AddTenantForeignKey(_SqlOperation):
    """FOREIGN KEY (tenant_id, column) REFERENCES to_table (tenant_id, to_column) (GOV-T4).

    The model field is a `TenantForeignKey`; to_table has UNIQUE (tenant_id, id) from TenantModel.Meta. INITIALLY IMMEDIATE, unlike
    Django's: a deferred error would come at COMMIT, when the scope closes, outside the api's try.
    """

    def __init__(self, table: str, column: str, to_table: str, *, to_column: str = "id") -> None:
        name = f"{table}_{column}_tfk"
        self.table, self.column = table, column
        self.forward = (
            f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" FOREIGN KEY (tenant_id, "{column}") '
            f'REFERENCES "{to_table}" (tenant_id, "{to_column}") DEFERRABLE INITIALLY IMMEDIATE',
        )
        self.backward = (f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"',)

    def describe(self) -> str:
        return f"Foreign key of {self.table}.{self.column} with its tenant"
