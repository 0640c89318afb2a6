"""Immutable postings of at most 65,536 chunks: built from terms, merged, and joined into the one body that a view is written from."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

Ints = NDArray[np.integer]
Flags = NDArray[np.bool_]

MAX_CHUNKS = 65_536  # so that an ordinal is a uint16
MAX_TF_BYTE = 255  # a tf byte of 255 says "at least 255"; the exact figure, when greater, is in the overflow list
_HASH_CACHE_TERMS = 1 << 20  # about 100 MB at most; a corpus of 1 M chunks has some 110,000 terms


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings in CSR form: those of term i are at starts[i] to starts[i + 1], by rising ordinal.

    Args: terms: int64 hashes, rising. starts: int64, one longer. ordinals: uint16, or int32 in joined postings. tfs: uint8.
        lengths: uint32 terms a chunk. doc_numbers: int32, the document of a chunk. overflow_*: exact tf above 255, by term and ordinal.
    """

    terms: Ints
    starts: Ints
    ordinals: Ints
    tfs: Ints
    lengths: Ints
    doc_numbers: Ints
    overflow_terms: Ints
    overflow_ordinals: Ints
    overflow_tfs: Ints

    @property
    def chunk_count(self) -> int:
        return len(self.lengths)

    @property
    def document_frequencies(self) -> Ints:
        return np.diff(self.starts)


