"""Numerals as written: digits with separators and magnitudes, English number words, Chinese numerals."""

from __future__ import annotations

import re
from decimal import Decimal

from verification.rules.word_list import words

ONES = {
    word: value
    for value, word in enumerate(
        words("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
    )
}
TENS = {word: value * 10 for value, word in enumerate(words("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)}
SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SUFFIXES = {**SCALES, "k": 10**3, "mn": 10**6, "bn": 10**9}
ORDINALS = {
    word: value for value, word in enumerate(words("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"), start=1)
}
HAN_DIGITS = {
    han: value for value, hans in enumerate(["零〇", "一壹", "二两兩贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖"]) for han in hans
}
HAN_STEPS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
HAN_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

# A digit run that is not a piece of a code (B12, COVID-19, 1.2.3). A sign counts only where no digit or word stands before it.
DIGITS = (
    r"(?<![0-9A-Za-z_])(?<![0-9][.,])(?<![A-Za-z]-)(?:(?<![0-9A-Za-z\u4e00-\u9fff)%])[-−](?=\d))?"
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?![0-9])(?!\.\d)"
)
_WORD = "|".join(sorted([*ONES, *TENS, *SCALES, "dozen"], key=len, reverse=True))
WORDS = (
    rf"(?<![A-Za-z-])(?:(?:an?[ ]+(?=hundred|thousand|million|billion|trillion|dozen))?(?:{_WORD})(?:(?:[ ]+and[ ]+|[ -]+)(?:{_WORD}))*)(?![A-Za-z])"
)
HAN = r"[零〇一壹二两兩贰三叁四肆五伍六陆七柒八捌九玖十拾百佰千仟万萬亿億]+(?:点[零〇一二三四五六七八九]+(?=[%万亿倍米元公千个年小分]))?"
SUFFIX = r"(?:[ ]?(?:hundred|thousand|million|billion|trillion|mn|bn|k)(?![A-Za-z])|[ ]?[十百千]?[万萬亿億]+|[ ]?[百千](?![万萬亿億克米瓦卡]))"
# 1亿2千万: digits and steps in turn
_MIXED = rf"{DIGITS}[万亿]\d+[十百千]?万?"
# One numeral of any writing, as a regular expression without named groups.
NUMERAL = rf"(?:{_MIXED}|{DIGITS}{SUFFIX}?(?:[ ]and[ ]a[ ]half|余|多)?|{WORDS}(?:[ ]and[ ]a[ ]half)?|{HAN})"

_NUMERAL_PARTS = re.compile(rf"(?P<digits>[-−]?[\d,]+(?:\.\d+)?)(?P<suffix>{SUFFIX})?", re.I)


def read_numeral(text: str) -> Decimal | None:
    """The value of one numeral that NUMERAL matched, or None when the words make no number ("three two")."""
    folded = text.strip().lower().rstrip("余多")
    half = folded.endswith(" and a half")
    folded = folded.removesuffix(" and a half")
    found = _NUMERAL_PARTS.fullmatch(folded)
    mixed = re.findall(r"([\d.]+)([十百千]?[万亿]|[千百]?)", folded) if re.search(r"[万亿]\d", folded) else []
    if mixed:
        value: Decimal | None = sum((Decimal(digits) * _read_suffix(suffix) for digits, suffix in mixed), Decimal(0))
    elif found:
        value = Decimal(found["digits"].replace(",", "").replace("−", "-")) * _read_suffix((found["suffix"] or "").strip())
    elif folded[:1].isascii():
        value = read_words(folded)
    else:
        value = read_han(folded)
    return value + Decimal("0.5") if half and value is not None else value


def _read_suffix(suffix: str) -> Decimal:
    if not suffix:
        return Decimal(1)
    if suffix in SUFFIXES:
        return Decimal(SUFFIXES[suffix])
    product = 1
    for han in suffix:
        product *= HAN_STEPS.get(han, 1) * HAN_SCALES.get(han, 1)
    return Decimal(product)


def read_words(text: str) -> Decimal | None:
    """English number words: "one hundred and twenty-five thousand" -> 125000."""
    total = group = 0
    last = 10**15
    for word in re.split(r"[ -]+", text):
        if word in {"and", "a", "an"}:
            group = group or (1 if word != "and" else 0)
            continue
        small = ONES.get(word, TENS.get(word))
        if small is not None:
            if last <= 10 or (last < 100 and small >= 10):
                return None  # "three two", "twenty ten": a list, not a number
            group, last = group + small, _rank_of(small)
        elif word in {"hundred", "dozen"}:
            group, last = max(group, 1) * (100 if word == "hundred" else 12), 100
        else:
            total, group, last = total + max(group, 1) * SCALES[word], 0, SCALES[word]
    return Decimal(total + group)


def _rank_of(small: int) -> int:
    """What may still follow: after tens a single digit, after anything smaller than twenty nothing."""
    return 11 if small >= 20 else 10


def read_han(text: str) -> Decimal | None:
    """Chinese numerals: positional (二〇二四), with steps (一百二十五万), with a decimal point (三点五)."""
    whole, _, fraction = text.partition("点")
    value = _read_han_whole(whole)
    if value is None or not fraction:
        return value
    return value + Decimal("0." + "".join(str(HAN_DIGITS[han]) for han in fraction))


def _read_han_whole(text: str) -> Decimal | None:
    if len(text) > 1 and all(han in HAN_DIGITS for han in text):
        return Decimal("".join(str(HAN_DIGITS[han]) for han in text))
    total = section = digit = 0
    step = 1
    for han in text:
        if han in HAN_DIGITS:
            digit, step = HAN_DIGITS[han], 10 if han in "零〇" else step
        elif han in HAN_STEPS:
            section, step = section + (digit or 1) * HAN_STEPS[han], HAN_STEPS[han]
            digit = 0
        else:
            scale = HAN_SCALES[han]
            total, section, step = ((total + section + digit) or 1) * scale if scale > 10**4 else total + ((section + digit) or 1) * scale, 0, scale
            digit = 0
    # 三千五 is 3,500: a last digit after a step counts in tenths of that step
    tail = digit * step // 10 if digit and step >= 100 else digit
    return Decimal(total + section + tail)
