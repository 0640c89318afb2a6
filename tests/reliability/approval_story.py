"""What the children of the zygote do with an approval: ask, vote, run, and what the sweep does after a crash."""

from __future__ import annotations

import contextlib
import uuid
from typing import Any

from approvals import api as approvals
from approvals.tasks import advance_request
from rag4c.kernel import failpoints
from rag4c.kernel.errors import Conflict
from rag4c.kernel.grant import system_actor
from tenants import api as tenants
from tests.approvals.support import make_desk, quorum
from tests.builders import make_tenant


def prepare_approval() -> dict[str, str]:
    """Alice has asked for a role of Bob; one vote is needed."""
    desk = make_desk(make_tenant("acme"), quorum(1))
    return {"tenant": str(desk.kit.id), "request": str(desk.ask())}


def approve_and_run(ids: dict[str, str]) -> dict[str, int]:
    """Charlie's vote and the executor, in one worker. Gives back how often each armed point was passed."""
    vote_again(ids)
    approvals.execute_request(actor=system_actor(ids["tenant"]), request_id=uuid.UUID(ids["request"]))
    return dict(failpoints._passes)


def vote_again(ids: dict[str, str]) -> str:
    """A person who does not know whether the click before arrived."""
    tenant_id = uuid.UUID(ids["tenant"])
    user_id = tenants.find_user(actor=system_actor(tenant_id), username="charlie")
    charlie = tenants.actor_for_user(tenant_id=tenant_id, user_id=user_id)
    with contextlib.suppress(Conflict):
        return approvals.vote(actor=charlie, request_id=uuid.UUID(ids["request"]), approves=True)
    return "voted before"


def find_due_approvals(**_: Any) -> list[tuple[str, str]]:
    """Under the system login: what the sweep sees."""
    return approvals.find_due_approvals()


def advance(due: list[tuple[str, str]]) -> list[str]:
    return [advance_request(tenant, request) for tenant, request in due]
