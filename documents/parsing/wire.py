"""How requests and extracts travel between a pool and its child: length-prefixed frames, JSON, nothing that could run code."""

from __future__ import annotations

import json
import struct
from dataclasses import fields
from typing import Any

from documents.parsing.contract import ElementDraft, Extract

LENGTH = struct.Struct(">Q")
_ELEMENT_FIELDS = tuple(field.name for field in fields(ElementDraft) if field.name not in {"seq", "text"})
_EXTRACT_FIELDS = tuple(field.name for field in fields(Extract) if field.name != "elements")


def frame(*parts: bytes) -> bytes:
    """Each part behind its length in 8 bytes."""
    return b"".join(piece for part in parts for piece in (LENGTH.pack(len(part)), part))


def dump_extract(extract: Extract) -> bytes:
    """JSON without the element texts: they are slices of the canonical text."""
    rows = [[getattr(element, name) for name in _ELEMENT_FIELDS] for element in extract.elements]
    value = {name: getattr(extract, name) for name in _EXTRACT_FIELDS}
    return json.dumps({**value, "elements": rows}, ensure_ascii=False, separators=(",", ":")).encode()


def load_extract(value: dict[str, Any]) -> Extract:
    """The inverse of dump_extract over parsed JSON."""
    text = value["text"]
    elements = tuple(_load_element(seq, text, row) for seq, row in enumerate(value["elements"]))
    rest: dict[str, Any] = {name: tuple(value[name]) if isinstance(value[name], list) else value[name] for name in _EXTRACT_FIELDS}
    return Extract(**rest, elements=elements)


def _load_element(seq: int, text: str, row: list[Any]) -> ElementDraft:
    known: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in zip(_ELEMENT_FIELDS, row, strict=True)}
    return ElementDraft(seq=seq, text=text[known["span_start"] : known["span_end"]], **known)
