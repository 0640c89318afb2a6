"""Whether a cited stretch of text is the expected one."""

from __future__ import annotations


def fold(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def overlaps(quote: str, gold: str) -> bool:
    """Whether the two stretches of text share words: one holds the other, or they share a run of a third of the gold's length."""
    a, b = fold(quote), fold(gold)
    if not a or not b:
        return False
    if a in b or b in a:
        return True
    size = max(4, len(b) // 3)
    return any(b[at : at + size] in a for at in range(0, len(b) - size + 1, max(1, size // 4)))
