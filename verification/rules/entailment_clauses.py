"""Clauses: what one part of a sentence says must not be borrowed by a claim about another part ("laptops every four years; tablets every three")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from verification.rules.entailment_text import Sentence, read_sentence
from verification.rules.numbers import Quantity, covers_quantity, in_base_unit, read_quantities

_SPLIT = re.compile(r"(?<!\d)[,，](?!\d)|[;；]|(?<!\d)[:：]|\b(?:and|but|while|whereas|yet)\b|(?:但是|但|而|却)(?![且言])", re.I)
# A clause may leave out its subject and take it from what stands before; its own words count a little more.
INHERITED_SHARE = 0.9
_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, and the content words said before it in the same sentence."""

    sentence: Sentence
    inherited: frozenset[str]
    quantities: tuple[Quantity, ...]


@lru_cache(maxsize=4096)
def read_clauses(text: str) -> tuple[Clause, ...]:
    """Clauses of a folded sentence; a part without content words ("Monday and Friday") belongs to what stands before it, or else after it."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [found.end() for found in _SPLIT.finditer(text)] + [len(text)]:
        if read_sentence(text[start:end]).stems:
            spans.append((start, end))
        elif spans:
            spans[-1] = (spans[-1][0], end)
        else:
            continue
        start = end
    clauses: list[Clause] = []
    said: frozenset[str] = frozenset()
    for first, last in spans or [(0, len(text))]:
        part = read_sentence(text[first:last])
        clauses.append(Clause(part, said, read_quantities(part.text)))
        said |= part.stems
    return tuple(clauses)


def rank_clause(stems: frozenset[str], clause: Clause) -> float:
    """How much of these words the clause holds, itself or by what it inherits."""
    own = stems & clause.sentence.stems
    return len(own) + INHERITED_SHARE * len((stems - own) & clause.inherited)


def best_clauses(stems: frozenset[str], clauses: list[Clause]) -> list[Clause]:
    """The clauses that hold most of these words; several when even."""
    ranks = [rank_clause(stems, clause) for clause in clauses]
    return [clause for clause, rank in zip(clauses, ranks, strict=True) if rank >= max(ranks) - _EVEN]


def find_borrowed_number(claim: Sentence, evidence: Sentence) -> str:
    """`number_of_another_thing` when a number of the claim stands in the evidence, but in a clause about something else, while the clause that
    the claim is about has another number of that unit."""
    theirs = read_clauses(evidence.text)
    for clause in read_clauses(claim.text):
        for quantity in clause.quantities:
            rivals = [other for other in theirs if any(_is_comparable(held, quantity) for held in other.quantities)]
            if not rivals or not clause.sentence.stems:
                continue
            best = best_clauses(clause.sentence.stems, rivals)
            if not any(covers_quantity(held, quantity) for other in best for held in other.quantities):
                return "number_of_another_thing"
    return ""


def _is_comparable(held: Quantity, asked: Quantity) -> bool:
    return held.kind == asked.kind and in_base_unit(held)[1] == in_base_unit(asked)[1]