@functools.lru_cache(_HASH_CACHE_TERMS)
def hash_term(term: str) -> int:
    """Signed 64 bits of blake2b: terms are stored by it, so that a row is found without keeping the words."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little", signed=True)


def hash_terms(terms: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(hash_term, terms), np.int64, len(terms))


def build_segment(tokens_per_chunk: Sequence[Sequence[str]], doc_numbers: Sequence[int]) -> Segment:
    """One segment of analysed chunks; the ordinal of a chunk is its place in the sequence.

    Raises: Invalid("segment_too_large"), Invalid("segment_misaligned").
    """
    chunk_count = len(tokens_per_chunk)
    _check_chunk_count(chunk_count)
    if len(doc_numbers) != chunk_count:
        raise Invalid("segment_misaligned", "Give one document number for each chunk.", {"chunks": chunk_count, "documents": len(doc_numbers)})
    lengths = np.fromiter(map(len, tokens_per_chunk), np.int64, chunk_count)
    numbers: dict[str, int] = {}
    token_numbers = np.fromiter(
        (numbers.setdefault(token, len(numbers)) for token in chain.from_iterable(tokens_per_chunk)), np.int64, int(lengths.sum())
    )
    hashes = hash_terms(list(numbers))
    terms, rank_of_number = np.unique(hashes, return_inverse=True)
    keys, tfs = _count_pairs(rank_of_number[token_numbers] * max(chunk_count, 1) + np.repeat(np.arange(chunk_count), lengths))
    ranks, ordinals = np.divmod(keys, max(chunk_count, 1))
    over = tfs > MAX_TF_BYTE
    return Segment(
        terms=terms,
        starts=_starts_of(np.bincount(ranks, minlength=len(terms))),
        ordinals=ordinals.astype(np.uint16),
        tfs=np.minimum(tfs, MAX_TF_BYTE).astype(np.uint8),
        lengths=lengths.astype(np.uint32),
        doc_numbers=np.asarray(doc_numbers, np.int32),
        overflow_terms=terms[ranks[over]],
        overflow_ordinals=ordinals[over].astype(np.int32),
        overflow_tfs=tfs[over].astype(np.uint32),
    )


def merge_segments(segments: Sequence[Segment], drop: Flags | None = None) -> Segment:
    """One segment out of several, ordinals in turn.

    Args: drop: a flag for each chunk of all segments; chunks to leave out, as compaction and purge need.
    Raises: Invalid("segment_too_large") when more than 65,536 chunks stay, Invalid("segment_misaligned").
    """
    joined = join_postings(segments)
    if drop is not None:
        joined = _drop_chunks(joined, np.asarray(drop, np.bool_))
    _check_chunk_count(joined.chunk_count)
    return replace(joined, ordinals=joined.ordinals.astype(np.uint16))


def join_postings(segments: Sequence[Segment]) -> Segment:
    """All segments as one with int32 ordinals in turn, without the limit of 65,536 chunks."""
    if not segments:
        return replace(build_segment([], []), ordinals=np.zeros(0, np.int32))
    terms = np.unique(np.concatenate([segment.terms for segment in segments]))
    places = [np.searchsorted(terms, segment.terms) for segment in segments]
    bases = _starts_of([segment.chunk_count for segment in segments])[:-1]
    document_frequencies = np.zeros(len(terms), np.int64)
    for segment, place in zip(segments, places, strict=True):
        document_frequencies[place] += segment.document_frequencies
    starts = _starts_of(document_frequencies)
    free = starts[:-1].copy()
    ordinals, tfs = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.uint8)
    for segment, place, base in zip(segments, places, bases, strict=True):
        counts = segment.document_frequencies
        target = np.repeat(free[place] - segment.starts[:-1], counts) + np.arange(len(segment.ordinals))
        ordinals[target] = segment.ordinals.astype(np.int32) + np.int32(base)
        tfs[target] = segment.tfs
        free[place] += counts
    overflow_ordinals = np.concatenate([segment.overflow_ordinals + np.int32(base) for segment, base in zip(segments, bases, strict=True)])
    overflow_terms = np.concatenate([segment.overflow_terms for segment in segments])
    order = np.lexsort((overflow_ordinals, overflow_terms))
    return Segment(
        terms=terms,
        starts=starts,
        ordinals=ordinals,
        tfs=tfs,
        lengths=np.concatenate([segment.lengths for segment in segments]),
        doc_numbers=np.concatenate([segment.doc_numbers for segment in segments]),
        overflow_terms=overflow_terms[order],
        overflow_ordinals=overflow_ordinals[order],
        overflow_tfs=np.concatenate([segment.overflow_tfs for segment in segments])[order],
    )


def _drop_chunks(joined: Segment, drop: Flags) -> Segment:
    if len(drop) != joined.chunk_count:
        raise Invalid("segment_misaligned", "Give one drop flag for each chunk.", {"chunks": joined.chunk_count, "flags": len(drop)})
    keep = ~drop
    new_ordinals = (np.cumsum(keep) - 1).astype(np.int32)
    kept_postings = keep[joined.ordinals]
    counts = np.diff(_starts_of(kept_postings)[joined.starts])
    kept_terms = counts > 0
    kept_overflow = keep[joined.overflow_ordinals]
    return Segment(
        terms=joined.terms[kept_terms],
        starts=_starts_of(counts[kept_terms]),
        ordinals=new_ordinals[joined.ordinals[kept_postings]],
        tfs=joined.tfs[kept_postings],
        lengths=joined.lengths[keep],
        doc_numbers=joined.doc_numbers[keep],
        overflow_terms=joined.overflow_terms[kept_overflow],
        overflow_ordinals=new_ordinals[joined.overflow_ordinals[kept_overflow]],
        overflow_tfs=joined.overflow_tfs[kept_overflow],
    )


def _check_chunk_count(chunk_count: int) -> None:
    if chunk_count > MAX_CHUNKS:
        raise Invalid("segment_too_large", f"A segment holds at most {MAX_CHUNKS} chunks; build several.", {"chunks": chunk_count})


def _count_pairs(keys: Ints) -> tuple[Ints, Ints]:
    """Distinct keys, rising, and how often each occurs. The keys are sorted in place."""
    keys.sort()
    firsts = np.flatnonzero(np.concatenate((np.ones(min(len(keys), 1), np.bool_), keys[1:] != keys[:-1])))
    return keys[firsts], np.diff(np.append(firsts, len(keys)))


def _starts_of(counts: Sequence[int] | NDArray[np.generic]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
