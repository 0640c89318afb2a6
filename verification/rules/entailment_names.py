"""Names in a claim: people, places, products, codes, quoted terms, Latin words in Chinese; whether the evidence has them, and in the same roles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.entailment_text import is_han, stem_word
from verification.rules.word_list import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verification.rules.entailment_text import Sentence, Token

_QUOTED = re.compile(r"[“\"「『《]([^”\"」』》]{1,60})[”\"」』》]")
_CODE = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]+[-.]?\d[\w.-]*|\d+(?:\.\d+){2,}|\d+[A-Za-z]+\d*|[A-Z]{2,})(?![A-Za-z0-9])")
_CAPITAL = re.compile(r"(?<![A-Za-z])[A-ZÀ-Þ][A-Za-zÀ-ɏ]*(?:[’'][A-Z][a-z]+)?")
_LATIN_IN_HAN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NOT_NAMES = frozenset(
    words(
        "i a an the in on at it is was who what when where which why how he she they we you this that these those there monday tuesday wednesday thursday friday "
        "saturday sunday january february march april may june july august september october november december am pm q1 q2 q3 q4 usd eur gbp cny rmb kg km"
    )
)
_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th|s|k|kg|g|mg|km|cm|mm|m|gb|mb|tb|kb|h|am|pm|bn|mn|ml|l|min|ms|w|kw|v|d)", re.I)
_SYMMETRIC = frozenset(words("and or with between both & 和 与 及 跟 同 或 以及 、"))
_PASSIVE = re.compile(r"\bby\b|被|由|受|为[^，。]{1,12}所", re.I)
_HAN_ROLES = frozenset(words("向 由 对 比 给 从 把 将 被 归 到 至 至于 高于 低于 早于 晚于 优于 替 为"))


def read_names(text: str) -> tuple[str, ...]:
    """Names, codes and quoted terms of a text, each once. A capital that only opens the sentence counts when more of the name follows."""
    names: dict[str, None] = dict.fromkeys(found[1].strip() for found in _QUOTED.finditer(text))
    names |= dict.fromkeys(found[0] for found in _CODE.finditer(text) if not _MEASURE.fullmatch(found[0]) and found[0].lower() not in _NOT_NAMES)
    has_han = any(is_han(char) for char in text)
    for found in (_LATIN_IN_HAN if has_han else _CAPITAL).finditer(text):
        word = found[0]
        if word.lower() not in _NOT_NAMES and len(word) > 1 and not (not has_han and _opens_sentence(text, found)):
            names[word] = None
    return tuple(names)


def _opens_sentence(text: str, found: re.Match[str]) -> bool:
    before = text[: found.start()].rstrip(" \"'“(")
    if before and before[-1] not in ".!?:;":
        return False
    return not re.match(r"(?:[’']s)? [A-Z][a-z]", text[found.end() :])


def find_missing_name(claim_text: str, evidence_text: str) -> str:
    """A name of the claim that no cited text has, or empty. An acronym is held by its spelled-out form."""
    held = evidence_text.casefold().replace("’", "'")
    stems = {stem_word(word) for word in re.findall(r"[A-Za-zÀ-ɏ']+", evidence_text)}
    for name in read_names(claim_text):
        folded = name.casefold().replace("’", "'").removesuffix("'s")
        if folded not in held and stem_word(folded) not in stems and not _is_spelled_out(name, evidence_text) and not _has_most_words(folded, stems):
            return name
    return ""


def _has_most_words(folded: str, stems: set[str]) -> bool:
    """A longer quoted term is held when all its words are there."""
    parts = re.findall(r"[a-zà-ɏ']+", folded)
    return len(parts) > 1 and all(stem_word(part) in stems for part in parts)


def _is_spelled_out(name: str, evidence_text: str) -> bool:
    if not (name.isupper() and 2 <= len(name) <= 6 and name.isascii()):
        return False
    return bool(
        re.search(r"\b" + r"\w+[ -](?:(?:of|the|and|for) )?".join(name[:-1]) + r"\w+[ -](?:(?:of|the|and|for) )?" + name[-1], evidence_text, re.I)
    )


def find_swap(claim: Sentence, evidence: Sentence) -> str:
    """`roles_swapped` when around one same word claim and evidence have the same two sides the other way round."""
    if bool(_PASSIVE.search(claim.text)) != bool(_PASSIVE.search(evidence.text)):
        return ""
    theirs = set(_read_roles(evidence))
    for left, pivot, right in _read_roles(claim):
        if (right, pivot, left) in theirs and (left, pivot, right) not in theirs:
            return "roles_swapped"
    return ""


def _read_roles(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    """(content word before, word, content word after) for each word that can tie two sides."""
    tokens = sentence.tokens
    for place, token in enumerate(tokens):
        if token.stem in _SYMMETRIC or not _can_tie(token):
            continue
        left = next((other.stem for other in reversed(tokens[:place]) if other.content), "")
        right = next((other.stem for other in tokens[place + 1 :] if other.content), "")
        if left and right and left != right:
            yield left, token.stem, right


def _can_tie(token: Token) -> bool:
    return (
        token.content
        or token.stem in _HAN_ROLES
        or (token.stem.isascii() and token.stem in {"to", "than", "from", "befor", "after", "over", "under", "by", "for", "of"})
    )
