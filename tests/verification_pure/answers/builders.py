"""Plain builders of passages, facts and an embedding that needs no model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from verification.rules.contract import FactRow, Passage, Scores
from verification.rules.facts_answer import normalise_key
from verification.rules.lexicon_words import read_words

if TYPE_CHECKING:
    from collections.abc import Sequence

DIMS = 256


def embed(texts: Sequence[str], _kind: str) -> np.ndarray:
    """Hashed bag of words around a common direction: related texts are near .9, unrelated near .8, as with e5."""
    rows = np.zeros((len(texts), DIMS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        words = read_words(text)
        for word in words:
            row[1 + int(hashlib.sha256(word.key.encode()).hexdigest(), 16) % (DIMS - 1)] += 1
        length = float(np.linalg.norm(row)) or 1.0
        row /= length * 2
        row[0] = 1.0
        row /= np.linalg.norm(row)
    return rows


def passage(n: int, text: str, document: str = "handbook.md", heading: tuple[str, ...] = (), start: int = 0) -> Passage:
    return Passage(
        n=n,
        chunk_id=f"chunk-{document}-{start}",
        revision_id=f"rev-{document}",
        document_id=f"doc-{document}",
        document=document,
        heading_path=heading,
        text=text,
        span_start=start,
        locator=f"L{n}",
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        scores=Scores(dense_cosine=0.88, bm25=10.0, rrf=0.03),
    )


def fact(subject: str, field: str, value: str, document: str = "desk.md", unit: str = "", period: str = "") -> FactRow:
    return FactRow(
        fact_id=f"{document}/{subject}/{field}/{period}/{value}",
        document_id=f"doc-{document}",
        document=document,
        revision_id=f"rev-{document}",
        chunk_id=f"chunk-{document}-0",
        subject=subject,
        field=field,
        subject_key=normalise_key(subject),
        field_key=normalise_key(field),
        value_text=value,
        value=None,
        unit=unit,
        period=period,
        locator="L3",
        span_start=0,
        span_end=len(value),
    )
