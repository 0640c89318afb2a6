"""Codes of the contract in words and shapes: every state is told by both, and by colour only besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django import template
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise
    from django.utils.safestring import SafeString

register = template.Library()
STATES: Final[dict[str, tuple[str, _StrPromise]]] = {
    "ok": ("✓", _("supported")),
    "exists_only": ("◐", _("exists, not checked")),
    "stale": ("↻", _("source changed")),
    "unsupported": ("✕", _("not supported")),
    "answered": ("✓", _("answered")),
    "partial": ("◐", _("answered in part")),
    "answered_unverified": ("◐", _("not fully checked")),
    "abstained": ("○", _("no answer")),
    "failed": ("✕", _("failed")),
}
OUTCOMES: Final[dict[str, tuple[str, _StrPromise]]] = {
    "ok": ("✓", _("passed")),
    "exists_only": ("◐", _("not run")),
    "stale": ("↻", _("changed")),
    "unsupported": ("✕", _("not passed")),
    "failed": ("✕", _("failed")),
}
_WORDS: Final[dict[str, _StrPromise]] = {
    "verbatim": _("word for word"),
    "measured": _("measured"),
    "entailed": _("follows from it"),
    "answer": _("Answer"),
    "claim": _("Claim"),
    "citation": _("Citation"),
    "evidence": _("Evidence"),
    "projection": _("Projection"),
    "chunk": _("Chunk"),
    "revision": _("Revision"),
    "parse": _("Parse"),
    "document": _("Document"),
    "source": _("Source"),
    "manifest": _("Published manifest"),
    "L1": _("the source exists"),
    "L2": _("its text is unchanged"),
    "L3": _("it supports the claim"),
    "Q": _("it answers the question"),
    "complete_permitted_subject_field_source_set": _("All sources on this subject that you may read were compared."),
    "cited_evidence_only": _("Only the cited passages were compared."),
    "state": _("state"),
    "locator": _("place"),
    "chunk version": _("chunk version"),
    "embedding space": _("embedding space"),
    "analyzer": _("analyzer"),
    "dense cosine": _("dense cosine"),
    "added by": _("added by"),
    "added": _("added"),
    "media type": _("media type"),
    "knowledge base": _("knowledge base"),
    "freshness": _("freshness"),
    "policy": _("policy"),
    "visible set": _("what you could see"),
    "channel": _("channel"),
    "context manifest": _("context manifest"),
    "published manifest": _("published manifest"),
    "retrieval": _("search"),
    "verification": _("checking"),
    "total": _("in all"),
    "existence, text hash, entailment, answers the question": _("existence, text hash, support, fit to the question"),
    "vector read back": _("the vector was read back"),
    "vector missing": _("the vector is missing"),
    "unchanged against Postgres and the stored original": _("unchanged against the database and the stored original"),
}
_BOUNDED: Final = "bounded_same_subject_search"


@register.filter
def state(code: str) -> SafeString:
    """Shape and word of a state; an unknown code is shown as it is."""
    return _sign(code, STATES)


@register.filter
def outcome(code: str) -> SafeString:
    """Shape and word of what one check came to."""
    return _sign(code, OUTCOMES)


def _sign(code: str, signs: dict[str, tuple[str, _StrPromise]]) -> SafeString:
    shape, name = signs.get(code, ("·", code))
    return format_html('<span class="state state-{}"><span aria-hidden="true">{}</span> {}</span>', code, shape, name)


@register.filter
def words(code: str) -> str:
    if code.startswith(_BOUNDED):
        return str(_("The nearest passages on this subject were compared.")) + f" {code.removeprefix(_BOUNDED)}".rstrip()
    return str(_WORDS.get(code, code.replace("_", " ")))
