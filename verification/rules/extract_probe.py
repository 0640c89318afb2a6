"""Which words of the question the similarity to a sentence rests on: each is left out in turn and the cosine read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verification.rules.lexicon_words import cover_of, prepare_text

if TYPE_CHECKING:
    from verification.rules.contract import Embed
    from verification.rules.extract_features import Candidate
    from verification.rules.question import QuestionReading

MAX_PROBES = 8
PROBES = ("probe_min", "probe_mean", "probe_missing")


def probe_candidate(reading: QuestionReading, candidate: Candidate, embed: Embed, sentence: str) -> dict[str, float]:
    """Falls of the cosine (times 10) when a word goes: the least, the mean, and the least among words that the sentence does not carry.

    A word that the sentence means, in whatever form, lowers the cosine when it goes; one that contradicts it raises it.
    """
    words = sorted(reading.words, key=lambda word: word.end - word.start, reverse=True)[:MAX_PROBES]
    if not words:
        return dict.fromkeys(PROBES, 0.0)
    texts = [reading.text, *(reading.text[: word.start] + reading.text[word.end :] for word in words)]
    rows = embed([" ".join(text.split()) for text in texts], "query")
    cosines = rows @ embed([sentence], "passage")[0]
    falls = [10 * float(cosines[0] - cosine) for cosine in cosines[1:]]
    near = prepare_text(candidate.near)
    missing = [fall for word, fall in zip(words, falls, strict=True) if cover_of(word, near) < 0.75]
    return {"probe_min": min(falls), "probe_mean": sum(falls) / len(falls), "probe_missing": min(missing, default=max(falls))}
