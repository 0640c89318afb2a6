"""`python -m rag4c.maintain WHAT [MONTH]`, as the owner: what `rag4c maintain` hands to a process of its own, so that no other ever sees the owner's login."""

from __future__ import annotations

import json
import os
import sys

import django

from rag4c.kernel.errors import DomainError


def main(words: list[str]) -> int:
    """Prints one JSON object; 3 for a refusal, with its code in the object."""
    os.environ["RAG4C_DB_ROLE"] = "owner"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
    django.setup()
    try:
        said = run(*words)
    except DomainError as error:
        sys.stdout.write(json.dumps({"code": error.code, "message": error.message}))
        return 3
    sys.stdout.write(json.dumps(said))
    return 0


def run(what: str, month: str = "") -> dict[str, object]:
    from rag4c.kernel import clock
    from rag4c.ledger import pruning
    from rag4c.ledger.partitions import ensure_event_partitions

    if what == "new-incarnation":
        return {"incarnation": pruning.begin_incarnation()}
    if what == "prune":
        stubs = pruning.prune_month(month)
        return {"stubs": [{"tenant": str(stub.tenant_id), "events": stub.count, "ranges": stub.ranges} for stub in stubs]}
    return {"partitions": ensure_event_partitions(clock.now().date())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
