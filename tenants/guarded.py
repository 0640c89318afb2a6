"""Guarded actions of tenants: their payload is what people approve (GOV-A)."""

from rag4c.scope.gate import GuardedAction, declare

GRANT_ROLE = declare(GuardedAction("role.grant", payload=lambda subject: {"user": str(subject[0]), "role": subject[1]}, seeded="none"))
CREATE_TOKEN = declare(GuardedAction("token.create", payload=lambda subject: {"user": str(subject)}, seeded="none"))
