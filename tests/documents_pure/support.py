"""What the tests of the pure part of documents share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from documents.chunking import split
from documents.parsing.registry import parse_bytes

_WORDS = st.sampled_from(
    [
        "leave",
        "policy",
        "25 days",
        "报销",
        "制度规定。",
        "He said no.",
        "**bold**",
        "`a|b`",
        "[link](http://x)",
        "é",
        "👩‍👩‍👧",
        "a_b",
        "\\*",
        "<b>x</b>",
        "&amp;",
    ]
)
_TEXT = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)
_BLOCKS = st.one_of(
    _TEXT,
    st.tuples(st.integers(1, 4), _TEXT).map(lambda part: "#" * part[0] + " " + part[1]),
    st.lists(_TEXT, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(_TEXT, min_size=1, max_size=3).map(lambda items: "\n".join(f"{'  ' * n}1. {item}" for n, item in enumerate(items))),
    _TEXT.map(lambda text: "> " + text),
    _TEXT.map(lambda text: f"```\n# {text}\n\n{text}\n```"),
    st.lists(_TEXT, min_size=1, max_size=3).map(lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {row.replace('|', '')} | 1 |" for row in rows)),
    _TEXT.map(lambda text: f"text <!-- {text} --> more"),
    _TEXT.map(lambda text: f"Term\n: {text}"),
    st.just("[ref]: http://example.com"),
    st.just("<div hidden>\n\nunseen\n\n</div>"),
    _TEXT.map(lambda text: f"{text}\n==="),
)
MARKDOWN = st.lists(_BLOCKS, max_size=12).map("\n\n".join)
ANY_TEXT = st.text(st.one_of(st.sampled_from("#>-*|:`<![]()\\ \t\n\r\n\n1.年a。.\u200b\u202e\U000e0041"), st.characters(codec="utf-8")), max_size=300)


def parsed(source: str | bytes, name: str = "page.md"):
    return parse_bytes(source.encode() if isinstance(source, str) else source, name)


def chunks_of(source: str | bytes, name: str = "page.md"):
    return split(parsed(source, name))


def shared_folder() -> Path:
    """The folder of shared fixtures, or a plain skip."""
    folder = os.environ.get("RAG4C_SHARED")
    if not folder:
        pytest.skip("RAG4C_SHARED is not set")
    return Path(folder)


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
