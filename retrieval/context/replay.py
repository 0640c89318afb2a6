"""Running a stored decision again, and measuring it: the same code over the recorded inputs must give the recorded outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rag4c.kernel.canonical import digest_of, sha256_hex
from rag4c.kernel.errors import Invalid
from rag4c.kernel.grant import Grant, Sensitivity
from retrieval.context.blocks import BlockRecord, CandidateRecord, Permission, Priorities
from retrieval.context.decision import DecisionInput, decide
from retrieval.context.gates import ValidationOutcome, stale_fault
from retrieval.context.manifest import FORMAT, DecisionManifest, encode, outcome_view
from retrieval.context.planner import budget_order, count_code_points
from retrieval.context.policy import ROUTER, ContextQuery, grant_digest, route
from retrieval.context.settings import Budget, PackSettings, Threshold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval.context.planner import Meter

_UNKNOWN_SIZE = -1  # never a recorded size: a selection that was not tried then shows up as a difference
_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the replay disagrees. Args: path: dotted, with list indexes."""

    path: str
    recorded: Any
    replayed: Any


@dataclass(frozen=True, slots=True)
class ManifestMetrics:
    """How well one decision kept the rules. Wanted: 1, 1, 0, 0, 0, 0 and replay 1."""

    required_retention: float
    provenance_coverage: float
    unsafe: int
    stale: int
    duplicates: int
    budget_violations: int
    replay: int


def replay(manifest: DecisionManifest) -> Difference | None:
    """Decide again from the recorded inputs; None when everything is identical, else the first difference.

    Raises: Invalid("manifest_format") for another format, Invalid("manifest_malformed") when inputs cannot be read.
    Source: SYS-C7, architecture section 6 "replay".
    """
    if sha256_hex(manifest.data) != manifest.sha256:
        return Difference("sha256", manifest.sha256, sha256_hex(manifest.data))
    body = manifest.body
    given = _read_input(body)
    outcome = decide(given, _meter_of(body))
    replayed: dict[str, Any] = {
        "query": {**encode(given.query), "sha256": digest_of(encode(given.query))},
        "grant": {**body["grant"], "sha256": grant_digest(given.grant)},
        "routing": _routing_again(body, given),
        **outcome_view(outcome),
    }
    return next((found for key in replayed if (found := first_difference(body.get(key), replayed[key], key))), None)


def measure_manifest(manifest: DecisionManifest) -> ManifestMetrics:
    """The release-wall figures of one manifest; sizes and faults are counted afresh, not taken from the planner's word."""
    body = manifest.body
    given = _read_input(body)
    included = {(one["position"], one["block_id"]) for one in (body["plan"] or {"included": []})["included"]}
    blocks = [block for block in map(_block, body["blocks"]) if (block.position, block.block_id) in included]
    optional = [block for block in blocks if not block.required]
    origins = [given.candidates[block.position] for block in optional]
    return ManifestMetrics(
        required_retention=_share(sum(block.required for block in blocks), len(given.required)),
        provenance_coverage=_share(sum(bool(block.provenance and block.source_ids) for block in optional), len(optional)),
        unsafe=sum(bool(record.unsafe_reason) for record in origins),
        stale=sum(stale_fault(record, given.validations.get(record.chunk_id)) is not None for record in origins),
        duplicates=len(blocks) - len({block.dedupe_key for block in blocks}),
        budget_violations=_count_budget_violations(body, given.settings.budget, optional),
        replay=int(replay(manifest) is None),
    )


