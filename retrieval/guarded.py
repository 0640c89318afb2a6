"""Guarded actions of publication: the payload names the exact manifest that people approve (GOV-C3)."""

from rag4c.scope.gate import GuardedAction, declare

RELEASE = declare(GuardedAction("channel.release", payload=lambda move: move.payload(), seeded="none"))
ROLLBACK = declare(GuardedAction("channel.rollback", payload=lambda move: move.payload(), seeded="none"))
