"""Filters of the ledger that a person keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from compliance.models import SavedSearch
from rag4c.kernel.errors import Absent, Conflict, Denied, Invalid
from rag4c.ledger import api as ledger
from rag4c.scope.manager import scope
from rag4c.scope.permissions import check_permission

if TYPE_CHECKING:
    import uuid

    from compliance.rules import AuditQuery
    from rag4c.kernel.grant import Actor

__all__ = ["remove_search", "save_search"]


def save_search(*, actor: Actor, name: str, query: AuditQuery) -> uuid.UUID:
    """Keep a filter under a name of one's own.

    Raises: Denied("not_allowed"), Invalid("search_invalid"), Conflict("search_taken").
    """
    check_permission(actor, "ledger.read")
    if actor.user_id is None:
        raise Denied("not_allowed", "Only a person keeps searches.")
    wanted = query.wanted()
    if not name.strip() or not wanted:
        raise Invalid("search_invalid", "A saved search has a name and at least one filter.")
    with scope(actor.grant), transaction.atomic():
        try:
            with transaction.atomic():
                row = SavedSearch.objects.create(tenant_id=actor.tenant_id, user_id=actor.user_id, name=name.strip()[:100], filters=wanted)
        except IntegrityError as error:
            raise Conflict("search_taken", "You have a search of this name; remove it first, or choose another name.") from error
        ledger.record(actor, "search.saved", subject=("search", row.pk), data={"query_sha256": query.sha256()})
    return row.pk


def remove_search(*, actor: Actor, search_id: uuid.UUID) -> None:
    """Forget one of one's own searches. Raises: Denied("not_allowed"), Absent("search")."""
    check_permission(actor, "ledger.read")
    with scope(actor.grant), transaction.atomic():
        mine = SavedSearch.objects.filter(pk=search_id, user_id__in=[actor.user_id], removed_at__isnull=True)
        if not mine.update(removed_at=Now()):
            raise Absent("search", "There is no such search of yours.")
        ledger.record(actor, "search.removed", subject=("search", search_id))
