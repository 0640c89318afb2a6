"""Joins several rankings into one. Pure, and the same on every machine: sums do not depend on order, ties go by id."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RRF_K = 60  # the constant of Cormack et al. 2009, section 2


@dataclass(frozen=True, slots=True)
class Fused:
    """One id with its joined score and its 1-based rank in each list that named it."""

    id: str
    score: float
    ranks: Mapping[str, int]


def fuse_rrf(rankings: Mapping[str, Sequence[str]], k: int = RRF_K, weights: Mapping[str, float] | None = None) -> tuple[Fused, ...]:
    """Reciprocal rank fusion: score(d) = sum over lists of weight / (k + rank(d)), best first, ties by id.

    Args: rankings: list name -> ids, best first; an id named twice in one list counts at its first place.
    k: at least 1. weights: list name -> weight at or above 0; a list not named weighs 1.
    Raises: Invalid("fusion_k"), Invalid("fusion_weight").
    Source: Cormack, Clarke, Buettcher 2009, "Reciprocal rank fusion outperforms Condorcet"; SYS-E6.
    """
    if k < 1:
        raise Invalid("fusion_k", "Give a k of at least 1.")
    weight_of = _checked_weights(rankings, weights)
    ranks = {name: _first_ranks(ids) for name, ids in rankings.items()}
    parts = {name: {item: weight_of[name] / (k + rank) for item, rank in placed.items()} for name, placed in ranks.items()}
    return _joined(parts, ranks)


def fuse_min_max(scored: Mapping[str, Mapping[str, float]], weights: Mapping[str, float] | None = None) -> tuple[Fused, ...]:
    """The other policy: each list's scores are scaled to 0..1, weighted and summed; best first, ties by id.

    Args: scored: list name -> id -> finite score, higher is better; a list whose scores are all equal gives each id 1.
    weights: as in `fuse_rrf`.
    Raises: Invalid("fusion_score"), Invalid("fusion_weight").
    Source: Bruch, Gai, Ingber 2023, "An analysis of fusion functions for hybrid retrieval" (convex combination).
    """
    weight_of = _checked_weights(scored, weights)
    ranks: dict[str, dict[str, int]] = {}
    parts: dict[str, dict[str, float]] = {}
    for name, scores in scored.items():
        if not all(math.isfinite(score) for score in scores.values()):
            raise Invalid("fusion_score", "Every score must be a finite number.", {"list": name})
        ranks[name] = _first_ranks(sorted(scores, key=lambda item: (-scores[item], item)))
        parts[name] = {item: weight_of[name] * share for item, share in _scaled(scores).items()}
    return _joined(parts, ranks)


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if high == low:
        return dict.fromkeys(scores, 1.0)
    unit = 1.0 if math.isfinite(high - low) else 0.5  # two ends near the largest float are halved first, tiny ones must not be
    return {item: (score * unit - low * unit) / (high * unit - low * unit) for item, score in scores.items()}


def _first_ranks(ids: Iterable[str]) -> dict[str, int]:
    return {item: rank for rank, item in enumerate(dict.fromkeys(ids), start=1)}


def _checked_weights(lists: Mapping[str, object], weights: Mapping[str, float] | None) -> dict[str, float]:
    given = weights or {}
    for name, weight in given.items():
        if name not in lists or not math.isfinite(weight) or weight < 0:
            raise Invalid("fusion_weight", "A weight is a finite number at or above 0 for a list that is there.", {"list": name})
    return {name: given.get(name, 1.0) for name in lists}


def _joined(parts: Mapping[str, Mapping[str, float]], ranks: Mapping[str, Mapping[str, int]]) -> tuple[Fused, ...]:
    ids = {item for placed in parts.values() for item in placed}
    fused = (
        Fused(
            id=item,
            score=math.fsum(placed[item] for placed in parts.values() if item in placed),
            ranks={name: placed[item] for name, placed in sorted(ranks.items()) if item in placed},
        )
        for item in ids
    )
    return tuple(sorted(fused, key=lambda one: (-one.score, one.id)))
