"""View files: the postings of many segments merged for reading, memory-mapped, and shared by all processes of a host."""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import threading
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.errors import Unavailable
from retrieval.lexical.postings import DensePostings, Extras, Postings, SparsePostings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from retrieval.lexical.masks import Slot
    from retrieval.lexical.segments import Ints, Segment

VIEW_FORMAT = 1

_PREFIX = struct.Struct("<8sIIIQ")  # magic, header bytes, crc of header, crc of body, body bytes
_MAGIC = b"RAG4CLEX"
_ALIGN_BYTES = 64  # a cache line
_BOUND_LEVELS = 8


@dataclass(frozen=True, slots=True)
class ViewLayout:
    """Where a term changes form; it decides speed, never a score. Measured on 100k and 1M chunks: n/8 was faster than n/2, n/4, n/16 and none.

    Args: dense_share: a term in more than n / dense_share chunks is stored as a byte a chunk. dense_min_chunks: smaller views have no such term.
        bound_min_df: terms in more chunks carry (tf, shortest chunk) pairs for a tight upper bound.
    """

    dense_share: int = 8
    dense_min_chunks: int = 4096
    bound_min_df: int = 1024


DEFAULT_LAYOUT = ViewLayout()


class View:
    """A mapped view file. It stays readable while mapped, also after the file is unlinked.

    Raises: Unavailable("lexical_view_damaged") when the file is cut short, altered or of another format.
    """

    def __init__(self, path: Path) -> None:
        header, body = _map_checked(path)
        self.segment_digests: tuple[str, ...] = tuple(header.fields["segments"])
        arrays = {name: _array_at(body, *place) for name, place in header.fields["arrays"].items()}
        self.lengths: Ints = arrays["lengths"]
        self.doc_numbers: Ints = arrays["doc_numbers"]
        self._terms, self._starts, self._ordinals, self._tfs = (arrays[name] for name in ("terms", "starts", "ordinals", "tfs"))
        self._dense_tfs, self._dense_words = arrays["dense_tfs"], arrays["dense_words"]
        self._dense_rows = {term: row for row, term in enumerate(arrays["dense_terms"].tolist())}
        self._levels = arrays["levels"]
        self._level_rows = {term: row for row, term in enumerate(arrays["bounded_terms"].tolist())}
        self._overflow = tuple(arrays[f"overflow_{name}"] for name in ("terms", "ordinals", "tfs"))
        self._overflow_terms = frozenset(self._overflow[0].tolist())

    @property
    def chunk_count(self) -> int:
        return len(self.lengths)

    def find_postings(self, term: int, slot: Slot) -> Postings | None:
        """The postings of a term by its hash, None where no chunk of this view has it."""
        place = int(self._terms.searchsorted(term))
        if place == len(self._terms) or int(self._terms[place]) != term:
            return None
        row, extras = self._dense_rows.get(term), self._read_extras(term)
        if row is not None:
            return DensePostings(slot, self._dense_tfs[row], self._dense_words[row], extras)
        span = slice(self._starts[place], self._starts[place + 1])
        return SparsePostings(slot, self._ordinals[span], self._tfs[span], extras)

    def _read_extras(self, term: int) -> Extras | None:
        row, is_overflown = self._level_rows.get(term), term in self._overflow_terms
        if row is None and not is_overflown:
            return None
        terms, ordinals, tfs = self._overflow
        span = slice(terms.searchsorted(term), terms.searchsorted(term, "right"))
        return Extras(ordinals[span], tfs[span], self._levels[row] if row is not None else self._levels[:0])


def write_view(path: Path, joined: Segment, segment_digests: Sequence[str], layout: ViewLayout = DEFAULT_LAYOUT) -> None:
    """Write the joined postings under a temporary name and rename, so that readers see all of it or nothing."""
    arrays = _arrange(joined, layout)
    places, body_bytes, body_crc = {}, 0, 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, list(array.shape), body_bytes]
        padded = _pad_bytes(array)
        body_crc = zlib.crc32(padded, zlib.crc32(array.data.cast("B") if array.size else b"", body_crc))
        body_bytes += array.nbytes + len(padded)
    header = canonical_json({"format": VIEW_FORMAT, "segments": list(segment_digests), "arrays": places})
    header += b" " * (-(_PREFIX.size + len(header)) % _ALIGN_BYTES)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with open(temporary, "wb", opener=_open_private) as file:
            file.write(_PREFIX.pack(_MAGIC, len(header), zlib.crc32(header), body_crc, body_bytes) + header)
            for array in arrays.values():
                file.write(array.data if array.size else b"")
                file.write(_pad_bytes(array))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_segment_digests(path: Path) -> tuple[str, ...]:
    """The segments that a view file was made from, by its header alone.

    Raises: Unavailable("lexical_view_damaged").
    """
    with path.open("rb") as file:
        return tuple(_read_header(file).fields["segments"])


