"""What stands around the cited words: a sentence that denies, conditions, reports or outdates them does not support them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.entailment_polarity import NEGATIVE, read_operators
from verification.rules.entailment_text import fold_text, read_sentence

if TYPE_CHECKING:
    from verification.rules.entailment_text import Sentence

_DENIED = re.compile(
    r"\b(?:it is|it's|it was|that is) (?:not|n't|never|no longer|false|untrue|incorrect|wrong|a myth|"
    r"a misconception)\b|\b(?:false|untrue|incorrect|wrong|mistaken|denied|denies|deny|disproved|refuted|myth|"
    r"misconception|rumou?r)s? (?:\w+ )?that\b"
    r"|\bcontrary to\b|\bno evidence that\b|\bnot the case that\b|\bdoes not mean\b|\bnever (?:said|claimed) that\b"
    r"|并非|并不是|不是说|不属实|误以为|误认为|谣言|谣传|否认|没有证据|不代表|不意味|不等于|错误(?:地)?认为",
    re.I,
)
_DENIED_AFTER = re.compile(
    r"\b(?:is|was|are|were) (?:not true|untrue|false|incorrect|wrong|a myth|a misconception|denied)\b|(?:的说法|"
    r"的传言|这|该)?(?:并不属实|不属实|是错误的|是错的|不正确|是谣言|不成立)",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?:some (?:people )?(?:say|believe|claim|think)|(?:believed|thought|assumed|claimed|alleged|"
    r"rumou?red) (?:that|to)|allegedly|supposedly|proposed (?:that|to)|propos(?:al|es) |a draft|"
    r"under discussion|would have|had been planned)\b"
    r"|据传|据说|有人认为|有人说|拟议|草案|征求意见稿|假设|假如|倘若",
    re.I,
)
_OUTDATED = re.compile(
    r"\b(?:no longer|previously|formerly|used to|old (?:rule|policy|version|limit|rate|procedure)|"
    r"former (?:rule|policy|version)|until recently|was (?:replaced|repealed|abolished|superseded|withdrawn|"
    r"cancelled)|were (?:replaced|repealed|abolished|superseded|withdrawn)"
    r"|has been (?:replaced|repealed|abolished|superseded|withdrawn)|obsolete|outdated)\b"
    r"|不再|原先|原规定|旧规|旧版|以前是|此前|曾经|已废止|已经废止|废止|作废|已取消|已被取代|已失效",
    re.I,
)
_OUTDATED_NEXT = re.compile(
    r"^(?:this|that|it|these|those|the (?:rule|policy|above)|however,? (?:this|that|"
    r"it))\b[^.]{0,30}\b(?:no longer|is (?:not true|untrue|false|wrong|incorrect)|was (?:replaced|repealed|"
    r"abolished|withdrawn|superseded|wrong|false)|has been (?:replaced|repealed|abolished|withdrawn|"
    r"superseded)|not (?:true|correct|the case))\b"
    r"|^now,? (?:it|they|this|these|that|the)\b|^(?:该|此|这|上述|以上)[^。]{0,12}(?:不再(?:有效|适用|执行|实行)|废止|作废|取消|失效|不属实|不正确|有误|是错误)|^(?:现已|现在|如今|目前)[^。]{0,6}(?:改为|调整|取消|变更)",
    re.I,
)
_CONDITION = re.compile(
    r"\b(?:unless|except(?: (?:for|when|if|that|where))?|only (?:if|when|after|with|where)|provided (?:that)?|"
    r"as long as|on condition that|other than|excluding|but not)\b|除非|除了|除(?=[^了非夕法]{1,20}外)|只有|仅当|仅限|前提是|除外|"
    r"但[^。，；]{0,8}(?:除外|例外)",
    re.I,
)
_EXCEPTION = re.compile(
    r"\b(?:except(?: for)?|excluding|other than|apart from|but not) (?!when|if|that|where)([^,;.]+)|"
    r"除了?([^，；。外]{1,20}?)(?:之|以)?外(?!地|部|面|国|出)|([^，；。]{1,16})除外",
    re.I,
)
_CLAUSE = re.compile(r"[;；]|, (?:but|yet|however|now|while|whereas)\b|[，,](?:但|而|现|却|不过)|\b(?:but|whereas|; now)\b", re.I)
# A condition counts as said by the claim when it holds this share of its content words
MIN_CONDITION_SHARE = 0.34
# ... and an exception as claimed when it holds this share
MIN_EXCEPTION_SHARE = 0.6


def find_context_fault(claim: Sentence, evidence: Sentence, next_text: str) -> str:
    """Code of what turns the cited sentence against the claim, or empty.

    Args: evidence: the sentence that the claim rests on. next_text: the sentence after it, empty at the end.
    """
    for code, pattern in (("denied", _DENIED), ("denied", _DENIED_AFTER), ("reported_only", _REPORTED)):
        if pattern.search(evidence.text) and not pattern.search(claim.text):
            return code
    if _is_outdated(claim, evidence) or is_taken_back(claim.text, next_text):
        return "superseded"
    return _find_exception_fault(claim, evidence) or _find_condition_fault(claim, evidence)


def is_taken_back(claim_text: str, next_text: str) -> bool:
    """The sentence after says that it no longer holds, and the claim does not."""
    return bool(next_text and _OUTDATED_NEXT.search(next_text) and not _OUTDATED.search(claim_text))


def _find_exception_fault(claim: Sentence, evidence: Sentence) -> str:
    """The claim states the rule of the very thing that the evidence leaves out of it."""
    found = _EXCEPTION.search(evidence.text)
    if found is None or _EXCEPTION.search(claim.text) or any(operator.name in NEGATIVE for operator in read_operators(claim)):
        return ""
    left_out = read_sentence(next(part for part in found.groups() if part)).stems - read_sentence(evidence.text[: found.start()]).stems
    said = len(left_out & claim.stems)
    return "exception_claimed" if left_out and said >= MIN_EXCEPTION_SHARE * len(left_out) else ""


def _is_outdated(claim: Sentence, evidence: Sentence) -> bool:
    """The clause that holds most of the claim speaks of what was."""
    if not _OUTDATED.search(evidence.text) or _OUTDATED.search(claim.text):
        return False
    clauses = [read_sentence(part) for part in _CLAUSE.split(evidence.text) if part]
    best = max(clauses, key=lambda clause: len(claim.stems & clause.stems) + _share_numbers(claim, clause))
    return bool(_OUTDATED.search(best.text))


def _share_numbers(claim: Sentence, clause: Sentence) -> int:
    """Numbers tell old from new where the words are the same."""
    digits = re.findall(r"\d+", claim.text)
    return sum(2 for number in digits if re.search(rf"(?<!\d){number}(?!\d)", clause.text))


def _find_condition_fault(claim: Sentence, evidence: Sentence) -> str:
    found = _CONDITION.search(evidence.text)
    if found is None or _CONDITION.search(claim.text):
        return ""
    condition = read_sentence(
        re.split(r"[,;，；。.]", evidence.text[found.end() :] or " ")[0] if found.start() else re.split(r"[,;，；]", evidence.text)[0]
    )
    rest = evidence.stems - condition.stems
    if not condition.stems or not claim.stems & rest:
        return ""
    said = len(condition.stems & claim.stems) / len(condition.stems)
    return "condition_dropped" if said < MIN_CONDITION_SHARE else ""


def find_tear(claim_text: str, evidence: Sentence) -> str:
    """For a claim whose words stand in the evidence sentence as they are: what governs them from before or after, or empty."""
    wanted = fold_text(claim_text).casefold().rstrip(".。!！?？ ")
    place = evidence.text.casefold().find(wanted)
    if place < 0 or not wanted:
        return ""
    before, after = evidence.text[:place], evidence.text[place + len(wanted) :]
    if re.search(
        r"\b(?:not|never|n't|no longer|cannot|without|nor|neither|no) ?$|(?:不|不得|未|没有|并非|不再|无|禁止|严禁|勿|拒绝|否认)$", before, re.I
    ):
        return "torn_from_negation"
    if re.search(r"^ ?(?:unless|except|only if|if|until|provided)\b|^[，,]?(?:除非|但[^。]{0,8}除外|的(?:说法|传言))", after, re.I):
        return "torn_from_condition"
    if re.search(r"\b(?:if|unless|until|whether|suppose|assuming)\b[^,;]*$|(?:如果|若|除非|假如|是否)[^，；]*$", before, re.I):
        return "torn_from_condition"
    return ""