def first_difference(recorded: Any, replayed: Any, path: str) -> Difference | None:
    """Walk two JSON values side by side, keys in order, down to the first leaf that differs."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        keys: Sequence[Any] = sorted(recorded.keys() | replayed.keys())
        pairs = [(f"{path}.{key}", recorded.get(key, _MISSING), replayed.get(key, _MISSING)) for key in keys]
    elif isinstance(recorded, list) and isinstance(replayed, list):
        longest = range(max(len(recorded), len(replayed)))
        pairs = [(f"{path}.{at}", _at(recorded, at), _at(replayed, at)) for at in longest]
    else:
        return None if recorded == replayed else Difference(path, recorded, replayed)
    return next((found for place, left, right in pairs if (found := first_difference(left, right, place))), None)


def _at(held: list[Any], at: int) -> Any:
    return held[at] if at < len(held) else _MISSING


def _routing_again(body: Mapping[str, Any], given: DecisionInput) -> Any:
    if body["routing"]["routed_by"] == "caller":
        return body["routing"]  # what the caller's router refused never reached the composer
    return {"routed_by": "composer", "router": encode(route(given.candidates, given.grant, given.query, stage=ROUTER).rejected)}


def _meter_of(body: Mapping[str, Any]) -> Meter:
    if body["policy"]["budget"]["unit"] == "code_points":
        return count_code_points
    return _recorded_meter(body)


def _recorded_meter(body: Mapping[str, Any]) -> Meter:
    """Tokens cannot be counted without the texts: the sizes tried then are looked up by what was selected."""
    sizes: dict[tuple[tuple[int, str], ...], int] = {}
    chosen: list[tuple[int, str]] = []
    decisions = (body["plan"] or {"decisions": []})["decisions"]
    for one in decisions:
        identity = (one["position"], one["block_id"])
        if one["reason"] == "required":
            chosen.append(identity)
            continue
        sizes[(*chosen, identity)] = one["size_with_it"]
        if one["included"]:
            chosen.append(identity)
    required = sorted((block for block in map(_block, body["blocks"]) if block.required), key=budget_order)
    sizes[tuple((block.position, block.block_id) for block in required)] = body["sizes"]["required_size"]
    return lambda blocks: sizes.get(tuple((block.position, block.block_id) for block in blocks), _UNKNOWN_SIZE)


def _count_budget_violations(body: Mapping[str, Any], budget: Budget, optional: Sequence[BlockRecord]) -> int:
    if body["plan"] is None:
        return 0
    used = body["plan"]["used"] + budget.reserved_output if budget.counts_required else sum(block.size_code_points for block in optional)
    return int(used > budget.limit)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _read_input(body: Mapping[str, Any]) -> DecisionInput:
    if body.get("format") != FORMAT:
        raise Invalid("manifest_format", f"This reads {FORMAT} only.", {"format": str(body.get("format"))})
    try:
        return DecisionInput(
            query=_query(body["query"]),
            grant=_grant(body["grant"]),
            candidates=tuple(_candidate(held, body["permissions"]) for held in body["candidates"]),
            validations={chunk_id: ValidationOutcome(**held) for chunk_id, held in body["validations"].items()},
            settings=_settings(body["policy"]),
            required=tuple(map(_block, body["required"])),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Invalid("manifest_malformed", "The recorded inputs cannot be read.") from error


def _query(held: Mapping[str, Any]) -> ContextQuery:
    return ContextQuery(held["text"], datetime.fromisoformat(held["asked_at"]), held["grant_sha256"], held["language"])


def _grant(held: Mapping[str, Any]) -> Grant:
    return Grant(
        tenant_id=UUID(held["tenant"]),
        user_id=_uuid(held["user"]),
        workspace_id=_uuid(held["workspace"]),
        principals=frozenset(held["principals"]),
        permissions=frozenset(held["permissions"]),
        clearance=Sensitivity(held["clearance"]),
        purpose=held["purpose"],
        task_family=held["task_family"],
        allowed_tools=frozenset(held["allowed_tools"]),
        allow_network=held["allow_network"],
        acl_rev=held["acl_rev"],
        as_of=_time(held["as_of"]),
    )


def _permission(held: Mapping[str, Any]) -> Permission:
    return Permission(
        tenant_id=UUID(held["tenant_id"]),
        principals=frozenset(held["principals"]),
        sensitivity=Sensitivity(held["sensitivity"]),
        acl_sha256=held["acl_sha256"],
        workspace_id=_uuid(held["workspace_id"]),
        user_scope=_uuid(held["user_scope"]),
        task_family=held["task_family"],
        tools=frozenset(held["tools"]),
        needs_network=held["needs_network"],
        expires_at=_time(held["expires_at"]),
    )


def _candidate(held: Mapping[str, Any], permissions: Sequence[Mapping[str, Any]]) -> CandidateRecord:
    return CandidateRecord(**{**held, "permission": _permission(permissions[held["permission"]]), "source_ids": tuple(held["source_ids"])})


def _block(held: Mapping[str, Any]) -> BlockRecord:
    return BlockRecord(**{**held, "source_ids": tuple(held["source_ids"])})


def _settings(held: Mapping[str, Any]) -> PackSettings:
    thresholds = tuple(Threshold(one["score"], one["minimum"], tuple(one["kinds"])) for one in held["thresholds"])
    budget, priorities = Budget(**held["budget"]), Priorities(**held["priorities"])
    return PackSettings(**{**held, "thresholds": thresholds, "budget": budget, "priorities": priorities})


def _uuid(held: str | None) -> UUID | None:
    return UUID(held) if held else None


def _time(held: str | None) -> datetime | None:
    return datetime.fromisoformat(held) if held else None
