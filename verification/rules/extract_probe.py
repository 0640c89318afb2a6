"""A closer look at one sentence: what its similarity to the question rests on, its best clause, and the question as a statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.extract_features import embedded_text
from verification.rules.lexicon_words import cover_of, prepare_text

if TYPE_CHECKING:
    from verification.rules.contract import Embed
    from verification.rules.extract_cover import Candidate
    from verification.rules.question import QuestionReading

MAX_PROBES = 8
MAX_CLAUSES, MIN_CLAUSE_CHARS = 5, 8
_CLAUSE = re.compile(r"[,;:，；：()（）]| [–-] ")
_ASKING = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|did|does|do|is|are|was|were|many|much)\b|[?？吗呢]|什么|多少|哪[个些里位种]?|谁|为什么|如何|怎[么样]+",
    re.I,
)
PROBES = ("probe_min", "probe_mean", "probe_missing", "clause", "statement")


def probe_candidate(reading: QuestionReading, candidate: Candidate, embed: Embed) -> dict[str, float]:
    """Falls of the cosine (times 10) when a word goes: the least, the mean, and the least among words that the sentence does not carry.

    A word that the sentence means, in whatever form, lowers the cosine when it goes; one that contradicts it raises it.
    """
    parts = [(word, reading.text[: word.start] + reading.text[word.end :]) for word in reading.words]
    told = [(word, rest) for word, rest in parts if any(char.isalnum() for char in rest)]  # of a single word nothing is left to compare
    words, rests = zip(*sorted(told, key=lambda part: part[0].end - part[0].start, reverse=True)[:MAX_PROBES], strict=True) if told else ((), ())
    if not words:
        return dict.fromkeys(PROBES, 0.0)
    texts = [reading.text, *rests]
    rows = embed([" ".join(text.split()) for text in texts], "query")
    cosines = rows @ embed([embedded_text(candidate)], "passage")[0]
    falls = [10 * float(cosines[0] - cosine) for cosine in cosines[1:]]
    clauses = [clause for clause in _CLAUSE.split(candidate.text) if len(clause) >= MIN_CLAUSE_CHARS][:MAX_CLAUSES] or [candidate.text]
    statement = " ".join(_ASKING.sub(" ", reading.text).split()) or reading.text
    passages = embed([*clauses, candidate.text, statement], "passage")
    near = prepare_text(candidate.near)
    missing = [fall for word, fall in zip(words, falls, strict=True) if cover_of(word, near) < 0.75]
    return {
        "probe_min": min(falls),
        "probe_mean": sum(falls) / len(falls),
        "probe_missing": min(missing, default=max(falls)),
        "clause": float(max(passages[:-2] @ rows[0])),
        "statement": float(passages[-2] @ passages[-1]),
    }
