"""From permitted candidates to an evidence pack, or to the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Invalid
from retrieval.context.blocks import block_of, record_of, required_record_of
from retrieval.context.decision import DecisionInput, decide
from retrieval.context.manifest import Rendered, build_manifest
from retrieval.context.parts import required_blocks
from retrieval.context.planner import count_code_points
from retrieval.context.policy import Routing, route
from retrieval.context.render import Material, number_evidence, render_prompt, upper_bound_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag4c.kernel.grant import Grant
    from retrieval.context.blocks import BlockRecord, Candidate, ContextBlock, SourceRef
    from retrieval.context.decision import DecisionOutput
    from retrieval.context.gates import Drop, ValidationOutcome
    from retrieval.context.manifest import DecisionManifest
    from retrieval.context.planner import Meter, Plan
    from retrieval.context.policy import ContextQuery
    from retrieval.context.settings import PackSettings, Unit


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One citable item. Args: n: 1-based number, the `[N]` of prompt, answer and page. sources: its own place first. why: kind and order."""

    n: int
    evidence_id: str
    candidate: Candidate
    sources: tuple[SourceRef, ...]
    why: str


@dataclass(frozen=True, slots=True)
class EvidencePack:
    """What the generator gets. Args: blocks: in the order of the prompt. drops: all that gates took out, duplicates included;
    it names refused items too, so it is for the record and never for the reader.
    """

    evidence: tuple[EvidenceItem, ...]
    blocks: tuple[ContextBlock, ...]
    prompt: str
    manifest: DecisionManifest
    drops: tuple[Drop, ...]


@dataclass(frozen=True, slots=True)
class Insufficient:
    """Why there is no pack: `no_evidence`, `low_retrieval`, `source_changed`, `chunk_settings_changed` or `prompt_budget`."""

    reason: str
    manifest: DecisionManifest
    drops: tuple[Drop, ...]


def compose(
    query: ContextQuery,
    grant: Grant,
    candidates: Sequence[Candidate] | Routing[Candidate],
    validations: Mapping[str, ValidationOutcome],
    settings: PackSettings,
    count_tokens: Callable[[str], int] | None = None,
) -> EvidencePack | Insufficient:
    """Gates, plan, prompt and manifest for one question. The grant is asked again here, whatever the router let through.

    Args: query: from `policy.ask`, under the same grant. candidates: best first, or what `policy.route` gave. validations: by chunk id,
    read just before; a candidate without one is stale. count_tokens: of the model's own tokenizer, needed for a budget in tokens.
    Raises: Invalid("token_counter").
    Source: SYS-A7 to SYS-A10, SYS-C1 to SYS-C7; context.md.
    """
    routing = candidates if isinstance(candidates, Routing) else None
    handed = candidates.selected if isinstance(candidates, Routing) else tuple(candidates)
    checked = route(handed, grant, query)
    required = required_blocks(grant)
    given = DecisionInput(
        query=query,
        grant=grant,
        candidates=tuple(record_of(candidate, position) for position, candidate in enumerate(handed)),
        validations=validations,
        settings=settings,
        required=tuple(map(required_record_of, required)),
    )
    material = Material(
        question=query.text,
        contents={block.block_id: block.content for block in required},
        candidates=dict(enumerate(handed)),
        sources={place.chunk_id: place for candidate in reversed(checked.selected) for place in (*candidate.sources, candidate.own_source)},
    )
    outcome = decide(given, _meter_of(settings.budget.unit, material, count_tokens))
    prompt = render_prompt(outcome.plan.included, material) if outcome.plan else ""
    router = routing.rejected if routing else checked.rejected
    manifest = build_manifest(given, outcome, Rendered(prompt=prompt, router=router, is_routed_by_caller=routing is not None))
    return _pack(outcome, material, prompt, manifest)


def _pack(outcome: DecisionOutput, material: Material, prompt: str, manifest: DecisionManifest) -> EvidencePack | Insufficient:
    drops = (*outcome.drops, *outcome.rejected_context)
    if outcome.reason or outcome.plan is None:
        return Insufficient(outcome.reason, manifest, drops)
    return EvidencePack(
        evidence=_evidence_items(outcome.plan, material),
        blocks=tuple(block_of(block, _content_of(block, material)) for block in outcome.plan.included),
        prompt=prompt,
        manifest=manifest,
        drops=drops,
    )


def _evidence_items(plan: Plan, material: Material) -> tuple[EvidenceItem, ...]:
    items = []
    for numbered in number_evidence(plan.included):
        block, candidate = numbered.block, material.candidates[numbered.block.position]
        others = tuple(material.sources[source] for source in block.source_ids if source != candidate.chunk_id)
        why = f"{block.kind}:{block.budget_priority}"
        items.append(EvidenceItem(numbered.n, block.block_id, candidate, (candidate.own_source, *others), why))
    return tuple(items)


def _content_of(block: BlockRecord, material: Material) -> str:
    return material.contents[block.block_id] if block.required else material.candidates[block.position].text


def _meter_of(unit: Unit, material: Material, count_tokens: Callable[[str], int] | None) -> Meter:
    if unit == "code_points":
        return count_code_points
    count = upper_bound_tokens if unit == "tokens_upper_bound" else count_tokens
    if count is None:
        raise Invalid("token_counter", "A budget in tokens needs the model's token counter; without one use tokens_upper_bound.")
    return lambda blocks: count(render_prompt(blocks, material))
