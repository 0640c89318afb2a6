"""The decision manifest: what was asked, under which grant, and what became of every block. Canonical JSON with a digest, without any text of a document."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rag4c.kernel.canonical import canonical_json, digest_of, sha256_hex
from retrieval.context import parts
from retrieval.context.policy import grant_digest, grant_view
from retrieval.context.render import number_evidence

if TYPE_CHECKING:
    from dataclasses import Field

    from rag4c.kernel.grant import Grant
    from retrieval.context.blocks import CandidateRecord
    from retrieval.context.decision import DecisionInput, DecisionOutput
    from retrieval.context.policy import Refusal

FORMAT = "context_manifest/1"


@dataclass(frozen=True, slots=True)
class DecisionManifest:
    """Canonical bytes and their sha256. Args: data: RFC 8785 JSON, stored as bytes."""

    data: bytes
    sha256: str

    @property
    def body(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        body: dict[str, Any] = json.loads(self.data)
        return body


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the manifest says of the way in and the way out. Args: is_routed_by_caller: the router's list is then taken as told."""

    prompt: str
    router: tuple[Refusal, ...]
    is_routed_by_caller: bool


def build_manifest(given: DecisionInput, outcome: DecisionOutput, rendered: Rendered) -> DecisionManifest:
    """The manifest of one decision (SYS-C7). Principals of an item are cut to those the asker holds: other groups are nobody's business."""
    permissions = [_permission_view(record, given.grant) for record in given.candidates]
    shared = list({canonical_json(view): view for view in permissions}.values())
    body = {
        "format": FORMAT,
        "query": {**encode(given.query), "sha256": digest_of(encode(given.query))},
        "grant": {**grant_view(given.grant), "sha256": grant_digest(given.grant)},
        "policy": encode(given.settings),
        "prompt": {"version": parts.PARTS_VERSION, "sha256": sha256_hex(rendered.prompt), "code_points": len(rendered.prompt)},
        "routing": {
            "routed_by": "caller" if rendered.is_routed_by_caller else "composer",
            "router": encode(rendered.router),
        },
        "permissions": shared,
        "candidates": [
            {**_candidate_view(record), "permission": shared.index(view)} for record, view in zip(given.candidates, permissions, strict=True)
        ],
        "validations": {chunk_id: encode(given.validations[chunk_id]) for chunk_id in sorted(_asked_ids(given))},
        "required": encode(given.required),
        **outcome_view(outcome),
    }
    data = canonical_json(body)
    return DecisionManifest(data, sha256_hex(data))


def outcome_view(outcome: DecisionOutput) -> dict[str, Any]:
    """The part that a replay recomputes."""
    included = outcome.plan.included if outcome.plan else ()
    return {
        "outcome": outcome.reason or "pack",
        "composer": encode(outcome.refusals),
        "drops": encode(outcome.drops),
        "rejected_context": encode(outcome.rejected_context),
        "blocks": encode(outcome.blocks),
        "plan": _encode_plan(outcome),
        "evidence": [{"n": one.n, "block_id": one.block.block_id, "source_ids": list(one.block.source_ids)} for one in number_evidence(included)],
        "sizes": {
            "required_size": outcome.required_size,
            "required_code_points": sum(block.size_code_points for block in outcome.blocks if block.required),
            "optional_code_points": sum(block.size_code_points for block in included if not block.required),
        },
    }


def encode(value: Any) -> Any:
    """JSON of frozen dataclasses and what they hold: sets are sorted, times are UTC, ids are text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: encode(getattr(value, one.name)) for one in _fields_of(value)}
    if isinstance(value, dict):
        return {key: encode(held) for key, held in value.items()}
    if isinstance(value, frozenset):
        return sorted(encode(held) for held in value)
    if isinstance(value, tuple | list):
        return [encode(held) for held in value]
    return _encode_plain(value)


def _encode_plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return int(value) if isinstance(value, IntEnum) else value


def _candidate_view(record: CandidateRecord) -> dict[str, Any]:
    return {one.name: encode(getattr(record, one.name)) for one in _fields_of(record) if one.name != "permission"}


def _permission_view(record: CandidateRecord, grant: Grant) -> dict[str, Any]:
    return {**encode(record.permission), "principals": sorted(record.permission.principals & grant.principals)}


def _encode_plan(outcome: DecisionOutput) -> dict[str, Any] | None:
    if outcome.plan is None:
        return None
    view: dict[str, Any] = encode(outcome.plan)
    return {**view, "included": [{"position": block.position, "block_id": block.block_id} for block in outcome.plan.included]}


def _asked_ids(given: DecisionInput) -> set[str]:
    return {record.chunk_id for record in given.candidates} & given.validations.keys()


def _fields_of(value: Any) -> tuple[Field[Any], ...]:
    return fields(value)
