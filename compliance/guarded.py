"""Guarded actions of compliance: exactly which events leave, in which form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compliance.rules import AuditQuery
from rag4c.scope.gate import Change, GuardedAction, declare

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor


@dataclass(frozen=True, slots=True)
class ExportDraft:
    """An export before it is asked for. first, last: sealed numbers, both inclusive."""

    first: int
    last: int
    query: AuditQuery
    views: frozenset[str]


def load_export(payload: Any) -> ExportDraft:
    return ExportDraft(int(payload["from"]), int(payload["to"]), AuditQuery(**payload["query"]), frozenset(payload["views"]))


def describe_export(payload: Any) -> list[Change]:
    draft = load_export(payload)
    wanted = ", ".join(f"{name}={value}" for name, value in draft.query.wanted().items()) or "all"
    return [
        Change("Events of the ledger that leave", "", f"{draft.first} to {draft.last}: {wanted}"),
        Change("Views", "", ", ".join(sorted(draft.views))),
    ]


def execute_export(actor: Actor, payload: Any) -> None:
    from compliance.api.exporting import request_export  # the door imports this module

    draft = load_export(payload)
    request_export(actor=actor, query=draft.query, from_seq=draft.first, to_seq=draft.last, views=draft.views)


EXPORT_AUDIT = declare(
    GuardedAction(
        "audit.export",
        payload=lambda draft: {"from": draft.first, "to": draft.last, "query": draft.query.wanted(), "views": sorted(draft.views)},
        seeded="none",
        load=load_export,
        describe=describe_export,
        subject_ref=lambda payload: ("ledger", f"{payload['from']}-{payload['to']}"),
        subject_rev=lambda payload: f"sealed to {payload['to']}",  # what is sealed never changes
        execute=execute_export,
    )
)
