"""Zero-downtime lint of our migrations (django-migration-linter). First migrations of an app create tables: they are listed, not judged."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
APPS = ["tenants", "approvals", "ledger", "documents", "retrieval", "verification", "compliance"]


def main() -> int:
    import django

    django.setup()
    from django_migration_linter import MigrationLinter

    linter = MigrationLinter(include_apps=APPS, no_cache=True, quiet=["ok", "ignore"], exclude_migration_tests=["RUNPYTHON_REVERSIBLE"])
    linter.lint_all_migrations()
    linter.print_summary()
    return 1 if linter.has_errors else 0


if __name__ == "__main__":
    sys.exit(main())
