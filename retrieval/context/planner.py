"""Who gets into the prompt: required blocks first, then whole optional blocks by budget priority (SYS-A9, SYS-C6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Invalid
from retrieval.context.blocks import BlockRecord

if TYPE_CHECKING:
    from retrieval.context.settings import Budget

Meter = Callable[[Sequence[BlockRecord]], int]
"""The size of a selection, in the unit of the budget."""


class PromptBudgetError(Invalid):
    """The required blocks alone are larger than the budget: no prompt can be made.

    Args: required_size, budget: in the unit named by `unit`.
    """

    def __init__(self, required_size: int, budget: int, unit: str = "code_points") -> None:
        super().__init__(
            "prompt_budget", "Give a larger budget: the required blocks do not fit.", {"required_size": required_size, "budget": budget, "unit": unit}
        )
        self.required_size, self.budget, self.unit = required_size, budget, unit


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one block. Args: reason: `required`, `fits` or `over_budget`. size_with_it: of the selection, this block counted in."""

    position: int
    block_id: str
    included: bool
    reason: str
    size_with_it: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome, in the order of consideration (`decisions`) and in the order of the prompt (`included`)."""

    included: tuple[BlockRecord, ...]
    decisions: tuple[Decision, ...]
    unit: str
    limit: int
    required_size: int
    used: int


def count_code_points(blocks: Sequence[BlockRecord]) -> int:
    """The meter without a model: Unicode code points of the blocks' content."""
    return sum(block.size_code_points for block in blocks)


def plan_blocks(blocks: Sequence[BlockRecord], budget: Budget, meter: Meter = count_code_points) -> Plan:
    """Required blocks, then each optional block that fits as a whole; one that does not is skipped and later ones are still tried.

    Args: meter: size of a selection in `budget.unit`. In code points the limit covers optional content only; in tokens it covers the
    whole selection plus `budget.reserved_output`.
    Raises: PromptBudgetError when the required blocks do not fit.
    """
    required = tuple(sorted((block for block in blocks if block.required), key=budget_order))
    required_size = meter(required)
    limit = budget.limit - budget.reserved_output if budget.counts_required else budget.limit
    required_limit = limit if budget.counts_required else budget.required_limit
    if required_limit is not None and required_size > required_limit:
        raise PromptBudgetError(required_size, required_limit, budget.unit)
    counted = required if budget.counts_required else ()
    used = required_size if budget.counts_required else 0
    chosen: list[BlockRecord] = []
    decisions = [Decision(block.position, block.block_id, True, "required", required_size) for block in required]  # noqa: FBT003 - a field, not a switch
    for block in sorted((block for block in blocks if not block.required), key=budget_order):
        size = meter((*counted, *chosen, block))
        fits = size <= limit
        if fits:
            chosen.append(block)
            used = size
        decisions.append(Decision(block.position, block.block_id, fits, "fits" if fits else "over_budget", size))
    included = tuple(sorted((*required, *chosen), key=presentation_order))
    return Plan(included, tuple(decisions), budget.unit, limit, required_size, used)


def budget_order(block: BlockRecord) -> tuple[bool, int, int, int, str]:
    """Sort key of who gets room first: required, then the higher priorities, then who was handed in first."""
    return (not block.required, -block.budget_priority, -block.presentation_priority, block.position, block.block_id)


def presentation_order(block: BlockRecord) -> tuple[bool, int, int, str]:
    """Sort key of the prompt: required blocks lead, then the higher presentation priority, then who was handed in first."""
    return (not block.required, -block.presentation_priority, block.position, block.block_id)
