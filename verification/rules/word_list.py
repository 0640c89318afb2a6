"""Word lists as plain text, which stay readable where one word a line would not."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(text.split())
