"""The gates between gathering and the prompt, each pure and in one fixed order. Whatever a gate drops, it says so: (block, gate, reason)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from retrieval.context.blocks import EVIDENCE_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from retrieval.context.blocks import BlockRecord, CandidateRecord
    from retrieval.context.settings import PackSettings, StalePolicy, Threshold

GRANT, UNSAFE, THRESHOLD, VALIDATION, SETTINGS, DEDUPE, TOP_K, BUDGET = GATES = (
    "grant", "unsafe", "threshold", "validation", "chunk_settings", "dedupe", "top_k", "budget",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drop:
    """One block that a gate took out. Args: position: of its candidate, 0-based. owner: the block that stands for it after dedupe."""

    position: int
    block_id: str
    gate: str
    reason: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class ValidationOutcome:
    """What the current truth says of one candidate; read by the caller just before composing.

    Args: current_text_sha256: of the cited span as it reads now, empty when the span does not reproduce. settings_digest: of the chunk
    settings in force, empty when unknown. reason: code of a fault that the caller saw itself (a block hash, a lost original), else empty.
    """

    current_text_sha256: str
    document_sha256: str
    live: bool
    settings_digest: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """Who is left after the candidate gates, who is not, and whether the whole answer is refused."""

    kept: tuple[CandidateRecord, ...]
    drops: tuple[Drop, ...]
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Deduped:
    """One block a content; `rejected_context` names each loser with its owner."""

    kept: tuple[BlockRecord, ...]
    rejected_context: tuple[Drop, ...]


def pass_candidates(candidates: Sequence[CandidateRecord], validations: Mapping[str, ValidationOutcome], settings: PackSettings) -> Passed:
    """Gates 2 to 4 and the chunk settings, in order; what one gate drops the next one never sees."""
    kept, unsafe = _split(candidates, UNSAFE, unsafe_fault)
    kept, weak = _split(kept, THRESHOLD, lambda record: threshold_fault(record, settings.thresholds))
    kept, stale = _split(kept, VALIDATION, lambda record: stale_fault(record, validations.get(record.chunk_id)))
    kept, resettled = _split(kept, SETTINGS, lambda record: settings_fault(record, validations[record.chunk_id]))
    refusal = stale_refusal(candidates, stale, settings.stale)
    return Passed(() if refusal else tuple(kept), (*unsafe, *weak, *stale, *resettled), refusal)


def unsafe_fault(record: CandidateRecord) -> str | None:
    """Instruction-like or hidden text is never evidence, however well it matches (SYS-A7)."""
    return record.unsafe_reason or None


def threshold_fault(record: CandidateRecord, thresholds: Iterable[Threshold]) -> str | None:
    """`below_<score>`, or `missing_<score>` when a threshold stands and the score was never measured: None is not 0 (R07)."""
    for threshold in thresholds:
        if threshold.minimum is None or record.kind not in threshold.kinds:
            continue
        score = record.scores.get(threshold.score)
        if score is None:
            return f"missing_{threshold.score}"
        if score < threshold.minimum:
            return f"below_{threshold.score}"
    return None


def stale_fault(record: CandidateRecord, outcome: ValidationOutcome | None) -> str | None:
    """Why the candidate is not what the store holds now, or None (SYS-A8, SYS-C4). Without an outcome it fails closed."""
    if outcome is None:
        return "not_validated"
    return next((code for code, is_broken in _STALE_RULES if is_broken(record, outcome)), outcome.reason or None)


def settings_fault(record: CandidateRecord, outcome: ValidationOutcome) -> str | None:
    """A chunk cut under other settings than those in force is no evidence; only retrieved chunks have settings."""
    if record.kind != "rag":
        return None
    if not record.chunk_settings_digest or not outcome.settings_digest:
        return "chunk_settings_unknown"
    return None if record.chunk_settings_digest == outcome.settings_digest else "chunk_settings_changed"


def stale_refusal(candidates: Iterable[CandidateRecord], stale: Iterable[Drop], policy: StalePolicy) -> str:
    """`source_changed` under `refuse_all` when evidence is stale: to drop it silently could hide a conflict. Else empty."""
    evidence = {record.position for record in candidates if record.kind in EVIDENCE_KINDS}
    return "source_changed" if policy == "refuse_all" and any(drop.position in evidence for drop in stale) else ""


def dedupe_blocks(blocks: Iterable[BlockRecord]) -> Deduped:
    """One block for each content, over all channels and before the budget (SYS-C5).

    The owner is first by (required, budget priority, presentation priority, id); it keeps the sources of every loser (R04).
    """
    kept: list[BlockRecord] = []
    rejected: list[Drop] = []
    for _, same in groupby(sorted(blocks, key=lambda block: (block.dedupe_key, *owner_order(block))), key=lambda block: block.dedupe_key):
        owner, *losers = same
        sources = dict.fromkeys(source for block in (owner, *losers) for source in block.source_ids)
        kept.append(replace(owner, source_ids=tuple(sources)))
        rejected += (Drop(loser.position, loser.block_id, DEDUPE, "duplicate_content", owner.block_id) for loser in losers)
    return Deduped(tuple(sorted(kept, key=owner_order)), tuple(sorted(rejected, key=lambda drop: drop.position)))


def owner_order(block: BlockRecord) -> tuple[bool, int, int, str, int]:
    """Sort key: required first, then the higher priorities, then the id; the position parts two reads of one chunk."""
    return (not block.required, -block.budget_priority, -block.presentation_priority, block.block_id, block.position)


def select_top_k(blocks: Sequence[BlockRecord], top_k: int, max_per_document: int) -> tuple[tuple[BlockRecord, ...], tuple[Drop, ...]]:
    """At most `top_k` retrieved chunks, with diversity: a document's chunks past `max_per_document` wait until the others have had their turn.

    Places that are left go to those who waited, in rank order; so a single document still fills the whole list.
    """
    ranked = sorted((block for block in blocks if block.kind == "rag"), key=owner_order)
    turn: Counter[str] = Counter()
    first: list[BlockRecord] = []
    waiting: list[BlockRecord] = []
    for block in ranked:
        turn[block.document_id] += 1
        (waiting if turn[block.document_id] > max_per_document else first).append(block)
    chosen = {block.position for block in (*first, *waiting)[:top_k]}
    by_rank = {block.position for block in ranked[:top_k]}
    drops = tuple(
        Drop(block.position, block.block_id, TOP_K, "source_diversity" if block.position in by_rank else "beyond_top_k")
        for block in ranked
        if block.position not in chosen
    )
    return tuple(block for block in blocks if block.kind != "rag" or block.position in chosen), drops


def _split(
    records: Iterable[CandidateRecord], gate: str, fault_of: Callable[[CandidateRecord], str | None]
) -> tuple[list[CandidateRecord], list[Drop]]:
    kept: list[CandidateRecord] = []
    drops: list[Drop] = []
    for record in records:
        reason = fault_of(record)
        if reason is None:
            kept.append(record)
        else:
            drops.append(Drop(record.position, record.block_id, gate, reason))
    return kept, drops


_STALE_RULES: Final[tuple[tuple[str, Callable[[CandidateRecord, ValidationOutcome], bool]], ...]] = (
    ("not_live", lambda record, outcome: not (record.live and outcome.live)),
    ("text_altered", lambda record, _: record.observed_sha256 != record.text_sha256),
    ("document_changed", lambda record, outcome: record.document_sha256 != outcome.document_sha256),
    ("span_gone", lambda _, outcome: not outcome.current_text_sha256),
    ("text_changed", lambda record, outcome: record.text_sha256 != outcome.current_text_sha256),
)
