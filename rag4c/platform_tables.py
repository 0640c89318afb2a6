"""Tables without a tenant, and what each login may do with them; a test compares this list with the database."""

from __future__ import annotations

from typing import Final

_BEAT: Final = ("clockedschedule", "crontabschedule", "intervalschedule", "periodictask", "periodictasks", "solarschedule")
PLATFORM_TABLES: Final[dict[str, dict[str, str]]] = {
    "django_admin_log": {"rag4c_app": "SELECT, DELETE"},  # stays empty: the delete collector and the index page ask it
    "django_content_type": {"rag4c_app": "SELECT"},
    "django_session": {"rag4c_app": "SELECT, INSERT, UPDATE, DELETE"},
    "django_migrations": {"rag4c_app": "SELECT", "rag4c_system": "SELECT"},  # /readyz compares
    "auth_permission": {},
    "auth_group": {},
    "auth_group_permissions": {},
    "ledger_incarnation": {"rag4c_app": "SELECT"},  # the trigger that places an event reads it
    "retrieval_embeddingspace": {"rag4c_app": "SELECT"},
    **{f"django_celery_beat_{name}": {"rag4c_system": "SELECT, INSERT, UPDATE, DELETE"} for name in _BEAT},
}
