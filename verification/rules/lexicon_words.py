"""Content words of a text in English, Chinese, or both mixed, with their places, and how far one text covers a word of another."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import lru_cache

import rjieba
import Stemmer

from verification.rules.lexicon import (
    CHINESE_KEPT,
    CHINESE_STOP,
    ENGLISH_KEPT,
    ENGLISH_STOP,
    PREFIXES_CHINESE,
    PREFIXES_ENGLISH,
    SYNONYMS_CHINESE,
    SYNONYMS_ENGLISH,
)
from verification.rules.numbers import fold_width

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_HAN}]+|\d+(?:[.,:]\d+)+(?![^\W_])|(?:(?![{_HAN}])[^\W_])+(?:['’](?!s\b)[a-z]+)?")
_ASKING = re.compile(r"(?:[哪几何]|多少|什么|怎么|如何|为什么).*")
_HAN_RUN = re.compile(rf"[{_HAN}]")
_LOCAL = threading.local()  # a stemmer must not be shared between threads
PREFIX_LETTERS = 5
SYNONYM_COVER, PREFIX_COVER = 0.75, 0.8


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: `key` is its stem or segment, `start` its place. A name is written with a capital inside a sentence or in capitals."""

    key: str
    text: str
    start: int
    end: int
    is_name: bool = False
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class TextWords:
    """A text prepared once for many cover questions."""

    folded: str
    keys: frozenset[str]
    prefixes: frozenset[str]
    groups: frozenset[int]


@lru_cache(maxsize=65_536)
def stem_word(word: str) -> str:
    """English stem of a case-folded word."""
    stemmer = getattr(_LOCAL, "stemmer", None)
    if stemmer is None:
        stemmer = _LOCAL.stemmer = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


def _group_keys() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, line in enumerate((*SYNONYMS_ENGLISH, *SYNONYMS_CHINESE)):
        for word in line.split():
            groups.setdefault(stem_word(word) if word.isascii() else word, set()).add(number)
    return {key: frozenset(numbers) for key, numbers in groups.items()}


GROUPS = _group_keys()
_CHINESE_GROUPS = tuple((word, number) for word, numbers in GROUPS.items() if not word.isascii() for number in numbers)


def is_chinese(text: str) -> bool:
    """Whether Chinese letters make up at least a fifth of the letters of the text."""
    han = len(_HAN_RUN.findall(text))
    letters = sum(char.isalpha() for char in text)
    return han * 5 >= letters > 0 and han > 0


@lru_cache(maxsize=16_384)
def segment_chinese(run: str) -> tuple[str, ...]:
    """Words of a run of Chinese letters, in order, without overlap."""
    return tuple(rjieba.cut(run))


@lru_cache(maxsize=8_192)
def read_words(text: str, keep_stop: bool = False) -> tuple[Word, ...]:  # noqa: FBT001, FBT002 - a cached pure function with one switch
    """Content words in order; with `keep_stop` the function words too."""
    folded = fold_width(text)
    words: list[Word] = []
    for found in _TOKEN.finditer(folded):
        if _HAN_RUN.match(found[0]):
            words += _chinese_words(found[0], found.start(), keep_stop=keep_stop)
        elif keep_stop or not is_stop(found[0]):
            words.append(_western_word(folded, found))
    return tuple(words)


def is_stop(token: str) -> bool:
    lower = token.casefold().replace("’", "'")
    if token.isupper() and len(token) > 1 and lower in {"it", "us", "who", "may"}:
        return False  # IT, US, WHO are names
    return lower in ENGLISH_STOP and lower not in ENGLISH_KEPT


def _western_word(folded: str, found: re.Match[str]) -> Word:
    token = found[0]
    lower = token.casefold().replace("’", "'")
    number = token[0].isdigit() and not any(char.isalpha() for char in token[:-2])
    before = folded[: found.start()].rstrip(" \"'“‘(*_[")
    is_first = (not before or before[-1] in ".!?:。！？：\n|#-*") and not _HAN_RUN.match(
        folded, found.end()
    )  # Chinese has no capitals: always a name
    is_name = not number and (any(char.isupper() for char in token[1:]) or (token[0].isupper() and not is_first))
    return Word(lower.replace(",", "") if number else stem_word(lower), token, found.start(), found.end(), is_name=is_name, is_number=number)


def _chinese_words(run: str, start: int, *, keep_stop: bool) -> list[Word]:
    words = []
    for piece in segment_chinese(run):
        if keep_stop or piece in CHINESE_KEPT or not (piece in CHINESE_STOP or _ASKING.fullmatch(piece)):
            words.append(Word(piece, piece, start, start + len(piece)))
        start += len(piece)
    return words


@lru_cache(maxsize=4_096)
def prepare_text(text: str) -> TextWords:
    """Keys, prefixes and synonym groups of a text."""
    folded = fold_width(text).casefold()
    keys = frozenset(word.key for word in read_words(text, True))  # noqa: FBT003 - positional for the cache
    groups = {number for key in keys for number in GROUPS.get(key, ())}
    groups |= {number for word, number in _CHINESE_GROUPS if word in folded}
    return TextWords(folded, keys, frozenset(key[:PREFIX_LETTERS] for key in keys if len(key) >= PREFIX_LETTERS and key.isascii()), frozenset(groups))


def cover_of(word: Word, text: TextWords) -> float:
    """0 to 1: 1 when the text holds the word, less for the same beginning, a synonym, or a part of a Chinese word."""
    if word.key in text.keys:
        return 1.0
    if word.is_number:
        return 0.0
    if not word.key.isascii() and _HAN_RUN.match(word.key):
        return _cover_of_chinese(word, text)
    if GROUPS.get(word.key, frozenset()) & text.groups:
        return SYNONYM_COVER
    return PREFIX_COVER if len(word.key) >= PREFIX_LETTERS and word.key[:PREFIX_LETTERS] in text.prefixes else 0.0


def _cover_of_chinese(word: Word, text: TextWords) -> float:
    if word.key in text.folded:
        return 1.0
    if GROUPS.get(word.key, frozenset()) & text.groups:
        return SYNONYM_COVER
    if len(word.key) < 3:
        return 0.25 * sum(char in text.folded for char in word.key) / len(word.key) if len(word.key) == 2 else 0.0
    pairs = [word.key[i : i + 2] for i in range(len(word.key) - 1)]
    return PREFIX_COVER * sum(pair in text.folded for pair in pairs) / len(pairs)


def is_only_prefixed(word: Word, text: TextWords) -> bool:
    """Whether the text has the word, and each time behind a prefix that makes another word of it."""
    if word.is_number or len(word.text) < 2:
        return False
    pattern = _prefixed(word.text.casefold())
    places = [found.group("prefix") for found in pattern.finditer(text.folded)]
    return bool(places) and all(places)


@lru_cache(maxsize=4_096)
def _prefixed(word: str) -> re.Pattern[str]:
    if word.isascii():
        return re.compile(rf"(?:\b(?P<prefix>{'|'.join(sorted(PREFIXES_ENGLISH))})[ -])?\b{re.escape(word)}\b")
    return re.compile(rf"(?P<prefix>[{PREFIXES_CHINESE}])?{re.escape(word)}")
