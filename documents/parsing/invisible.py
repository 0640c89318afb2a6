"""Code points that a reader does not see: found, flagged, and taken out of text that is searched or prompted."""

from __future__ import annotations

import re
import unicodedata

TAGS = "\U000e0000-\U000e007f"
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0"
BIDI = "\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c"
SOFT_HYPHEN = "\u00ad"

_ANY = re.compile(f"[{TAGS}{SELECTORS}{ZERO_WIDTH}{BIDI}{SOFT_HYPHEN}]")
_DROPPED = re.compile(f"[{TAGS}{SELECTORS}{ZERO_WIDTH}{BIDI}{SOFT_HYPHEN}\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DROPPED_JOINERS_KEPT = re.compile(f"[{TAGS}{SELECTORS}{BIDI}{SOFT_HYPHEN}\u200b\u2060-\u2064\ufeff\u180e\u034f\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# England, Scotland and Wales are written as a black flag and tag letters: the only tags that are seen.
_FLAG = re.compile("\U0001f3f4\U000e0067\U000e0062[\U000e0061-\U000e007a]{3}\U000e007f")
# One joiner or selector is typography; a run of them carries a message.
_RUN = re.compile(f"[{TAGS}]+|[{SELECTORS}{ZERO_WIDTH}]{{4,}}")
_OVERRIDE = re.compile("[\u202d\u202e]")
_JOINED_SCRIPT = re.compile("[\u0590-\u0dff\u0e00-\u0fff\U0001f000-\U0001faff\u2600-\u27bf]")
_ZERO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff\u180e\u034f]|[A-Za-z\u4e00-\u9fff][\u200c\u200d][A-Za-z\u4e00-\u9fff]")


def has_invisible(text: str) -> bool:
    return not text.isascii() and _ANY.search(text) is not None


def hidden_runs(text: str) -> list[tuple[int, int]]:
    """Spans of code points that carry a message unseen; each becomes a hidden element of its own."""
    if not has_invisible(text):
        return []
    seen = [match.span() for match in _FLAG.finditer(text)]
    return [m.span() for m in _RUN.finditer(text) if not any(start <= m.start() < end for start, end in seen)]


def invisible_flags(text: str) -> frozenset[str]:
    """Of tag_chars, invisible_run, zero_width, bidi_override; right-to-left marks in their own script are none."""
    if not has_invisible(text):
        return frozenset()
    flags = set()
    for start, _end in hidden_runs(text):
        flags.add("tag_chars" if "\U000e0000" <= text[start] <= "\U000e007f" else "invisible_run")
    if _ZERO_WIDTH.search(text):
        flags.add("zero_width")
    if _OVERRIDE.search(text):
        flags.add("bidi_override")
    return frozenset(flags)


def needs_review(flags: frozenset[str]) -> bool:
    """A stray zero-width space comes with copied text; the others do not come by accident."""
    return bool(flags & {"tag_chars", "invisible_run", "bidi_override"})


def strip_invisible(text: str) -> str:
    """`text` without code points that are not seen. Joiners stay where the script needs them."""
    if text.isascii():
        return _DROPPED.sub("", text) if not text.isprintable() else text
    if not _DROPPED.search(text):
        return text
    return (_DROPPED_JOINERS_KEPT if _JOINED_SCRIPT.search(text) else _DROPPED).sub("", text)


def to_search_text(text: str) -> str:
    """Plain text for search: unseen code points out, NFKC, each run of white space one space."""
    clean = strip_invisible(text)
    if not clean.isascii():
        clean = unicodedata.normalize("NFKC", clean)
    return " ".join(clean.split())
