"""Guarded actions of compliance."""

from rag4c.scope.gate import GuardedAction, declare

EXPORT_AUDIT = declare(GuardedAction("audit.export", payload=lambda asked: {"from": asked[0], "to": asked[1], "query": asked[2]}, seeded="none"))
