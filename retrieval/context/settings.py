"""The numbers that change what a prompt holds. They are rows of a versioned policy; the defaults here are its seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from rag4c.kernel.errors import Invalid
from retrieval.context.blocks import OPTIONAL_KINDS, Priorities

Unit = Literal["code_points", "tokens", "tokens_upper_bound"]
StalePolicy = Literal["refuse_all", "drop"]
_RANK_SCORES = frozenset({"rrf", "min_max"})  # they say who is before whom, not how near a text is


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least score of one name that a candidate needs.

    Args: minimum: None switches the threshold off; 0 is a threshold like any other (R07). kinds: whom it concerns.
    Raises: Invalid("threshold_score"): a fused rank score is no similarity (R06). Invalid("threshold_minimum"), Invalid("threshold_kinds").
    """

    score: str
    minimum: float | None
    kinds: tuple[str, ...] = ("rag",)

    def __post_init__(self) -> None:
        if not self.score or self.score in _RANK_SCORES:
            raise Invalid("threshold_score", "Name a score that measures likeness, such as dense_cosine or rerank.", {"score": self.score})
        if self.minimum is not None and not math.isfinite(self.minimum):
            raise Invalid("threshold_minimum", "A threshold is a finite number, or off.", {"score": self.score})
        if not set(self.kinds) <= set(OPTIONAL_KINDS):
            raise Invalid("threshold_kinds", "A threshold names kinds of optional blocks.", {"score": self.score})


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may enter, and in which unit.

    Args: limit: in `unit`. In code points it covers the content of optional blocks, and `required_limit` covers the required ones
    (None: no limit). In tokens it covers the whole serialised prompt together with `reserved_output`.
    Raises: Invalid("budget_limit").
    """

    limit: int = 12_000
    unit: Unit = "code_points"
    required_limit: int | None = 6_000
    reserved_output: int = 0

    def __post_init__(self) -> None:
        if self.limit < 0 or self.reserved_output < 0 or (self.required_limit or 0) < 0:
            raise Invalid("budget_limit", "A budget is not negative.")

    @property
    def counts_required(self) -> bool:
        """Whether required blocks share the limit with the optional ones."""
        return self.unit != "code_points"


@dataclass(frozen=True, slots=True)
class PackSettings:
    """One policy revision, as the composer needs it.

    Args: policy_rev: digest of the policy rows in force. top_k: most retrieved chunks. max_per_document: how many chunks of one
    document stand before other documents have had their turn. stale: what a changed source does to the answer.
    Raises: Invalid("policy_rev"), Invalid("top_k"), Invalid("max_per_document").
    """

    policy_rev: str
    thresholds: tuple[Threshold, ...] = ()
    stale: StalePolicy = "refuse_all"
    top_k: int = 12
    max_per_document: int = 4
    budget: Budget = field(default_factory=Budget)
    priorities: Priorities = field(default_factory=Priorities)

    def __post_init__(self) -> None:
        if not self.policy_rev:
            raise Invalid("policy_rev", "Name the policy revision that the settings come from.")
        if self.top_k < 1:
            raise Invalid("top_k", "At least one chunk must be allowed.")
        if self.max_per_document < 1:
            raise Invalid("max_per_document", "At least one chunk of a document must be allowed.")
