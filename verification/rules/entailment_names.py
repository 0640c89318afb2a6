"""Names in a claim: people, places, products, codes, quoted terms, Latin words in Chinese; whether the evidence has them, and in the same roles."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from verification.rules.entailment_text import is_han, read_han_names, read_sentence, stem_word
from verification.rules.numbers import read_quantities
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
        "i a an the in on at it is was who what when where which why how he she they we you this that these those "
        "there monday tuesday wednesday thursday friday "
        "saturday sunday january february march april may june july august september october november december am "
        "pm q1 q2 q3 q4 usd eur gbp cny rmb kg km"
    )
)
_LETTERED = re.compile(r"(?<![A-Za-z])[A-Za-z]{3,} [B-HJ-Z](?![A-Za-z.'’-])")
# "Alice approves the plan", "Alice approves plans", "Alice may"; "Free copies are" has no singular verb
_VERB = re.compile(r" (?:[a-z]{2,}[^s\W]s (?:the|an?|all|to|his|her|their|every|any|each|both|[a-z]+s)|is|was|has|will|may|must|should|can)\b")
_COMMON_OPENER = re.compile(
    r"(?:\w+(?:s|ing|ion|ment|ty|ance|ence|ness|age|ure|ship|al|ery|ware|ism|day)|all|every|each|no|many|"
    r"several|few|most|some|both|other|such|only|nobody|everyone|everybody|anyone|someone|if|when|there|here|"
    r"one|then|but|and|or|nothing|"
    r"staff|leave|work|overtime|travel|income|revenue|data|mail|food|water|pay|sick|annual|overnight|remote|"
    r"payroll|help|support|use|tax|rent|profit|cash|turnover|output|demand|growth|theft|health|"
    r"management|personnel|post|email|money|time|traffic|light|power|energy|heat|sugar|salt|alcohol|tobacco|"
    r"paper|trade|research|music|art|law|history|science)$",
    re.I,
)
_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th|s|k|kg|g|mg|km|cm|mm|m|gb|mb|tb|kb|h|am|pm|bn|mn|ml|l|min|ms|w|kw|v|d)", re.I)
_SYMMETRIC = frozenset(words("and or with between both & 和 与 及 跟 同 或 以及 、"))
_PASSIVE = re.compile(r"\bby\b|被|由|受|为[^，。]{1,12}所", re.I)
_ROLE_WORDS = frozenset(words("to than from befor after over under by"))
_HAN_ROLES = frozenset(words("向 由 对 比 给 从 把 将 被 归 到 至 至于 高于 低于 早于 晚于 优于 替 为"))


def read_names(text: str) -> tuple[str, ...]:
    """Names, codes and quoted terms of a text, each once; numbers and dates are none. A capital that only opens the sentence is no name."""
    spans = [(quantity.start, quantity.end) for quantity in read_quantities(text)]
    names: dict[str, None] = dict.fromkeys(found[1].strip() for found in _QUOTED.finditer(text))
    for found in _find_names(text):
        if not any(start <= found.start() < end for start, end in spans):
            names[found[0]] = None
    if any(is_han(char) for char in text):
        names |= dict.fromkeys(read_han_names(text))
    return tuple(names)


def _find_names(text: str) -> Iterator[re.Match[str]]:
    yield from (found for found in _CODE.finditer(text) if not _MEASURE.fullmatch(found[0]) and found[0].lower() not in _NOT_NAMES)
    yield from _LETTERED.finditer(text)
    has_han = any(is_han(char) for char in text)
    for found in (_LATIN_IN_HAN if has_han else _CAPITAL).finditer(text):
        if found[0].lower() not in _NOT_NAMES and len(found[0]) > 1 and (has_han or not _opens_sentence(text, found)):
            yield found


def _opens_sentence(text: str, found: re.Match[str]) -> bool:
    """A capital that may be there for the sentence alone. A singular without article before a verb ("Alice approves") is a name."""
    before = text[: found.start()].rstrip(" \"'“(")
    if before and before[-1] not in ".!?:;":
        return False
    after = text[found.end() :]
    return not (re.match(r"(?:[’']s)? [A-Z][a-z]", after) or (_VERB.match(after) and not _COMMON_OPENER.match(found[0])))


def find_missing_name(claim_text: str, evidence_text: str) -> str:
    """A name of the claim that no cited text has, or empty. An acronym is held by its spelled-out form."""
    evidence = _fold_name(evidence_text)
    held = _squeeze(evidence)
    stems = {stem_word(word) for word in re.findall(r"[a-z']+", evidence)}
    for name in read_names(claim_text):
        folded = _fold_name(name).removesuffix("'s")
        found = _squeeze(folded) in held or stem_word(folded) in stems or _has_all_words(folded, stems)
        if not found and not _is_spelled_out(name, evidence_text + " " + claim_text) and not _is_derived(folded, evidence):
            return name
    return ""


def _fold_name(text: str) -> str:
    """Lower case without accents: Ántonia and Antonia are one name."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(char for char in plain if not unicodedata.combining(char))


def _squeeze(text: str) -> str:
    """SHP-2 and SHP2 are one code."""
    return re.sub(r"[\s.\-·]", "", text)


def _is_derived(folded: str, evidence: str) -> bool:
    """China and Chinese, Europe and European: a common beginning and the ending of a people or a language."""
    if len(folded) < 5 or not folded.isascii():
        return False
    root = re.escape(folded[: max(4, len(folded) - 4)])
    ending = re.compile(r"(?:ese|ian|ean|an|ish|ic|i)s?")
    return any(
        ending.search(word[len(folded) - 4 :]) or ending.search(folded[len(word) - 4 :]) for word in re.findall(rf"\b{root}[a-z]{{0,5}}\b", evidence)
    )


def _has_all_words(folded: str, stems: set[str]) -> bool:
    """A longer quoted term is held when all its words are there."""
    parts = re.findall(r"[a-zà-ɏ']+", folded)
    return len(parts) > 1 and all(stem_word(part) in stems for part in parts)


def _is_spelled_out(name: str, evidence_text: str) -> bool:
    name = name.removesuffix("s")
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
    names = _read_name_stems(claim, evidence)
    for left, pivot, right in _read_roles(claim):
        if (left, pivot, right) in theirs:
            continue
        swapped = left != right and (right, pivot, left) in theirs
        others = {(a, b) for a, same, b in theirs if same == pivot}
        other_name = any(({left, a} <= names and b == right and a != left) or ({right, b} <= names and a == left and b != right) for a, b in others)
        if swapped or other_name:
            return "roles_swapped"
    return ""


def _read_name_stems(*sentences: Sentence) -> set[str]:
    """Stems of the words that make up names."""
    names = {name for sentence in sentences for name in read_names(sentence.text)}
    return {token.stem for name in names for token in read_sentence(name).tokens}


def _read_roles(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    """(content word before, word, content word after) for each word that can tie two sides."""
    tokens = sentence.tokens
    for place, token in enumerate(tokens):
        if token.stem in _SYMMETRIC or not _can_tie(token):
            continue
        left = next((other.stem for other in reversed(tokens[:place]) if other.content), "")
        right = next((other.stem for other in tokens[place + 1 :] if other.content), "")
        if left and right:
            yield left, token.stem, right


def _can_tie(token: Token) -> bool:
    """A verb or a preposition may tie two sides; a part of a name does not."""
    return not token.text[0].isupper() and (token.content or token.stem in _HAN_ROLES or token.stem in _ROLE_WORDS)
