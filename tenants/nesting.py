"""Pure rules of trees and nests: no cycle, and no chain longer than stated."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_GROUP_DEPTH: Final = 5  # groups in one chain; deeper nests are beyond what a person reviewing access can follow
MAX_UNIT_DEPTH: Final = 12  # units from a team to the top; large organisations have 8 to 10 levels
K = TypeVar("K")


def refuse_edge(edges: Iterable[tuple[K, K]], child: K, parent: K, max_depth: int) -> str | None:
    """Why `child` may not be put into `parent`, given the (child, parent) pairs in force: `cycle`, `too_deep`, or None.

    Args: edges: free of cycles. max_depth: members of the longest chain that may arise.
    """
    above: defaultdict[K, list[K]] = defaultdict(list)
    below: defaultdict[K, list[K]] = defaultdict(list)
    for low, high in edges:
        above[low].append(high)
        below[high].append(low)
    up, down = _levels(above, parent), _levels(below, child)
    if child in up or child == parent:
        return "cycle"
    return "too_deep" if max(up.values()) + max(down.values()) > max_depth else None


def _levels(graph: Mapping[K, list[K]], start: K) -> dict[K, int]:
    """node -> length in nodes of the longest way to it from `start`; the graph has no cycle."""
    levels, todo = {start: 1}, [start]
    while todo:
        node = todo.pop()
        for following in graph.get(node, ()):
            if levels.get(following, 0) < levels[node] + 1:
                levels[following] = levels[node] + 1
                todo.append(following)
    return levels
