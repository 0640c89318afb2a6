"""Pure rules of principals: what a person is through memberships, nested groups, units and roles, and by which chain."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.grant import EVERYONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    EdgeMap = Mapping[str, list["Edge"]]


@dataclass(frozen=True, slots=True)
class Edge:
    """Whoever is `source` is `target` too, since then. Both are principals: `user:<id>`, `group:<id>`, `unit:<id>`, `role:<code>`."""

    source: str
    target: str
    since: datetime


def map_edges(edges: Iterable[Edge]) -> EdgeMap:
    """source -> its edges, in a stable order."""
    mapped: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in sorted(edges, key=lambda edge: (edge.source, edge.target)):
        mapped[edge.source].append(edge)
    return mapped


def trace_principals(person: str, edges: EdgeMap) -> dict[str, tuple[Edge, ...]]:
    """principal -> the shortest chain from the person to it; empty for the person and for everyone."""
    chains: dict[str, tuple[Edge, ...]] = {person: (), EVERYONE: ()}
    todo = deque([person])
    while todo:
        node = todo.popleft()
        for edge in edges.get(node, ()):
            if edge.target not in chains:
                chains[edge.target] = (*chains[node], edge)
                todo.append(edge.target)
    return chains
