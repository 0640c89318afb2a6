"""Text to terms, the same at index time and at query time: English by stems, Chinese by words and character pairs, both in one text."""

from __future__ import annotations

import functools
import re
import threading
import unicodedata
from typing import TYPE_CHECKING

import Stemmer

from retrieval.lexical.stop_words import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import rjieba

# Names every choice below and the two stop lists. Another version is another index: terms of two versions never meet.
ANALYZER_VERSION = "en-stem+zh-search-bigram/1"

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# A figure stays whole (1,250.75 or 3.11) where its parts would match any other figure; then a run of Han, then any other word.
_TOKEN = re.compile(
    r"(?P<figure>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)+)"
    rf"|(?P<han>[{_HAN}]+)"
    rf"|(?P<word>[^\W_{_HAN}]+)"
)
_CONTRACTION = re.compile(r"(?<=\w)['\u2019](?:s|t|d|m|ll|re|ve)\b")

_thread = threading.local()


def analyze(text: str) -> list[str]:
    """All terms of a text in order, repeats kept; no word is dropped."""
    terms: list[str] = []
    stem_word = _stemmer().stemWord
    for kind, token in _split_tokens(_normalize(text)):
        if kind == "han":
            terms.extend(_terms_of_han(token))
        elif kind == "figure":
            terms.append(token.replace(",", ""))
        else:
            terms.append(stem_word(token))
    return terms


def analyze_query(text: str) -> list[str]:
    """The terms of a question that name something: stop words of both languages are dropped, repeats kept.

    Empty when the question has no content word, so that it finds nothing (SYS-A6). An acronym that looks like a stop word ("IT", "US", "WHO") stays
    when it is in capitals and the question as a whole is not.
    """
    acronyms = _read_acronyms(text)
    content: list[str] = []
    for kind, token in _split_tokens(_normalize(text)):
        if kind == "han":
            content.extend(_content_of_han(token))
        elif token not in ENGLISH_STOP_WORDS or token in acronyms:
            content.append(token)
    terms = [term for run in content for term in analyze(run)]
    # A lone character is in almost every Chinese text; it counts only when the question has nothing else.
    return [term for term in terms if not _is_single_han(term)] or terms


def _normalize(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _CONTRACTION.sub("", folded)


def _split_tokens(normalized: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(normalized):
        yield match.lastgroup or "word", match.group()


def _read_acronyms(text: str) -> frozenset[str]:
    words = [word for word in re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", text)) if word.isascii()]
    capitals = {word for word in words if word.isupper() and len(word) > 1}
    if all(word in capitals for word in words if len(word) > 1) and len(words) > 1:
        return frozenset()
    return frozenset(word.casefold() for word in capitals)


def _terms_of_han(run: str) -> list[str]:
    """Words of search mode, and each pair of neighbours: the pairs find a text whose words were cut in another way."""
    words = [word for word in _segmenter().cut_for_search(run) if len(word) != 2]
    return words + [run[at : at + 2] for at in range(len(run) - 1)]


def _content_of_han(run: str) -> list[str]:
    """Runs between stop words: 请问年假有多少天 gives 年假 and 天, and no pair spans a dropped word.

    A lone character beside a one-character stop word may be half of a name that the dictionary lacks (禅那, 向宠), so that pair stays too.
    """
    runs: list[str] = []
    open_run, before = "", ""
    for word in [*_segmenter().cut(run), ""]:
        if word and word not in CHINESE_STOP_WORDS:
            open_run += word
            continue
        if len(open_run) == 1:
            runs.extend(pair for pair in (before + open_run, open_run + word) if len(pair) == 2)
        runs.append(open_run)
        open_run, before = "", word
    return [part for part in runs if part]


def _is_single_han(term: str) -> bool:
    return len(term) == 1 and re.match(f"[{_HAN}]", term) is not None


def _stemmer() -> Stemmer.Stemmer:
    """One stemmer a thread: its buffers are not safe to share."""
    stemmer = getattr(_thread, "stemmer", None)
    if stemmer is None:
        stemmer = _thread.stemmer = Stemmer.Stemmer("english")
    return stemmer


@functools.cache
def _segmenter() -> rjieba.Jieba:
    """A segmenter of our own, so that words added to the library's shared one cannot change terms. Loads a dictionary, hence not at import."""
    import rjieba

    return rjieba.Jieba()
