"""The decision of what a prompt holds, over records without text: run once when composing and again, the same code, when replaying."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.context import gates
from retrieval.context.blocks import EVIDENCE_KINDS, block_record_of
from retrieval.context.gates import Drop
from retrieval.context.planner import PromptBudgetError, plan_blocks
from retrieval.context.policy import COMPOSER, route

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag4c.kernel.grant import Grant
    from retrieval.context.blocks import BlockRecord, CandidateRecord, Priorities
    from retrieval.context.gates import ValidationOutcome
    from retrieval.context.planner import Meter, Plan
    from retrieval.context.policy import ContextQuery, Refusal
    from retrieval.context.settings import PackSettings

# The furthest gate that evidence reached says why none is left.
_REASON_OF_GATE = {
    gates.BUDGET: "prompt_budget",
    gates.SETTINGS: "chunk_settings_changed",
    gates.VALIDATION: "source_changed",
    gates.THRESHOLD: "low_retrieval",
}


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """Everything the decision depends on. Args: required: the blocks that every prompt has."""

    query: ContextQuery
    grant: Grant
    candidates: tuple[CandidateRecord, ...]
    validations: Mapping[str, ValidationOutcome]
    settings: PackSettings
    required: tuple[BlockRecord, ...]


@dataclass(frozen=True, slots=True)
class DecisionOutput:
    """What was decided. Args: reason: empty when there is evidence, else the abstention code. plan: None when required blocks do not fit."""

    refusals: tuple[Refusal, ...]
    drops: tuple[Drop, ...]
    rejected_context: tuple[Drop, ...]
    blocks: tuple[BlockRecord, ...]
    plan: Plan | None
    required_size: int
    reason: str


def decide(given: DecisionInput, meter: Meter) -> DecisionOutput:
    """All gates in order, then the plan. Pure: equal inputs give equal outputs.

    Source: answering.md "Gates before the prompt", SYS-C4 to SYS-C7.
    """
    routed = route(given.candidates, given.grant, given.query, stage=COMPOSER)
    denied = tuple(Drop(one.position, given.candidates[one.position].block_id, gates.GRANT, one.code) for one in routed.rejected)
    passed = gates.pass_candidates(routed.selected, given.validations, given.settings)
    deduped = gates.dedupe_blocks((*given.required, *_ranked_blocks(passed.kept, given.settings.priorities)))
    blocks, beyond = gates.select_top_k(deduped.kept, given.settings.top_k, given.settings.max_per_document)
    drops = (*denied, *passed.drops, *beyond)
    try:
        plan = plan_blocks(blocks, given.settings.budget, meter)
    except PromptBudgetError as error:
        return DecisionOutput(routed.rejected, drops, deduped.rejected_context, blocks, None, error.required_size, "prompt_budget")
    unfit = tuple(Drop(one.position, one.block_id, gates.BUDGET, one.reason) for one in plan.decisions if not one.included)
    drops = (*drops, *unfit)
    reason = passed.refusal or _reason_without_evidence(plan, drops, given.candidates)
    return DecisionOutput(routed.rejected, drops, deduped.rejected_context, blocks, plan, plan.required_size, reason)


def _ranked_blocks(kept: Sequence[CandidateRecord], priorities: Priorities) -> list[BlockRecord]:
    seen: Counter[str] = Counter()
    blocks = []
    for record in kept:
        seen[record.kind] += 1
        blocks.append(block_record_of(record, seen[record.kind], priorities))
    return blocks


def _reason_without_evidence(plan: Plan, drops: Sequence[Drop], candidates: Sequence[CandidateRecord]) -> str:
    if any(block.kind in EVIDENCE_KINDS for block in plan.included):
        return ""
    reached = {drop.gate for drop in drops if candidates[drop.position].kind in EVIDENCE_KINDS}
    return next((reason for gate, reason in _REASON_OF_GATE.items() if gate in reached), "no_evidence")
