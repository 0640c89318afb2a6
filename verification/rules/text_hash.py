"""Layer 2: whether the cited text is, to the character, what the source says now."""

from __future__ import annotations

from dataclasses import dataclass

from rag4c.kernel.canonical import sha256_hex


@dataclass(frozen=True, slots=True)
class SpanCheck:
    """outcome: ok or stale. reason: empty, or absent, digest_differs, span_outside, span_differs."""

    outcome: str
    reason: str = ""


def check_span(current_text: str | None, span: tuple[int, int], expected_sha256: str, expected_text: str) -> SpanCheck:
    """Compare a cited span with the current truth.

    Args: current_text: the whole text that the digest covers, None when it is gone. span: code points start..end, half-open, of it.
        expected_sha256: 64 hex digits from the evidence pack. expected_text: what was quoted.
    Source: SYS-B1, SYS-E2.
    """
    if current_text is None:
        return SpanCheck("stale", "absent")
    if sha256_hex(current_text) != expected_sha256:
        return SpanCheck("stale", "digest_differs")
    start, end = span
    if not 0 <= start < end <= len(current_text):
        return SpanCheck("stale", "span_outside")
    if current_text[start:end] != expected_text:
        return SpanCheck("stale", "span_differs")
    return SpanCheck("ok")
