"""Segments as rows for a database, and back. The rows are the truth: views and caches are made from them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag4c.kernel.errors import Unavailable
from retrieval.lexical.segments import Flags, Ints, Segment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Measured: one row a term took a third more bytes and 18 times the rows; 128 rare terms a row is a few kilobytes, read in one go.
TERMS_PER_ROW = 128
MAX_SHARED_DF = 256  # a term in more chunks has a row of its own

_HEAD = np.dtype([("chunks", "<u4"), ("terms", "<u4"), ("postings", "<u8"), ("overflows", "<u4")])
_OVERFLOW = np.dtype([("term", "<i8"), ("ordinal", "<i4"), ("tf", "<u4")])


@dataclass(frozen=True, slots=True)
class PackedRow:
    """Row 0 is the head (counts, lengths, documents, overflow list); each other holds postings, from the term hash `first_hash` on.

    Args: payload: little endian. A row of postings: u32 terms, then of each term i64 hash and u32 df, then all ordinals u16, then all tf u8.
    """

    no: int
    first_hash: int
    payload: bytes


def pack_segment(segment: Segment) -> list[PackedRow]:
    """The rows of a segment; the same segment gives the same bytes on every machine."""
    rows = [PackedRow(0, 0, _pack_head(segment))]
    for no, group in enumerate(_group_terms(segment.document_frequencies), 1):
        rows.append(PackedRow(no, int(segment.terms[group[0]]), _pack_terms(segment, group)))
    return rows


def unpack_segment(rows: Sequence[PackedRow]) -> Segment:
    """The segment again, from all its rows in any order.

    Raises: Unavailable("lexical_rows_damaged") when rows are missing, cut short or do not fit together.
    """
    ordered = sorted(rows, key=lambda row: row.no)
    if [row.no for row in ordered] != list(range(len(rows))) or not rows:
        raise _damaged("numbers")
    reader = _Reader(ordered[0].payload)
    head = reader.take(_HEAD, 1)[0]
    chunk_count = int(head["chunks"])
    lengths, doc_numbers = reader.take("<u4", chunk_count), reader.take("<i4", chunk_count)
    overflow = reader.take(_OVERFLOW, int(head["overflows"]))
    reader.check_end()
    terms, counts, ordinals, tfs = _read_postings(ordered[1:])
    if (len(terms), len(ordinals)) != (head["terms"], head["postings"]) or (ordinals >= chunk_count).any() or (terms[1:] <= terms[:-1]).any():
        raise _damaged("counts")
    return Segment(
        terms=terms,
        starts=np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))),
        ordinals=ordinals,
        tfs=tfs,
        lengths=lengths.astype(np.uint32),
        doc_numbers=doc_numbers.astype(np.int32),
        overflow_terms=overflow["term"].astype(np.int64),
        overflow_ordinals=overflow["ordinal"].astype(np.int32),
        overflow_tfs=overflow["tf"].astype(np.uint32),
    )


def digest_rows(rows: Sequence[PackedRow]) -> str:
    """sha256 over the payloads in order: the name of a segment, from which the names of views are made."""
    total = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row.no):
        total.update(hashlib.sha256(row.payload).digest())
    return total.hexdigest()


def _pack_head(segment: Segment) -> bytes:
    head = np.array([(segment.chunk_count, len(segment.terms), len(segment.ordinals), len(segment.overflow_terms))], _HEAD)
    overflow = np.empty(len(segment.overflow_terms), _OVERFLOW)
    overflow["term"], overflow["ordinal"], overflow["tf"] = segment.overflow_terms, segment.overflow_ordinals, segment.overflow_tfs
    return b"".join((head.tobytes(), segment.lengths.astype("<u4").tobytes(), segment.doc_numbers.astype("<i4").tobytes(), overflow.tobytes()))


def _group_terms(document_frequencies: Ints) -> Iterator[Ints]:
    """Places of the terms that share a row: frequent ones alone, the others in order of hash, 128 together."""
    frequent: Flags = document_frequencies > MAX_SHARED_DF
    yield from np.flatnonzero(frequent).reshape(-1, 1)
    rare = np.flatnonzero(~frequent)
    for start in range(0, len(rare), TERMS_PER_ROW):
        yield rare[start : start + TERMS_PER_ROW]


def _pack_terms(segment: Segment, group: Ints) -> bytes:
    starts, ends = segment.starts[group], segment.starts[group + 1]
    places = np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)])
    body = (
        np.array([len(group)], "<u4"),
        segment.terms[group].astype("<i8"),
        (ends - starts).astype("<u4"),
        segment.ordinals[places].astype("<u2"),
        segment.tfs[places].astype(np.uint8),
    )
    return b"".join(part.tobytes() for part in body)


def _read_postings(rows: Sequence[PackedRow]) -> tuple[Ints, Ints, Ints, Ints]:
    """Terms by rising hash with their df, and the postings in that order."""
    parts = [_read_row(row) for row in rows]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint16), np.zeros(0, np.uint8)
    terms, counts, ordinals, tfs = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(terms, kind="stable")
    stored_starts, sorted_counts = (np.cumsum(counts) - counts)[order], counts[order]
    sorted_starts = np.cumsum(sorted_counts) - sorted_counts
    places = np.repeat(stored_starts - sorted_starts, sorted_counts) + np.arange(len(ordinals))
    return terms[order].astype(np.int64), sorted_counts, ordinals[places].astype(np.uint16), tfs[places]


def _read_row(row: PackedRow) -> tuple[Ints, Ints, Ints, Ints]:
    reader = _Reader(row.payload)
    term_count = int(reader.take("<u4", 1)[0])
    terms = reader.take("<i8", term_count)
    counts = reader.take("<u4", term_count).astype(np.int64)
    postings = int(counts.sum())
    ordinals, tfs = reader.take("<u2", postings), reader.take(np.uint8, postings)
    reader.check_end()
    return terms, counts, ordinals, tfs


class _Reader:
    """Takes arrays off a payload in turn and refuses one that ends early or late."""

    def __init__(self, payload: bytes) -> None:
        self._payload, self._at = payload, 0

    def take(self, dtype: str | np.dtype[np.void] | type[np.uint8], count: int) -> np.ndarray:
        kind: np.dtype[np.generic] = np.dtype(dtype)
        end = self._at + kind.itemsize * count
        if end > len(self._payload):
            raise _damaged("short")
        taken = np.frombuffer(self._payload, kind, count, self._at)
        self._at = end
        return taken

    def check_end(self) -> None:
        if self._at != len(self._payload):
            raise _damaged("long")


def _damaged(what: str) -> Unavailable:
    return Unavailable("lexical_rows_damaged", "The rows of this segment do not fit together; rebuild it from the stored chunks.", {"fault": what})
