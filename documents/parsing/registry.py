"""The door of parsing: bytes of one file to an Extract, by the module that is registered for what the bytes are."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import cast

from documents.parsing import sniffing
from documents.parsing.contract import Extract, FormatModule, ParseLimits, ParseRefused, complete
from documents.unsafe import unsafe_reason

# One entry makes a format readable: what `sniffing.sniff` calls it -> the module that follows contract.FormatModule.
FORMATS = {
    "markdown": "documents.parsing.markdown",
    "text": "documents.parsing.text",
    "html": "documents.parsing.html",
}
DEFAULT_LIMITS = ParseLimits()


@cache
def load_format(kind: str) -> FormatModule:
    """The module for a format. Raises ParseRefused("unsupported_format") when there is none."""
    if kind not in FORMATS:
        raise sniffing.unsupported(kind)
    return cast("FormatModule", import_module(FORMATS[kind]))


def parse_bytes(data: bytes, path: str, limits: ParseLimits = DEFAULT_LIMITS) -> Extract:
    """Parses one file. `path` gives its extension only; nothing is read from disk.

    Raises: ParseRefused (Permanent) with a code of the format list: empty_file, no_content, too_large, too_deep, type_mismatch,
    legacy_format, unsupported_format, macro_enabled, encrypted, corrupt_archive.
    """
    if not data:
        raise ParseRefused("empty_file", "The file has no bytes.")
    if len(data) > limits.max_bytes:
        raise ParseRefused("too_large", f"The file has {len(data)} bytes; {limits.max_bytes} are allowed. Split it and add the parts.")
    module = load_format(sniffing.sniff(data, path))
    extract = complete(module.parse(data, limits), module)
    if not any(element.search_text for element in extract.elements if not element.hidden):
        raise ParseRefused("no_content", "The file holds no text that a reader would see.")
    return _review_hidden(extract)


def _review_hidden(extract: Extract) -> Extract:
    """Hidden text that speaks to a language model is no accident, whatever hides it: a person should look."""
    hidden = (element for element in extract.elements if element.hidden and "front_matter" not in element.flags)
    if "hidden_content" in extract.review_codes or not any(unsafe_reason(element.search_text) for element in hidden):
        return extract
    return replace(extract, review_codes=tuple(sorted({*extract.review_codes, "hidden_content"})))
