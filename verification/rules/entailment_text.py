"""Evidence and claims as sentences of tokens: English words by stem, Chinese words by segmentation."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import rjieba
import Stemmer

from verification.rules.numbers import fold_width, read_quantities
from verification.rules.word_list import words

_STEMMER = Stemmer.Stemmer("english")
_ENGLISH_STOP = frozenset(
    words(
        "a an the this that these those it its he she they them his her their we our you your i me my us him who "
        "whom whose which what when where why how "
        "is are was were be been being am do does did done has have had having will would shall should may might must can could need ought "
        "of in on at to from by for with as into onto upon about over under between among through during per via and or but nor so yet if then than "
        "there here also too very just only both either neither each every any all some such same other another more most much many few less least "
        "not no never none without cannot while because since until although though whether however s t d ll re ve m "
        "not allowed required up out off again further once own itself themselves himself herself one ones within"
    )
) - {"allowed", "required", "more", "less", "least", "most", "few"}
_CHINESE_STOP = frozenset(
    words(
        "的 了 在 是 和 与 及 或 而 并 也 都 就 还 又 把 被 将 对 向 从 到 由 于 以 为 给 让 使 其 该 此 这 那 这个 那个 它 他 她 他们 她们 它们 我们 你们 "
        "我 你 您 有 着 过 之 等 中 上 下 里 内 后 前 时 地 得 所 会 要 能 可 可以 应 应当 应该 须 必须 需 需要 不 没 没有 未 无 非 一个 一 个 们 吗 呢 吧 "
        "什么 哪 哪个 哪些 谁 多少 几 怎么 如何 为什么 何 何时 哪里 哪儿 则 即 若 如 如果 但 但是 因为 所以 因此 因 于是 进行 通过 关于 根据 按照 按 "
        "以及 并且 而且 或者 每 各 只 仅 再 已 已经 正在 曾 很 更 最 较 比 比较 非常 请 得 者 年 月 日"
    )
)
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9]*(?:[’'][A-Za-z]+)?|\d[\d.,]*[A-Za-z]*|[{_HAN}]+")
_SENTENCE_END = re.compile(
    r"[。！？!?]+[”’」』\"')）]*|(?<![A-Z])(?<!\b[A-Za-z]\.[A-Za-z])\.[\"')”’]*(?=\s+[\"'“(]?[A-Z0-9\u4e00-\u9fff])|(?<=[a-z]{3}[A-Z])\.(?=\s)|\s*\n\s*"
)
_NAME_KINDS = frozenset({"nr", "ns", "nt", "nrt", "nrfg"})
_PARTICLES = "向由对被给从把将和与是在于"
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e|cf|Fig|Inc|Ltd|Co|approx|al|Jr|Sr)$", re.I)


@dataclass(frozen=True, slots=True)
class Token:
    """One word; `stem` is what is compared. `content`: carries meaning of its own."""

    text: str
    stem: str
    start: int
    end: int
    content: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A folded sentence with its tokens and the stems of its content words."""

    text: str
    tokens: tuple[Token, ...]
    stems: frozenset[str]


def fold_text(text: str) -> str:
    """Full-width letters and digits plain, white space as one space each."""
    return re.sub(r"\s+", " ", fold_width(text)).strip()


@lru_cache(maxsize=65536)
def stem_word(word: str) -> str:
    """Lower-cased English stem; a possessive is taken off."""
    folded = re.sub(r"[’']s?$", "", word.lower()).replace("’", "'")
    return str(_STEMMER.stemWord(folded))


def read_tokens(text: str) -> tuple[Token, ...]:
    """All words of a folded text, function words too."""
    tokens: list[Token] = []
    for found in _WORD.finditer(text):
        if re.match(rf"[{_HAN}]", found[0]):
            place = found.start()
            for part in rjieba.cut(found[0]):
                tokens.append(Token(part, part, place, place + len(part), part not in _CHINESE_STOP))
                place += len(part)
        else:
            stem = stem_word(found[0])
            content = found[0].lower() not in _ENGLISH_STOP and not found[0][0].isdigit() and stem not in _ENGLISH_STOP
            tokens.append(Token(found[0], stem, found.start(), found.end(), content))
    return tuple(tokens)


@lru_cache(maxsize=4096)
def read_sentence(text: str) -> Sentence:
    """One sentence with its tokens. Numbers, dates and units are no content words: they are compared as quantities."""
    folded = fold_text(text)
    spans = [(quantity.start, quantity.end) for quantity in read_quantities(folded) if quantity.kind != "ordinal"]
    tokens = tuple(
        replace(token, content=False) if token.content and any(start <= token.start < end for start, end in spans) else token
        for token in read_tokens(folded)
    )
    return Sentence(folded, tokens, frozenset(token.stem for token in tokens if token.content))


def split_sentences(text: str) -> list[str]:
    """Sentences of evidence, each with its end mark; a line break ends one too."""
    folded = fold_width(text)
    parts: list[str] = []
    start = 0
    for found in _SENTENCE_END.finditer(folded):
        if found[0].startswith(".") and _ABBREVIATION.search(folded, max(0, found.start() - 8), found.start()):
            continue
        parts.append(folded[start : found.end()])
        start = found.end()
    parts.append(folded[start:])
    return [part.strip() for part in parts if any(char.isalnum() for char in part)]


@lru_cache(maxsize=65536)
def read_han_names(text: str) -> tuple[str, ...]:
    """People, places and organisations in a Chinese text, as the segmenter knows them; a particle that it glued on is taken off."""
    names = (word.strip(_PARTICLES) for word, kind in rjieba.tag(text) if kind in _NAME_KINDS)
    return tuple(dict.fromkeys(name for name in names if len(name) > 1 and is_han(name)))


def is_han(text: str) -> bool:
    """Whether a word is written in Chinese."""
    return bool(re.match(rf"[{_HAN}]", text))
