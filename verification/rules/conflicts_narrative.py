"""Sentences of other documents that answer the same question with another value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.conflicts_subject import SAID, carries_names, covers_word, family_share, lost_words, names_other, said_with, same_row_subject
from verification.rules.conflicts_values import FREQUENCY, SAME_TEMPLATE, differs, is_twin, share_of_words
from verification.rules.extract_cover import Candidate, context_of, list_candidates, prefilter, score_cover, title_of, weigh_words
from verification.rules.extract_features import score_details, score_vectors
from verification.rules.extract_model import rate_rank
from verification.rules.lexicon_words import cover_of, prepare_text, read_words, stem_word
from verification.rules.numbers import fold_width
from verification.rules.question_types import QUANTITY_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verification.rules.contract import Draft, Embed, Passage
    from verification.rules.lexicon_words import Word
    from verification.rules.question import QuestionReading

ALWAYS_READ = 12  # passages of the evidence pack, read whole; the others only where they carry half of the question's words
MAX_COMPARED = 8
LONG_TWIN_WORDS = 6
MIN_COVER = 0.5  # a sentence whose passage carries less of the question is held against its own twins only
MIN_COVER_OF_TWIN = 0.3  # less than this is about something else, however much its twin contradicts it
MAX_LOST = 0.7  # share, by weight, of the question words in the chosen sentence that the other may do without
RELATIONS = frozenset(map(stem_word, ("after", "before", "within", "until", "since", "during")))  # they relate; they name nothing
MORE_MISSING = 0.35  # on the scale of the heaviest question word
_VALUE_WORDS = frozenset(["only", "just", "solely", "always", "never", "not", "must", "may", "annual", "只", "仅", "必须", "可以", "不"])


@dataclass(frozen=True, slots=True)
class ConflictLimits:
    """When two sentences are taken to answer the same question.

    By the question: the other covers its words and is rated nearly as well. By the statement: the two say nearly the same of the same names,
    or tell of the same event in other words. Similarities belong to the embedding space.
    """

    min_rank_share: float = 0.5
    min_rank: float = 0.1
    min_cover_share: float = 0.8
    min_similarity: float = 0.86
    min_cover_share_of_twin: float = 0.4
    min_similarity_of_twin: float = 0.93
    min_similarity_of_event: float = 0.89
    min_shared_words_of_event: float = 0.5
    min_cover_share_of_event: float = 0.7


def find_rivals(
    reading: QuestionReading, draft: Draft, passages: Sequence[Passage], embed: Embed, limits: ConflictLimits
) -> tuple[Candidate | None, list[Candidate]]:
    """The candidate that the draft cites, and the others that answer the same with another value."""
    candidates = [candidate for candidate in list_candidates(_promising(reading, passages)) if _may_answer(reading, candidate)]
    weights = weigh_words(reading, passages[:ALWAYS_READ])
    cited = _cited(draft, candidates)
    score_cover(reading, candidates, weights)
    score_details(reading, cited, weights)
    chosen = max(cited, key=lambda candidate: candidate.values["cov_sent"] + candidate.values["type"], default=None)
    if chosen is None or chosen.values["cov_ctx"] < MIN_COVER_OF_TWIN or not carries_names(reading, chosen):
        return chosen, []
    pool = [other for other in candidates if _is_long_twin(chosen, other)] if chosen.values["cov_ctx"] < MIN_COVER else candidates
    others = [other for other in pool if not _drops_subject(reading, weights, chosen, other) and _is_comparable(reading, chosen, other, limits)]
    kept = prefilter(reading, others, limit=MAX_COMPARED)
    score_details(reading, kept, weights)
    score_vectors(reading, [chosen, *kept], embed)
    return chosen, [other for other in kept if _is_rival(reading, chosen, other, embed, limits)]


def _promising(reading: QuestionReading, passages: Sequence[Passage]) -> list[Passage]:
    """The evidence pack, and of the rest the passages that carry half of the question's words."""
    return [
        passage
        for place, passage in enumerate(passages)
        if place < ALWAYS_READ or _rough_cover(reading, "\n".join((*passage.heading_path, passage.text))) >= 0.5
    ]


def _may_answer(reading: QuestionReading, candidate: Candidate) -> bool:
    return candidate.rank < ALWAYS_READ or _rough_cover(reading, candidate.near) >= 0.34


def _rough_cover(reading: QuestionReading, text: str) -> float:
    """Share of question words whose beginning occurs anywhere: a cheap look before the careful one."""
    folded = fold_width(text).casefold() if not text.isascii() else text.casefold()
    roots = [word.key if word.is_number or not word.key.isascii() else word.key[: max(3, len(word.key) - 1)] for word in reading.words]
    return sum(root in folded for root in roots) / len(roots) if roots else 0.0


def _cited(draft: Draft, candidates: Sequence[Candidate]) -> list[Candidate]:
    spans = [span for claim in draft.claims for span in claim.spans]
    return [
        candidate
        for candidate in candidates
        if any(span.n == candidate.passage.n and span.start < candidate.unit.end and candidate.unit.start < span.end for span in spans)
    ]


