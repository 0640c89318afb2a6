"""Answers made of whole sentences of the passages, without a language model: rank the sentences, join what belongs together, say how sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verification.rules.contract import CitedSpan, Claim, Draft
from verification.rules.extract_cover import Candidate, list_candidates, prefilter, score_cover, starts_with_pronoun, weigh_words
from verification.rules.extract_features import score_details, score_vectors
from verification.rules.extract_model import CONFIDENCE_NAME, MAX_MARGIN, logit_of, needs_probe, rate_answer, rate_rank
from verification.rules.extract_probe import probe_candidate
from verification.rules.extract_sentences import ITEM, RECORD, ROW, clean_markdown, split_sentences, split_units
from verification.rules.extract_weights import RANK_WEIGHTS
from verification.rules.question_types import QUANTITY_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import AnswerThresholds, Embed, Passage
    from verification.rules.extract_sentences import Unit
    from verification.rules.question import QuestionReading

NEAR_SHARE = 0.5  # of the best rank score: near enough to step in for a sentence that gives no value of the asked kind
SHORT_ITEM_WORDS = 8  # an item this short says little without its lead-in
_LEAD_MARKS = (":", "：")

__all__ = ["draft_answer", "rank_sentences", "split_sentences"]


def rank_sentences(reading: QuestionReading, passages: Sequence[Passage], embed: Embed) -> list[tuple[float, Candidate]]:
    """The candidates that were worth an embedding, the most promising first, each with its rank score (0 to 1)."""
    candidates = list_candidates(passages)
    weights = weigh_words(reading, passages)
    score_cover(reading, candidates, weights)
    kept = prefilter(reading, candidates)
    score_details(reading, kept, weights)
    score_vectors(reading, kept, embed)
    rated = [(rate_rank(candidate.values), candidate) for candidate in kept]
    return sorted(rated, key=lambda pair: (-pair[0], pair[1].rank, pair[1].index))


def rate_confidence(reading: QuestionReading, ranked: Sequence[tuple[float, Candidate]], candidate: Candidate, embed: Embed) -> float:
    """How likely the sentence answers the question, on the scale `CONFIDENCE_NAME`.

    Args: ranked: all that `rank_sentences` gave; how far the candidate leads, or trails, the next one counts.
    """
    return rate_answer(answer_values(reading, ranked, candidate, embed), reading.lang)


def answer_values(reading: QuestionReading, ranked: Sequence[tuple[float, Candidate]], candidate: Candidate, embed: Embed) -> dict[str, float]:
    """All features of a sentence, with its lead over the others and, where the language's model wants them, the probes."""
    others = [logit_of(RANK_WEIGHTS, other.values) for _, other in ranked if other is not candidate]
    margin = logit_of(RANK_WEIGHTS, candidate.values) - max(others, default=-MAX_MARGIN)
    values = candidate.values | {"margin": max(-MAX_MARGIN, min(MAX_MARGIN, margin))}
    return values | probe_candidate(reading, candidate, embed) if needs_probe(reading.lang) else values


def draft_answer(reading: QuestionReading, passages: Sequence[Passage], embed: Embed, thresholds: AnswerThresholds) -> Draft | None:
    """The best sentence with what it needs to be understood, cited; None when no passage holds a sentence.

    Args: passages: the evidence pack in order. thresholds: only `max_claims` is used here; whether to answer is decided later.
    """
    ranked = rank_sentences(reading, passages, embed)
    if not ranked:
        return None
    best = _choose(reading, ranked)
    confidence = rate_confidence(reading, ranked, best, embed)
    spans = _join_spans(reading, best, max(1, thresholds.max_claims))
    claims = tuple(_make_claim(number, best.passage, span) for number, span in enumerate(spans, start=1))
    text = " ".join(f"{claim.text} [{best.passage.n}]" for claim in claims)
    return Draft(text=text, claims=claims, confidence=round(confidence, 6), confidence_name=CONFIDENCE_NAME, mode="extractive")


def _choose(reading: QuestionReading, ranked: Sequence[tuple[float, Candidate]]) -> Candidate:
    """The most promising sentence; where a measure is asked and it has none, the next of about the same promise that has one."""
    first, best = ranked[0]
    if reading.answer_type in QUANTITY_TYPES and not best.values["type"]:
        return next((candidate for rate, candidate in ranked if rate >= first * NEAR_SHARE and candidate.values["type"]), best)
    return best


def _make_claim(number: int, passage: Passage, span: tuple[int, int]) -> Claim:
    return Claim(f"c{number}", clean_markdown(passage.text[slice(*span)]), (passage.n,), (CitedSpan(passage.n, *span),))


def _join_spans(reading: QuestionReading, best: Candidate, max_claims: int) -> list[tuple[int, int]]:
    """The sentence itself; before it its lead-in or the sentence its pronoun points to; after a lead-in its items."""
    units = split_units(best.passage.text)
    unit, index = units[best.index], best.index
    chosen = [index]
    is_lead = best.text.endswith(_LEAD_MARKS)
    if is_lead:
        chosen += [i for i in range(index + 1, len(units)) if units[i].kind == ITEM and units[i].lead == index]
    elif _needs_lead(reading, best, units):
        chosen.insert(0, unit.lead)
    elif starts_with_pronoun(best.text) and index and units[index - 1].kind == unit.kind:
        chosen.insert(0, index - 1)
    kept = chosen[:max_claims] if is_lead or index in chosen[:max_claims] else [index]
    return [(units[i].start, units[i].end) for i in kept]


def _needs_lead(reading: QuestionReading, best: Candidate, units: Sequence[Unit]) -> bool:
    """A row without its head and a short item without its lead-in do not say what they are about."""
    unit = best.unit
    if unit.lead < 0:
        return False
    if unit.kind in {ROW, RECORD}:
        return units[unit.lead].kind == unit.kind
    return unit.kind == ITEM and reading.lang == "en" and len(best.text.split()) <= SHORT_ITEM_WORDS
