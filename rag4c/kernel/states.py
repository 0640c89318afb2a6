"""State machines as one table each; the diagram in docs/states/ is printed from the table."""

from __future__ import annotations

from dataclasses import dataclass

from rag4c.kernel.errors import Conflict


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed move. event: what happened, in the words of the ledger."""

    source: str
    target: str
    event: str


@dataclass(frozen=True, slots=True)
class Machine:
    """A named machine. The first state is the initial one; a state with no way out is terminal."""

    name: str
    states: tuple[str, ...]
    transitions: tuple[Transition, ...]

    def __post_init__(self) -> None:
        known = set(self.states)
        for move in self.transitions:
            if move.source not in known or move.target not in known:
                raise ValueError(f"{self.name}: unknown state in {move}")

    @property
    def initial(self) -> str:
        """The state in which a row is born."""
        return self.states[0]

    @property
    def terminal(self) -> frozenset[str]:
        """States without a way out."""
        return frozenset(self.states) - {move.source for move in self.transitions}

    @property
    def choices(self) -> list[tuple[str, str]]:
        """For a model field."""
        return [(state, state) for state in self.states]

    def allows(self, source: str, target: str) -> bool:
        """Whether the move is in the table."""
        return any(move.source == source and move.target == target for move in self.transitions)

    def check(self, source: str, target: str) -> None:
        """Raises: Conflict("state_move_refused") when the move is not in the table."""
        if not self.allows(source, target):
            raise Conflict("state_move_refused", f"{self.name} cannot go from {source} to {target}.", {"from": source, "to": target})

    def mermaid(self) -> str:
        """The diagram, as docs/states/<name>.md holds it."""
        lines = [f"# {self.name}", "", "```mermaid", "stateDiagram-v2", f"    [*] --> {self.initial}"]
        lines += [f"    {move.source} --> {move.target}: {move.event}" for move in self.transitions]
        lines += [f"    {state} --> [*]" for state in self.states if state in self.terminal]
        return "\n".join([*lines, "```", ""])
