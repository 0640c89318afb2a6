"""The prompt as text (SYS-A10): guard line, `[N] source: path#locator`, heading, and the text between markers that it cannot close itself."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from retrieval.context import parts
from retrieval.context.blocks import EVIDENCE_KINDS
from retrieval.context.planner import presentation_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval.context.blocks import BlockRecord, Candidate, SourceRef

TAG_OF_KIND: Final = {"rag": "evidence", "fact": "evidence", "skill": "guidance", "reflection": "lesson", "memory": "memory"}
_LINE_OF_KIND: Final = {"skill": parts.GUIDANCE_LINE, "reflection": parts.REFLECTION_LINE, "memory": parts.MEMORY_LINE}
_TAGS: Final = (*dict.fromkeys(TAG_OF_KIND.values()), "question")
# Code points that do not show: they would split a marker for us, and not for a reader of the prompt.
_UNSEEN: Final = "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"


def _spelled(word: str) -> str:
    """A pattern for the word in either case, in full-width letters, and with unseen code points between them."""
    letters = (f"[{letter}{letter.upper()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter.upper()) + 0xFEE0)}]" for letter in word)
    return f"{_UNSEEN}*".join(letters)


_MARKER: Final = re.compile(
    rf"[<\uff1c\ufe64\u2039\u3008](?=(?:{_UNSEEN}|\s)*(?:[/\uff0f\u2044\u2215](?:{_UNSEEN}|\s)*)?(?:{'|'.join(map(_spelled, _TAGS))}))"
)
_CONTROL_TOKEN: Final = re.compile(rf"[<\uff1c\ufe64](?={_UNSEEN}*[|\uff5c])|\[(?=/?(?:INST|SYS)\])|<(?=</?SYS>>)")
_NUMBERED_SOURCE: Final = re.compile(
    rf"[\[\u3010\uff3b](?=(?:{_UNSEEN}|\s)*\d+(?:{_UNSEEN}|\s)*[\]\u3011\uff3d](?:{_UNSEEN}|\s)*{_spelled('source')}(?:{_UNSEEN}|\s)*[:\uff1a])"
)
_LINE_BREAKS: Final = frozenset({"Cc", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Numbered:
    """A citable block with its number: 1-based, the same from the pack to the page (R02)."""

    n: int
    block: BlockRecord


@dataclass(frozen=True, slots=True)
class Material:
    """What rendering reads besides the plan.

    Args: contents: required block id -> text. candidates: position -> candidate. sources: chunk id -> its place.
    """

    question: str
    contents: Mapping[str, str]
    candidates: Mapping[int, Candidate]
    sources: Mapping[str, SourceRef]


def number_evidence(blocks: Sequence[BlockRecord]) -> tuple[Numbered, ...]:
    """[1]..[N] over the citable blocks, in the order of the prompt."""
    citable = (block for block in sorted(blocks, key=presentation_order) if block.kind in EVIDENCE_KINDS)
    return tuple(Numbered(n, block) for n, block in enumerate(citable, start=1))


def render_prompt(blocks: Sequence[BlockRecord], material: Material) -> str:
    """The whole prompt: every block in presentation order, then the question."""
    number_of = {numbered.block.position: numbered.n for numbered in number_evidence(blocks)}
    sections = [
        material.contents[block.block_id] if block.required else render_block(block, material, number_of.get(block.position))
        for block in sorted(blocks, key=presentation_order)
    ]
    sections.append(f"{parts.QUESTION_LINE}\n<question>\n{neutralise(material.question)}\n</question>")
    return "\n\n".join(sections) + "\n"


def render_block(block: BlockRecord, material: Material, n: int | None) -> str:
    """One optional block. Args: n: its number, None for what is no evidence."""
    candidate = material.candidates[block.position]
    tag = TAG_OF_KIND[block.kind]
    lines = [_LINE_OF_KIND.get(block.kind, parts.GUARD_LINE)]
    if n is not None:
        places = [candidate.own_source, *(material.sources[source] for source in block.source_ids if source != candidate.chunk_id)]
        lines.append(f"[{n}] source: {_place(places[0])}")
        lines += (f"also in: {_place(place)}" for place in places[1:])
        if candidate.heading_path:
            lines.append("heading: " + " > ".join(map(one_line, candidate.heading_path)))
    return "\n".join((*lines, f"<{tag}>", neutralise(candidate.text), f"</{tag}>"))


def neutralise(text: str) -> str:
    """The text with every look-alike of our markers, of a numbered source line and of a chat control token opened up.

    Only the first character changes, to its character reference: a reader still sees what stood there.
    """
    for pattern in (_MARKER, _CONTROL_TOKEN, _NUMBERED_SOURCE):
        text = pattern.sub(lambda match: f"&#{ord(match[0])};", text)
    return text


def one_line(text: str) -> str:
    """A path or heading that cannot start a line of its own."""
    return neutralise(" ".join("".join(" " if unicodedata.category(character) in _LINE_BREAKS else character for character in text).split()))


def upper_bound_tokens(text: str) -> int:
    """More tokens than any byte-level or byte-fallback tokenizer makes: one a byte of the longer normal form, and 8 for its own marks."""
    return max(len(form.encode()) for form in (text, unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKD", text))) + 8


def _place(source: SourceRef) -> str:
    return f"{one_line(source.path)}#{one_line(source.locator)}"