@dataclass(frozen=True, slots=True)
class _Header:
    fields: dict[str, Any]
    size_bytes: int
    body_crc: int
    body_bytes: int


def _read_header(file: BinaryIO) -> _Header:
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size:
        raise _damaged("short")
    magic, header_bytes, header_crc, body_crc, body_bytes = _PREFIX.unpack(prefix)
    if magic != _MAGIC:
        raise _damaged("magic")
    text = file.read(header_bytes)
    if zlib.crc32(text) != header_crc:
        raise _damaged("header")
    fields = json.loads(text)
    if fields["format"] != VIEW_FORMAT:
        raise _damaged("format")
    return _Header(fields, _PREFIX.size + header_bytes, body_crc, body_bytes)


def _map_checked(path: Path) -> tuple[_Header, memoryview]:
    with path.open("rb") as file:
        header = _read_header(file)
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    body = mapped[header.size_bytes :]
    if len(body) != header.body_bytes or zlib.crc32(body) != header.body_crc:
        raise _damaged("body")
    return header, body


def _array_at(body: memoryview, dtype: str, shape: list[int], start: int) -> Ints:
    count = math.prod(shape)
    return np.frombuffer(body, dtype, count, start).reshape(shape) if count else np.zeros(shape, dtype)


def _arrange(joined: Segment, layout: ViewLayout) -> dict[str, Ints]:
    """The arrays of a view: rare terms as lists, frequent ones as rows of bytes and bits, and upper bounds of the less rare."""
    dfs, chunk_count = joined.document_frequencies, joined.chunk_count
    is_dense = (dfs * layout.dense_share > chunk_count) & (chunk_count >= layout.dense_min_chunks)
    is_sparse_posting = np.repeat(~is_dense, dfs)
    dense_tfs = np.zeros((int(is_dense.sum()), chunk_count), np.uint8)
    for row, place in enumerate(np.flatnonzero(is_dense)):
        span = slice(joined.starts[place], joined.starts[place + 1])
        dense_tfs[row, joined.ordinals[span]] = joined.tfs[span]
    bounded = np.flatnonzero(dfs > layout.bound_min_df)
    arrays = {
        "terms": joined.terms,
        "starts": np.concatenate((np.zeros(1, np.int64), np.cumsum(np.where(is_dense, 0, dfs)))),
        "ordinals": joined.ordinals[is_sparse_posting],
        "tfs": joined.tfs[is_sparse_posting],
        "lengths": joined.lengths,
        "doc_numbers": joined.doc_numbers,
        "dense_terms": joined.terms[is_dense],
        "dense_tfs": dense_tfs,
        "dense_words": _pack_rows(dense_tfs),
        "bounded_terms": joined.terms[bounded],
        "levels": _find_levels(joined, bounded),
        "overflow_terms": joined.overflow_terms,
        "overflow_ordinals": joined.overflow_ordinals,
        "overflow_tfs": joined.overflow_tfs,
    }
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _pack_rows(dense_tfs: Ints) -> NDArray[np.uint64]:
    packed = np.packbits(dense_tfs > 0, axis=1, bitorder="little")
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def _find_levels(joined: Segment, places: Ints) -> Ints:
    """For each term the shortest chunk with tf 1, 2, ... 7 and with more, beside that tf (the greatest for the last level)."""
    levels = np.zeros((len(places), _BOUND_LEVELS, 2), np.uint32)
    for row, place in enumerate(places):
        span = slice(joined.starts[place], joined.starts[place + 1])
        ordinals, tfs = joined.ordinals[span], joined.tfs[span].astype(np.uint32)
        first, last = joined.overflow_terms.searchsorted(joined.terms[place]), joined.overflow_terms.searchsorted(joined.terms[place], "right")
        tfs[ordinals.searchsorted(joined.overflow_ordinals[first:last])] = joined.overflow_tfs[first:last]
        capped = np.minimum(tfs, _BOUND_LEVELS)
        for level in np.unique(capped).tolist():
            chosen = capped == level
            levels[row, level - 1] = tfs[chosen].max(), joined.lengths[ordinals[chosen]].min()
    return levels


def _pad_bytes(array: Ints) -> bytes:
    return bytes(-array.nbytes % _ALIGN_BYTES)


def _open_private(path: str, flags: int) -> int:
    """Postings tell what a document says: nobody but the service's own user may read them."""
    return os.open(path, flags, 0o600)


def _damaged(what: str) -> Unavailable:
    return Unavailable("lexical_view_damaged", "This view file cannot be used; it is made anew from the segments.", {"fault": what})
