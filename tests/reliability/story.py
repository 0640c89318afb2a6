"""What the children of the zygote do: one folder from version one to version two, and what the sweeps would do after a crash."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path
from typing import Any

from documents import api as documents
from documents.api.jobs import find_due_jobs
from documents.models import IngestPolicy
from documents.tasks import ingest_job, sweep_jobs
from rag4c.kernel import failpoints
from rag4c.kernel.errors import Transient
from rag4c.kernel.grant import system_actor
from rag4c.ledger.api import find_due_deliveries
from rag4c.ledger.tasks import deliver_event, sweep_deliveries
from rag4c.scope.manager import scope
from tenants import api as tenants
from tests.builders import Library, TenantKit, ask, make_library, make_tenant
from tests.reliability.approval_story import advance, approve_and_run, find_due_approvals, prepare_approval, vote_again

__all__ = ["advance", "approve_and_run", "find_due_approvals", "prepare_approval", "vote_again"]  # called by name, as what follows

QUESTION = "How many days of paid leave do employees get a year?"
LEAVE = "# Leave\n\nEmployees get 25 days of paid leave a year.\n\n## Parental leave\n\nParents get 16 weeks of paid parental leave.\n"
TRAVEL = "# Travel\n\nThe travel desk books trains and flights.\n\nHotels cost at most 140 euros a night.\n"
FIRST = {"leave.md": LEAVE, "travel.md": TRAVEL}
# two batches of the embedder, and a table of facts
ROOMS = "# Rooms\n\n| Room | Seats |\n| --- | --- |\n| Oslo | 4 |\n| Rome | 12 |\n\n" + "\n".join(
    f"## Floor {floor}\n\nThe printer of floor {floor} stands beside room {floor}.\n" for floor in range(1, 39)
)
SECOND = {"leave.md": LEAVE.replace("25 days", "26 days"), "rooms.md": ROOMS}


def prepare(**policy: Any) -> dict[str, str]:
    """Acme with version one live; the folder holds version two already."""
    kit = make_tenant("acme")
    with scope(kit.system.grant):
        IngestPolicy.objects.create(tenant_id=kit.id, version=1, target_chars=60, max_chars=160, **policy)
    library = make_library(kit, {**FIRST})
    library.sync()
    library.release()
    (library.folder / "travel.md").unlink()
    library.write({**SECOND})
    return {"tenant": str(kit.id), "base": str(library.base_id), "source": str(library.source_id), "folder": str(library.folder)}


def prepare_many(*, count: int, **policy: Any) -> dict[str, str]:
    """Acme with a folder of `count` documents that nobody has read yet."""
    kit = make_tenant("acme")
    with scope(kit.system.grant):
        IngestPolicy.objects.create(tenant_id=kit.id, version=1, target_chars=60, max_chars=160, **policy)
    files: dict[str, str | bytes] = {f"rooms-{number:02}.md": ROOMS.replace("room ", f"room {number}-") for number in range(count)}
    library = make_library(kit, files)
    return {"tenant": str(kit.id), "base": str(library.base_id), "source": str(library.source_id), "folder": str(library.folder)}


def open_library(ids: dict[str, str]) -> Library:
    tenant_id = uuid.UUID(ids["tenant"])
    people = [_actor_of(tenant_id, name) for name in ("alice", "bob")]
    return Library(TenantKit(tenant_id, "acme", *people), Path(ids["folder"]), uuid.UUID(ids["base"]), uuid.UUID(ids["source"]))


def _actor_of(tenant_id: uuid.UUID, name: str) -> Any:
    user_id = tenants.find_user(actor=system_actor(tenant_id), username=name)
    return tenants.actor_for_user(tenant_id=tenant_id, user_id=user_id)


def go_through(ids: dict[str, str]) -> dict[str, Any]:
    """Everything from the folder to an answer, in one worker. Gives back how often each armed point was passed."""
    library = open_library(ids)
    library.sync()
    library.release()
    answer = ask(library.kit.bob, QUESTION)
    return {"answer": answer.answer, "passes": dict(failpoints._passes)}


def only_sync(ids: dict[str, str]) -> dict[str, int]:
    library = open_library(ids)
    report = documents.sync_source(actor=library.kit.alice, source_id=library.source_id)
    return {
        "added": report.documents_added,
        "updated": report.documents_updated,
        "deleted": report.documents_deleted,
        "reused": report.documents_reused,
    }


def publish(ids: dict[str, str]) -> int:
    return open_library(ids).release()


def answer(ids: dict[str, str]) -> str:
    return ask(open_library(ids).kit.bob, QUESTION).answer


def find_due(**_: Any) -> dict[str, list[tuple[str, str]]]:
    """Under the system login: what the sweeps see."""
    return {"jobs": find_due_jobs(), "deliveries": find_due_deliveries()}


def drive(jobs: list[tuple[str, str]], deliveries: list[tuple[str, str]]) -> list[str]:
    """What workers do with the messages of the sweeps; a task that raises is logged and its row stays due, as in Celery."""
    outcomes = [ingest_job(tenant, job) for tenant, job in jobs]
    for tenant, delivery in deliveries:
        with contextlib.suppress(Transient):
            outcomes.append(deliver_event(tenant, delivery))
    return outcomes


def sweep(**_: Any) -> int:
    """Under the system login: the two sweeps once, as the system worker does them."""
    return sweep_jobs() + sweep_deliveries()
