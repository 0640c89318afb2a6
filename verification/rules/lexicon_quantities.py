"""Quantities of a text, read once: the same sentence is looked at by several rules."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from verification.rules.numbers import read_quantities

if TYPE_CHECKING:
    from verification.rules.numbers import Quantity

# Without any of these a text holds no quantity; most sentences fall here, and the full reading costs milliseconds.
_SIGNS = re.compile(
    r"[0-9０-９%％$£€¥一二三四五六七八九十两百千万半几零〇首次每]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozen|half|once|twice|thrice|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|hourly|daily|weekly|monthly|quarterly|annual(?:ly)?|yearly|per|each|every|noon|midnight|minus|percent|jan\w*|feb\w*|march|april|may|june|july|aug\w*|sep\w*|oct\w*|nov\w*"
    r"|dec\w*|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b|/|\ba (?:day|week|month|year|hour|minute)\b|周|星期|世纪|季度|日|月|年|天",
    re.I,
)


@lru_cache(maxsize=8_192)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """As `read_quantities`, remembered."""
    return read_quantities(text) if _SIGNS.search(text) else ()
