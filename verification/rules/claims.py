"""An answer as checkable sentences with their markers, and which of them are checked."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from rag4c.kernel.canonical import digest_of
from verification.rules.contract import Claim
from verification.rules.markers import scan_markers
from verification.rules.word_list import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from verification.rules.contract import Finding

_ABBREVIATIONS = frozenset(
    words(
        "mr mrs ms dr prof sr jr st no nos vs etc e.g i.e eg ie fig figs eq sec ch vol pp p art para approx inc ltd co corp dept est ext "
        "max min jan feb mar apr jun jul aug sep sept oct nov dec cf al ed eds rev gen col lt sgt u.s u.k u.n a.m p.m ca"
    )
)
# These may end a sentence too: they do when a capital letter follows
_MAY_END = frozenset({"etc", "inc", "ltd", "co", "corp", "a.m", "p.m", "u.s", "u.k", "jr", "sr"})
_CLOSERS = "\"'”’」』）)】]*_"
_BREAK = re.compile(
    rf"(?P<han>[。！？…]+[{re.escape(_CLOSERS)}]*)|(?P<latin>[.!?]+[{re.escape(_CLOSERS)}]*(?=\s|$|[\u4e00-\u9fff]))|(?P<line>\s*\n\s*)"
)
_BULLET = re.compile(
    r"\s*(?:>\s*)*(?:[-*+•·▪◦]\s+|\(?\d{1,3}[.)、）]\s*(?!\d)|[（(][\d一二三四五六七八九十]{1,3}[)）]\s*|[一二三四五六七八九十]{1,3}、\s*)?"
)
_LAST_WORD = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]$|[A-Za-z]+$|(?:^|(?<=\n))\s*\d{1,3}$")
_STATES = ("unsupported", "stale", "exists_only", "ok")


def split_claims(answer_text: str, evidence_count: int) -> tuple[Claim, ...]:
    """One claim a sentence, in order; a marker belongs to the sentence that it stands in or directly after.

    A sentence without markers is a claim without citation. Headings and rules of a list are not claims.
    """
    plain, masked, marks = _take_out_markers(answer_text, evidence_count)
    claims: list[Claim] = []
    for start, end, numbers in _attach_markers(masked, marks):
        text = " ".join(plain[start:end].split())
        ordinal = len(claims)
        claims.append(Claim(digest_of([ordinal, text])[:16], text, tuple(dict.fromkeys(numbers))))
    return tuple(claims)


def _take_out_markers(text: str, evidence_count: int) -> tuple[str, str, list[tuple[int, tuple[int, ...]]]]:
    """The text without markers, the same with code blanked so that nothing ends in it, and where in them each marker stood."""
    plain = masked = ""
    marks: list[tuple[int, tuple[int, ...]]] = []
    for piece in scan_markers(text, evidence_count):
        if piece.kind == "marker":
            marks.append((len(plain), piece.numbers))
        else:
            plain += piece.text
            masked += re.sub(r"\n(?=.)|[^\n]", "x", piece.text, flags=re.S) if piece.kind == "code" else piece.text
    return plain, masked, marks


def _attach_markers(plain: str, marks: list[tuple[int, tuple[int, ...]]]) -> Iterator[tuple[int, int, list[int]]]:
    """Each sentence with the numbers inside or right behind it; a marker that opens a line goes with the sentence after it."""
    sentences = list(_find_sentences(plain))
    numbers: list[list[int]] = [[] for _ in sentences]
    for place, cited in marks:
        owner = _find_owner(plain, sentences, place)
        if owner is not None:
            numbers[owner].extend(cited)
    for (start, end), cited_here in zip(sentences, numbers, strict=True):
        yield start, end, cited_here


def _find_owner(plain: str, sentences: Sequence[tuple[int, int]], place: int) -> int | None:
    before = [index for index, (start, _) in enumerate(sentences) if start < place]
    if before and "\n" not in plain[sentences[before[-1]][1] : place].strip(" "):
        return before[-1]
    after = [index for index, (start, _) in enumerate(sentences) if start >= place]
    return after[0] if after else (before[-1] if before else None)


def _find_sentences(plain: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _BREAK.finditer(plain):
        if found.end() <= start or not _is_break(plain, found):
            continue
        yield from _trim(plain, start, found.end() if found["line"] is None else found.start())
        start = found.end()
    yield from _trim(plain, start, len(plain))


def _is_break(plain: str, found: re.Match[str]) -> bool:
    if found["line"] is not None:
        # a soft line break inside a sentence is followed by a small letter
        return found["line"].count("\n") > 1 or not plain[found.end() : found.end() + 1].islower()
    if found["han"] is not None or found["latin"][0] != ".":
        return True
    word = _LAST_WORD.search(plain, max(0, found.start() - 12), found.start())
    if word is None:
        return True
    text, rest = word[0].strip().lower(), plain[found.end() :].lstrip(" ")[:1]
    if text.isdigit():
        return False  # the number of a list item
    if text in _ABBREVIATIONS:
        return not rest or (text in _MAY_END and (rest.isupper() or rest == "\n"))
    return not (len(word[0]) == 1 and word[0].isupper() and rest.isupper() and _stands_alone(plain, word.start()))


def _stands_alone(plain: str, start: int) -> bool:
    """An initial as in "J. Smith", not the end of "plan B."."""
    return start == 0 or bool(re.search(r"(?:^|[.\n(]\s*|\b[A-Z][a-z]+ |\b[A-Z]\. ?)$", plain[:start]))


def _trim(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bullet = _BULLET.match(plain, start, end)
    start = bullet.end() if bullet else start
    text = plain[start:end]
    if text.lstrip().startswith("#") or not any(char.isalnum() for char in text):
        return
    end -= len(text) - len(text.rstrip())
    yield start, end


def sample_claims(claims: Sequence[Claim], rate: float) -> tuple[Claim, ...]:
    """The share `rate` (0..1) of the claims, chosen by the hash of their ids: the same answer gives the same sample everywhere."""
    return tuple(claim for claim in claims if int(hashlib.sha256(claim.id.encode()).hexdigest()[:8], 16) < rate * 2**32)


def render_states(claims: Iterable[Claim], findings: Iterable[Finding]) -> dict[str, str]:
    """State of each claim: unsupported, stale, exists_only or ok; the worst finding decides, and without an entailment none is ok.

    A claim without citation is unsupported. A check that failed leaves what is known: the cited source exists.
    """
    states = {claim.id: "exists_only" if claim.markers else "unsupported" for claim in claims}
    seen: dict[str, set[str]] = {claim_id: set() for claim_id in states}
    for finding in findings:
        if finding.claim_id in seen:
            known = finding.outcome if finding.outcome in _STATES and (finding.layer == "L3" or finding.outcome != "ok") else ""
            seen[finding.claim_id] |= {"exists_only" if finding.outcome == "failed" else known} - {""}
    for claim_id, outcomes in seen.items():
        if states[claim_id] == "exists_only" and outcomes:
            states[claim_id] = min(outcomes, key=_STATES.index)
    return states
