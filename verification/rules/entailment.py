"""Layer 3 without a model: whether the cited texts, alone, support a claim. Any disagreement refuses; what is left is a score of overlap."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from verification.rules.contract import Finding
from verification.rules.entailment_clauses import best_clauses, find_borrowed_number, read_clauses
from verification.rules.entailment_context import find_context_fault, find_tear, is_taken_back
from verification.rules.entailment_direction import find_bound_fault, find_clause_fault, find_direction_fault
from verification.rules.entailment_names import find_missing_name, find_swap
from verification.rules.entailment_polarity import find_polarity_fault
from verification.rules.entailment_text import Sentence, fold_text, is_han, read_sentence, split_sentences, stem_word
from verification.rules.extract_sentences import CODE, HEADING, PROSE, clean_markdown, split_units
from verification.rules.numbers import Quantity, covers_quantity, read_quantities

if TYPE_CHECKING:
    from collections.abc import Sequence

# A stretch of evidence within this much of the best overlap may carry the claim as well as the best does.
TIE_MARGIN = 0.05
# Share of the score that the best stretch decides; the rest is overlap with all cited text.
STRETCH_SHARE = 0.7
MAX_STRETCH_SENTENCES = 2
_STANDS = "stands"


@dataclass(frozen=True, slots=True)
class Stretch:
    """One or two sentences of one cited text, the sentence after them, and how much of the claim they hold."""

    sentence: Sentence
    next_text: str
    overlap: float


def check_entailment(claim_text: str, cited_texts: Sequence[str], heading: str = "", threshold: float = 0.0, *, claim_id: str = "") -> Finding:
    """Judge one claim against all its cited texts together.

    Args: heading: heading path of the cited texts; it may name what the text is about, it never supports a value. threshold: least score, 0..1.
    Returns: layer L3; outcome ok or unsupported, with a code in detail; score is the overlap, also when something disagrees.
    Source: SYS-E2, answering.md "Verification".
    """
    whole = _find_whole(claim_text, cited_texts)
    if whole:
        return Finding(claim_id, None, "L3", "ok" if whole == _STANDS else "unsupported", "" if whole == _STANDS else whole, 1.0)
    claim = read_sentence(claim_text)
    stretches = _read_stretches(claim, cited_texts, heading)
    everything = " \n ".join((heading, *cited_texts))
    if not stretches or not (claim.stems or read_quantities(claim.text)):
        return Finding(claim_id, None, "L3", "unsupported", "nothing_to_compare", 0.0)
    best = max(stretch.overlap for stretch in stretches)
    score = STRETCH_SHARE * best + (1 - STRETCH_SHARE) * measure_overlap(claim, read_sentence(everything))
    if any(_is_verbatim(claim_text, text) for text in cited_texts):
        score = 1.0
    score = round(score, 6)
    fault = _find_fault(claim, cited_texts, everything) or _judge_stretches(claim, stretches, best)
    if not fault and score < threshold:
        fault = "too_little_overlap"
    return Finding(claim_id, None, "L3", "unsupported" if fault else "ok", fault, score)


def _find_whole(claim_text: str, cited_texts: Sequence[str]) -> str:
    """A claim that is a whole sentence, list item, row or record line of a cited text stands, unless the sentence after takes it back.

    Nothing is torn out of a negation or condition when all of the sentence is said. Empty when the claim is no whole one; a heading supports nothing.
    """
    wanted = _letters_of(claim_text)
    faults = []
    for text in cited_texts if wanted else ():
        units = split_units(text)
        for unit, following in zip_longest(units, units[1:]):
            if unit.kind not in {HEADING, CODE} and _letters_of(clean_markdown(text[unit.start : unit.end])) == wanted:
                after = fold_text(clean_markdown(text[following.start : following.end])) if following and following.kind == PROSE else ""
                faults.append("superseded" if is_taken_back(claim_text, after) else _STANDS)
    return _STANDS if _STANDS in faults else faults[0] if faults else ""


def _letters_of(text: str) -> str:
    """Letters, digits and signs of numbers; how cells are divided and lines are marked is left out."""
    return re.sub(r"[\s|·:：.。!！?？,，]+", "", fold_text(text).casefold())


def _is_verbatim(claim_text: str, text: str) -> bool:
    wanted = fold_text(claim_text).casefold().rstrip(".。!！?？ ")
    return bool(wanted) and wanted in fold_text(text).casefold()


def _read_stretches(claim: Sentence, cited_texts: Sequence[str], heading: str) -> list[Stretch]:
    head = read_sentence(heading)
    stretches: list[Stretch] = []
    for text in cited_texts:
        parts = split_sentences(text)
        for size in range(1, min(MAX_STRETCH_SENTENCES, len(parts)) + 1):
            for start in range(len(parts) - size + 1):
                sentence = read_sentence(" ".join(parts[start : start + size]))
                following = parts[start + size] if start + size < len(parts) else ""
                penalty = 0.02 * (size - 1)
                stretches.append(Stretch(sentence, following, measure_overlap(claim, sentence, head) - penalty))
    return stretches


def measure_overlap(claim: Sentence, evidence: Sentence, heading: Sentence | None = None) -> float:
    """Share of the claim's content words, weighted by length, that the evidence or its heading holds.

    A Chinese word that the evidence splits otherwise counts by its pairs of characters.
    """
    if not claim.stems:
        return 1.0
    held = evidence.stems | (heading.stems if heading else frozenset())
    text = evidence.text + (heading.text if heading else "")
    total = sum(_weigh(stem) for stem in claim.stems)
    return sum(_weigh(stem) * _share_held(stem, held, text) for stem in claim.stems) / total


def _weigh(stem: str) -> float:
    return min(len(stem), 4) if is_han(stem) else 1.0


def _share_held(stem: str, held: frozenset[str], text: str) -> float:
    if stem in held:
        return 1.0
    if not is_han(stem):
        return 0.0
    if stem in text:
        return 1.0
    pairs = [stem[place : place + 2] for place in range(len(stem) - 1)]
    return 0.8 * sum(pair in text for pair in pairs) / len(pairs) if pairs else 0.0


def _find_fault(claim: Sentence, cited_texts: Sequence[str], everything: str) -> str:
    """What no cited text holds: a number, a date, a name."""
    held = [quantity for text in cited_texts for quantity in read_quantities(fold_text(text))]
    held_by_head = read_quantities(everything)
    for quantity in read_quantities(claim.text):
        if not _is_covered(quantity, claim.text, [*held, *held_by_head], everything):
            return "number_not_in_evidence" if quantity.kind not in {"date", "time", "weekday"} else "date_not_in_evidence"
    if find_missing_name(claim.text, fold_text(everything)):
        return "name_not_in_evidence"
    return ""


def _is_covered(quantity: Quantity, text: str, held: list[Quantity], everything: str) -> bool:
    if any(covers_quantity(other, quantity) for other in held):
        return True
    if quantity.kind == "number" and quantity.value == 1 and quantity.text.lower() == "one":
        noun = _noun_after(quantity, text)
        return bool(noun and re.search(rf"\b(?:an?|the|single|each|every) (?:\w+ )?{re.escape(noun[:4])}", everything, re.I))
    if quantity.kind == "ordinal":
        # "first" is an adverb as often as a number; whether it numbers another thing is judged by sentence
        return quantity.value == 1 or any(other.kind == "number" and other.value == quantity.value for other in held)
    return quantity.kind == "per" and _says_frequency(quantity, held)


def _says_frequency(quantity: Quantity, held: list[Quantity]) -> bool:
    return any(other.kind == "duration" and other.unit == quantity.unit and other.value == 1 for other in held)


def _noun_after(quantity: Quantity, text: str) -> str:
    found = re.match(r"[ -]*([A-Za-z]+|[\u4e00-\u9fff]{1,2})", text[quantity.end :])
    return stem_word(found[1]) if found else ""


def _judge_stretches(claim: Sentence, stretches: list[Stretch], best: float) -> str:
    """No fault when one of the best stretches agrees in all; else the fault of the very best."""
    near = sorted((stretch for stretch in stretches if stretch.overlap >= best - TIE_MARGIN), key=lambda stretch: -stretch.overlap)
    faults = [_judge_stretch(claim, stretch) for stretch in near]
    return "" if "" in faults else faults[0]


def _judge_stretch(claim: Sentence, stretch: Stretch) -> str:
    evidence = stretch.sentence
    return (
        find_tear(claim.text, evidence)
        or find_context_fault(claim, evidence, stretch.next_text)
        or _find_polarity_by_clause(claim, evidence)
        or find_direction_fault(claim, evidence)
        or find_clause_fault(claim, evidence)
        or find_bound_fault(claim, evidence)
        or find_borrowed_number(claim, evidence)
        or _find_number_swap(claim, evidence)
        or find_swap(claim, evidence)
    )


def _find_polarity_by_clause(claim: Sentence, evidence: Sentence) -> str:
    """Each clause of the claim against the clause of the evidence that it is about."""
    theirs = list(read_clauses(evidence.text))
    for clause in read_clauses(claim.text):
        faults = [find_polarity_fault(clause.sentence, other.sentence) for other in best_clauses(clause.sentence.stems, theirs)]
        if faults and "" not in faults:
            return faults[0]
    return ""


def _find_number_swap(claim: Sentence, evidence: Sentence) -> str:
    """`number_of_another_thing` when the same counted thing has another number in the evidence."""
    theirs = [(quantity, _noun_after(quantity, evidence.text)) for quantity in read_quantities(evidence.text)]
    for quantity in read_quantities(claim.text):
        noun = _noun_after(quantity, claim.text)
        same_noun = [held for held, other in theirs if noun and other == noun and held.kind == quantity.kind]
        if same_noun and noun in claim.stems and not any(covers_quantity(held, quantity) for held in same_noun):
            return "number_of_another_thing"
    return ""
