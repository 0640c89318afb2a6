"""What stands around a fact: title, headings, table head and its own line. A question may name the fact by these too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.extract_cover import title_of
from verification.rules.extract_sentences import split_units

if TYPE_CHECKING:
    from verification.rules.contract import FactRow, Passage

# chunk id -> the passage that holds it; None where it may not be read
ReadPassage = Callable[[str], "Passage | None"]


@dataclass(frozen=True, slots=True)
class FactContext:
    """`headings`: title and headings. `heads`: these, the head of the table and what leads into it. `line`: the row or line itself."""

    headings: tuple[str, ...]
    heads: str
    line: str


def no_passage(_chunk_id: str) -> None:
    """Nothing is known around a fact."""


def read_context(fact: FactRow, read: ReadPassage) -> FactContext:
    """The surroundings of a fact, empty where its passage may not be read."""
    passage = read(fact.chunk_id)
    if passage is None:
        return FactContext((), "", "")
    headings = (title_of(passage), *passage.heading_path)
    units = split_units(passage.text)
    place = fact.span_start - passage.span_start
    own = next((number for number, unit in enumerate(units) if unit.start <= place < unit.end), -1)
    leads: list[int] = []
    at = units[own].lead if own >= 0 else -1
    while at >= 0 and at not in leads:
        leads.append(at)
        at = units[at].lead
    texts = [passage.text[unit.start : unit.end] for unit in units]
    return FactContext(headings, "\n".join((*headings, *(texts[number] for number in leads))), texts[own] if own >= 0 else "")
