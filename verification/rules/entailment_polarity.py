"""Negation and modality: what stands under a "not", a "must", a "may", and whether claim and evidence agree on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verification.rules.entailment_text import Sentence, Token

# Wording that contains a negator, but negates nothing; it is blanked before reading.
_MASK = re.compile(
    r"\bno\.\s?(?=\d)|\bnot (?:only|just|merely|least)\b|\bno (?:later|earlier|sooner|more|less|fewer|"
    r"longer) than\b|\bnot (?:more|less|fewer|later|earlier) than\b"
    r"|\b(?:not|never) (?:to )?exceed(?:ing)?\b|\bno doubt\b|\bwithout (?:doubt|delay)\b|\bmay be\b(?= (?:the|a|due)\b)"
    r"|不仅|不但|不同|不断|不久|不过|不光|不论|不管|不锈|不妨|不禁|不料|不幸|不少于|不低于|不超过|不多于|不大于|不小于|不高于|不晚于|不迟于|不早于|不满|不足|不一|不等|不动产"
    r"|无论|无线|无锡|无数|无疑|非常|非洲|除非|未来|未满|未婚夫|特别|分别|区别|个别|差别|级别|类别|性别|别人|别墅|告别|没收|沉没|是否|能否|可否|南无|不丹|不列颠",
    re.I,
)
_POST = r"(?:strictly |explicitly |expressly |generally |also )?"
_BE = r"\b(?:is|are|was|were|be|being|been)"
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    # class, where the head stands, pattern; earlier rows take their text first
    ("OBLIGE", "after", r"不得不|不能不|\bcannot but\b"),
    (
        "EXEMPT",
        "after",
        r"不必|无需|无须|毋须|不需要|不需|不用(?!户)|免于|\b(?:need not|needn't|(?:do|does|did) ?(?:not|n't) (?:need|have) to|(?:is|"
        r"are) (?:not|n't) (?:required|obliged) to|without having to)\b",
    ),
    (
        "EXEMPT",
        "around",
        rf"{_BE} (?:not |n't )(?:required|mandatory|obligatory|necessary|needed)\b|{_BE} {_POST}(?:optional|voluntary|exempt(?:ed)?)\b|自愿|可选|非强制",
    ),
    (
        "FORBID",
        "after",
        r"不得|不可(?!避免|或缺|抗力|思议)|不能|不允许|不准|不许|切勿|请勿|勿|不应(?:当|该)?"
        r"|\b(?:may|must|can|shall|should|could|might) ?(?:not|never)\b|\b(?:cannot|can't|mustn't|shouldn't|"
        r"couldn't|shan't)\b|\b(?:not|never) (?:allowed|permitted|entitled|authori[sz]ed|able) to\b"
        r"|\b(?:prohibited|forbidden|banned|barred) from\b",
    ),
    ("FORBID", "wide", r"禁止|严禁|\b(?:forbids?|prohibits?|bans|do(?:es)? not (?:allow|permit|let))\b"),
    (
        "FORBID",
        "around",
        rf"{_BE} (?:not|n't|never) {_POST}(?:allowed|permitted|authori[sz]ed|acceptable|available)\b|"
        rf"{_BE} {_POST}(?:prohibited|forbidden|banned)\b|\bprohibited\b|\bforbidden\b|被禁|不被允许",
    ),
    ("ADVISE", "after", r"\b(?:should|ought to|(?:is|are) (?:recommended|advised|encouraged) to)\b|建议|宜(?=[^兴昌宾])|最好|鼓励"),
    ("ADVISE", "around", rf"{_BE} {_POST}(?:recommended|advisable|encouraged)\b"),
    (
        "OBLIGE",
        "after",
        r"\b(?:must|shall|ha(?:ve|s|d) to|needs? to|(?:is|are|was|were) (?:required|obliged) to|required to)\b|必须|"
        r"务必|应当|应该|(?<![供响反适对效相])应(?=[由在于按先及予向将提])|(?<!必)须(?![眉臾])|需要|需(?=[由在于按先经提向])|强制",
    ),
    ("OBLIGE", "around", rf"{_BE} {_POST}(?:required|mandatory|obligatory|compulsory|necessary)\b"),
    ("PERMIT", "wide", r"允许|准许|\b(?:allows?|permits?|lets?)\b"),
    (
        "PERMIT",
        "after",
        r"\b(?:may|can|could|might)\b|\b(?:allowed|permitted|entitled|authori[sz]ed|free|able) to\b|可以|有权|(?<![不许认])可(?=[在由于向将申使提按自随])",
    ),
    ("PERMIT", "around", rf"{_BE} {_POST}(?:allowed|permitted|authori[sz]ed|acceptable)\b"),
    (
        "NEG",
        "after",
        r"\b(?:not|never|without|no|neither|nor|none|nobody|nothing|nowhere|no longer)\b|n't\b|并非|不是|不再|没有|从未|尚未|并未|毫无|不会|不|没|未|无(?!锡)|非(?=[法本正自人])",
    ),
    (
        "NEG",
        "after",
        r"\b(?:fail(?:s|ed)? to|lacks?|lacking|lacked|refus(?:e|es|ed) to|declin(?:e|es|ed) to|absence of|"
        r"instead of|rather than|stopped|ceased to|unable to)\b|缺乏|拒绝|未能|无法|停止",
    ),
)
WIDE_HEADS = 3
_COMPILED = tuple((name, place, re.compile(pattern, re.I)) for name, place, pattern in _PATTERNS)
_CLAUSE_END = re.compile(
    r"[,;:，；：。、()（）—]|\b(?:but|however|although|though|whereas|while|because|and|or|which|who)\b|但|而|却|虽然|因为", re.I
)
NEGATIVE = frozenset({"NEG", "FORBID", "EXEMPT"})
_AGREEING = {("NEG", "FORBID"), ("FORBID", "NEG"), ("NEG", "EXEMPT"), ("EXEMPT", "NEG")}
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis")


@dataclass(frozen=True, slots=True)
class Operator:
    """A negation or a modal word with the stems it governs."""

    name: str  # NEG, FORBID, EXEMPT, OBLIGE, ADVISE, PERMIT
    heads: frozenset[str]
    start: int
    end: int


def read_operators(sentence: Sentence) -> tuple[Operator, ...]:
    """Negations and modal words of a sentence, in order."""
    text = _MASK.sub(lambda found: "#" * len(found[0]), sentence.text)
    taken = bytearray(len(text))
    found_here: list[Operator] = []
    for name, place, pattern in _COMPILED:
        for found in pattern.finditer(text):
            if not any(taken[found.start() : found.end()]):
                taken[found.start() : found.end()] = b"\x01" * (found.end() - found.start())
                heads = frozenset(token.stem for token in _find_heads(sentence, text, found, place))
                found_here.append(Operator(name, heads, found.start(), found.end()))
    return tuple(sorted(found_here, key=lambda operator: operator.start))


def _find_heads(sentence: Sentence, text: str, found: re.Match[str], place: str) -> Iterator[Token]:
    """The first content word of what follows; for "is not allowed" also the last before."""
    clause_end = _CLAUSE_END.search(text, found.end())
    limit = clause_end.start() if clause_end else len(text)
    after = [token for token in sentence.tokens if token.content and found.end() <= token.start < limit]
    before = [token for token in sentence.tokens if token.content and token.end <= found.start()]
    if place != "around" and after:
        # 禁止承包商进入: whom comes before what
        yield from after[: WIDE_HEADS if place == "wide" else 1 + (len(after[0].stem) == 1)]
    else:
        yield from before[-1:]
        yield from after[:1] if text[found.end() : found.end() + 4].strip().startswith("to") else []


def find_polarity_fault(claim: Sentence, evidence: Sentence) -> str:
    """Code of a disagreement on negation or modality between a claim and the evidence sentence it rests on, or empty."""
    ours, theirs = read_operators(claim), read_operators(evidence)
    for operator in ours:
        fault = _judge_operator(operator, theirs, evidence)
        if fault:
            return fault
    for operator in theirs:
        if operator.name in NEGATIVE and operator.heads & claim.stems and not _is_negated(operator.heads, ours):
            return "negation_dropped"
    return "negated_word" if _has_prefix_fault(claim, evidence) else ""


def _is_negated(heads: frozenset[str], operators: tuple[Operator, ...]) -> bool:
    """Some negation of ours governs one of these words, or one that the evidence words otherwise."""
    return any(operator.name in NEGATIVE for operator in operators) and (
        any(operator.name in NEGATIVE and operator.heads & heads for operator in operators)
        or not any(operator.heads & heads for operator in operators)
    )


def _agree(ours: str, theirs: str) -> bool:
    return ours == theirs or (ours, theirs) in _AGREEING


def _judge_operator(operator: Operator, theirs: tuple[Operator, ...], evidence: Sentence) -> str:
    same_head = [other for other in theirs if other.heads & operator.heads]
    if any(_agree(operator.name, other.name) for other in same_head):
        return ""
    negative = operator.name in NEGATIVE
    fault = "negation_added" if operator.name == "NEG" else "modality_differs"
    if same_head:
        return fault if negative or any(other.name not in {"NEG"} for other in same_head) else ""
    if negative:
        reworded = any(_agree(operator.name, other.name) for other in theirs) and not operator.heads & evidence.stems
        return "" if reworded else fault
    names = {other.name for other in theirs} - {"NEG"}
    return fault if names and operator.name not in names else ""


def _has_prefix_fault(claim: Sentence, evidence: Sentence) -> bool:
    """Paid against unpaid: one side has the word only with a negating prefix."""
    return any(
        _only_negated(mine, other) or _only_negated(other, mine) for mine, other in ((claim.stems - evidence.stems, evidence.stems - claim.stems),)
    )


def _only_negated(plain: frozenset[str], negated: frozenset[str]) -> bool:
    return any(prefix + stem in negated for stem in plain if len(stem) > 3 and stem.isascii() for prefix in _PREFIXES)