def _is_comparable(reading: QuestionReading, chosen: Candidate, other: Candidate, limits: ConflictLimits) -> bool:
    if other.text == chosen.text or other.values["hard_ctx"] < chosen.values["hard_ctx"] - 0.01:
        return False
    if _event_cover_share(reading, chosen, other) < min(limits.min_cover_share, limits.min_cover_share_of_twin):
        return False
    if not _has_subject(reading, chosen, other, limits):
        return False
    if other.passage.document_id == chosen.passage.document_id and share_of_words(chosen.text, other.text) < SAME_TEMPLATE:
        return False
    return differs(reading, chosen, other)


def _has_subject(reading: QuestionReading, chosen: Candidate, other: Candidate, limits: ConflictLimits) -> bool:
    """Whether the other sentence is about what the question names, as far as the chosen one is."""
    if not same_row_subject(reading, chosen, other) or _is_other_subject(reading, chosen, other):
        return False
    titles = prepare_text("\n".join((title_of(chosen.passage), *chosen.passage.heading_path)))
    said, there = prepare_text(chosen.text), context_of(other.passage)
    named = [word for word in reading.words if cover_of(word, titles) >= 0.75 > cover_of(word, said)]
    if any(covers_word(word, there) < 0.5 for word in named):
        return False  # the chosen sentence leaves its subject to the heading, and the other stands under another one
    if reading.answer_type == "yes_no" or _is_long_twin(chosen, other):
        return True
    if _tells_same_event(reading, chosen, other, limits):
        return True
    return other.values["worst_ctx"] <= chosen.values["worst_ctx"] + MORE_MISSING


def _is_long_twin(chosen: Candidate, other: Candidate) -> bool:
    return len(read_words(other.text)) >= LONG_TWIN_WORDS and is_twin(chosen.text, other.text)


def _drops_subject(reading: QuestionReading, weights: Mapping[Word, float], chosen: Candidate, other: Candidate) -> bool:
    """Whether most of what ties the chosen sentence to the question is missing at the other."""
    if reading.answer_type == "yes_no":
        return False
    said = prepare_text(chosen.text)
    tied = sum(weights[word] for word in reading.words if cover_of(word, said) >= SAID and word.key not in RELATIONS)
    lost = (word for word in lost_words(reading, chosen, other) if word.key not in RELATIONS)
    return sum(weights[word] for word in lost) > MAX_LOST * tied


def _is_other_subject(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """One template for Leeds and for Hamburg: the question says Leeds, the chosen sentence too, the other does not."""
    if reading.answer_type == "yes_no":
        return False
    lost = lost_words(reading, chosen, other)
    if not lost:
        return False
    if share_of_words(chosen.text, other.text) >= SAME_TEMPLATE:
        return True
    return any(word.is_name for word in lost) and names_other(reading, chosen, other)


def _tells_same_event(reading: QuestionReading, chosen: Candidate, other: Candidate, limits: ConflictLimits) -> bool:
    """One event told twice: kept for 60 days, and deleted after 30. Of what question and chosen sentence say, one common word may be put otherwise ("servers", "systems")."""
    lost = [word for word in lost_words(reading, chosen, other) if word.key not in RELATIONS]
    is_loose = len(lost) > 1 or any(word.is_name or word.is_number for word in lost)
    if reading.answer_type not in QUANTITY_TYPES or is_loose or names_other(reading, chosen, other):
        return False
    return family_share(chosen.text, other.text) >= limits.min_shared_words_of_event


def _event_cover_share(reading: QuestionReading, chosen: Candidate, other: Candidate) -> float:
    """As `_cover_share`, or by the wider words for the same event where that is more."""
    plain = _cover_share(reading, chosen, other)
    if reading.answer_type == "yes_no":
        return plain
    words = [word for word in reading.words if word.key not in RELATIONS]
    mine, theirs = (sum(covers_word(word, said_with(side)) for word in words) for side in (chosen, other))
    return max(plain, theirs / mine if mine else 0.0)


def _cover_share(reading: QuestionReading, chosen: Candidate, other: Candidate) -> float:
    """How much of what the chosen sentence covers the other covers too. Of a yes/no question the asserted value does not count: it may differ."""
    if reading.answer_type == "yes_no":
        words = [word for word in reading.words if not (FREQUENCY.fullmatch(word.text) or word.is_number or word.text.casefold() in _VALUE_WORDS)]
        mine, theirs = (sum(cover_of(word, prepare_text(side.near)) for word in words) for side in (chosen, other))
        return theirs / mine if mine else 0.0
    mine = chosen.values["cov_near"]
    return max(other.values["cov_near"], other.values["cov_sent"]) / mine if mine else 0.0


def _is_rival(reading: QuestionReading, chosen: Candidate, other: Candidate, embed: Embed, limits: ConflictLimits) -> bool:
    rows = embed([chosen.text, other.text], "passage")
    similarity = float(rows[0] @ rows[1])
    if similarity >= limits.min_similarity_of_twin and other.values["hard_near"] >= chosen.values["hard_near"] - 0.01:
        return True
    if similarity >= limits.min_similarity_of_event and _tells_same_event(reading, chosen, other, limits):
        return _event_cover_share(reading, chosen, other) >= limits.min_cover_share_of_event
    if similarity < limits.min_similarity or _cover_share(reading, chosen, other) < limits.min_cover_share:
        return False
    if reading.answer_type == "yes_no":
        return True
    return rate_rank(other.values) >= max(limits.min_rank, limits.min_rank_share * rate_rank(chosen.values))
