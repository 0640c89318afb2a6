"""Bytes to text: a fixed ladder instead of a detector, since detectors read short GBK and UTF-16 without a mark wrongly."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from documents.parsing.contract import ParseRefused

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES = 65_536
_BROKEN = re.compile("[\x00\ud800-\udfff]")
_HAN = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_RARE = re.compile("[\u0080-\u009f\u0250-\u1fff\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")


# A declared double-byte encoding comes before UTF-8; a single-byte one reads everything, so it comes after.
_WIDE = re.compile(r"gb|big5|shift_jis|sjis|euc-", re.IGNORECASE)
_NARROW = re.compile(r"iso-8859-|windows-|cp125|koi8-|macintosh", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with its encoding; `flags` and `review_codes` say what could not be read as it was."""

    text: str
    encoding: str
    flags: frozenset[str] = frozenset()
    review_codes: frozenset[str] = frozenset()


def decode_text(data: bytes, declared: str = "") -> Decoded:
    """Byte order mark, NUL pattern, `declared`, UTF-8, GB18030, then Windows-1252 as a guess that is said to be one."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _repair(data[len(bom) :].decode(encoding, "surrogatepass" if "32" not in encoding else "replace"), encoding)
    if b"\x00" in data[:_SAMPLE_BYTES] and (encoding := _guess_utf16(data)):
        return _repair(data.decode(encoding, "surrogatepass"), encoding)
    for encoding in (declared, "utf-8") if _WIDE.match(declared) else ("utf-8", declared if _NARROW.match(declared) else ""):
        if encoding and (text := _try(data, encoding)) is not None:
            return _repair(text, encoding)
    return _decode_damaged(data)


def _decode_damaged(data: bytes) -> Decoded:
    try:
        return _repair(data.decode("utf-8", "surrogatepass"), "utf-8")
    except UnicodeDecodeError:
        pass
    text = _try(data, "gb18030")
    if text is not None and _is_mostly_han(text, data):
        return _repair(text, "gb18030")
    lenient = data.decode("utf-8", "replace")
    bad = lenient.count("\ufffd")
    good = sum(1 for char in lenient if char > "\x7f") - bad
    if good > bad:
        return Decoded(lenient.replace("\x00", "\ufffd"), "utf-8", frozenset({"bytes_replaced"}), frozenset({"invalid_bytes"}))
    guessed = _repair(data.decode("cp1252", "replace"), "cp1252")
    return Decoded(guessed.text, "cp1252", guessed.flags, guessed.review_codes | {"encoding_guessed"})


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _is_mostly_han(text: str, data: bytes) -> bool:
    """Common Chinese characters take two high bytes; an accented letter and the ASCII letter behind it take one."""
    high = [char for char in text if char > "\x7f"]
    high_bytes = sum(1 for byte in data if byte > 0x7F)
    return bool(high) and len(_HAN.findall(text)) >= 0.7 * len(high) and high_bytes >= 1.6 * len(high)


def _guess_utf16(data: bytes) -> str:
    """The NUL bytes of UTF-16 all stand on one side, and every line feed has its own."""
    sample = data[: min(len(data), _SAMPLE_BYTES) & ~1]
    even, odd = sample[0::2], sample[1::2]
    if len(data) % 2:
        return ""
    for encoding, low, high in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if low.count(0) or not high.count(0):
            continue
        feeds = [i for i, byte in enumerate(low) if byte == 0x0A]
        if any(high[i] for i in feeds) or 0x0A in high:
            continue
        if not feeds and high.count(0) * 4 < len(high):
            continue
        text = _try(sample, encoding)
        if text is not None and len(_RARE.findall(text)) * 10 <= len(text):
            return encoding
    return ""


def _repair(text: str, encoding: str) -> Decoded:
    """One U+FFFD for each NUL and lone surrogate, so that every span stays where it was (R21)."""
    if not _BROKEN.search(text):
        return Decoded(text, encoding)
    flags = {"nul_replaced"} if "\x00" in text else set()
    if any("\ud800" <= match.group() <= "\udfff" for match in _BROKEN.finditer(text)):
        flags.add("surrogate_replaced")
    return Decoded(_BROKEN.sub("\ufffd", text), encoding, frozenset(flags), frozenset({"invalid_bytes"}))


def check_lines(text: str, max_line_chars: int) -> None:
    """Refuses text with a line longer than the cap: a split at graphemes of megabytes serves nobody."""
    start = 0
    while start + max_line_chars < len(text):
        end = text.rfind("\n", start, start + max_line_chars + 1)
        if end < start:
            raise ParseRefused("too_large", f"A line is longer than {max_line_chars} characters. Break the file into lines and add it again.")
        start = end + 1
