"""The weight file is believed only where magic, sizes and names fit together."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from rag4c.kernel.errors import Invalid
from rag4c.providers.e5.graph import EXACT_TENSORS, quantise_rows, repack_blocks
from rag4c.providers.e5.weights import BLOCK_BYTES, find_weight_file, read_weights
from rag4c.providers.e5.words import unpack_blocks

HEADER_BYTES = 4096


def _altered(tmp_path, change):
    """A copy of the true file, sparse behind its beginning, with `change(bytearray)` applied."""
    whole = find_weight_file()
    data = bytearray(whole.read_bytes())
    change(data)
    path = tmp_path / "weights.bin"
    path.write_bytes(data)
    return path


def _set(offset, layout, *values):
    return lambda data: struct.pack_into("<" + layout, data, offset, *values)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_set(0, "4s", b"GGUF"), id="other magic"),
        pytest.param(_set(4, "I", 2), id="other version"),
        pytest.param(_set(8, "i", 385), id="hidden size no multiple of a block"),
        pytest.param(_set(12, "i", -1), id="negative layers"),
        pytest.param(_set(40, "i", 16), id="other block size"),
        pytest.param(_set(44, "i", 10**9), id="more pieces than rows"),
        pytest.param(_set(64, "Q", 2**62), id="blob longer than the file"),
        pytest.param(_set(72, "I", 7), id="offsets that do not begin at zero"),
        pytest.param(lambda data: data.__delitem__(slice(1_000_000, None)), id="cut short in the vocabulary"),
        pytest.param(lambda data: data.__delitem__(slice(60_000_000, None)), id="cut short in the tensors"),
        pytest.param(lambda data: data.clear(), id="empty"),
    ],
)
def test_a_damaged_weight_file_is_refused(tmp_path, change):
    with pytest.raises(Invalid) as refusal:
        read_weights(_altered(tmp_path, change))
    assert refusal.value.code == "weights_unreadable"


def test_a_tensor_of_another_size_or_name_is_refused(weights):
    with pytest.raises(Invalid, match="weights_unreadable"):
        weights.read_floats("emb.pos", 511, weights.sizes.hidden)
    with pytest.raises(Invalid, match="weights_unreadable"):
        weights.read_blocks("l99.q.w", 384, 384)


def test_the_exact_tensors_are_in_the_file(weights):
    assert all(f"{name}.w" in weights.places for name in EXACT_TENSORS)


def test_unpacking_follows_the_block_layout():
    block = np.zeros((1, 1, BLOCK_BYTES), np.uint8)
    block[0, 0, :2] = np.frombuffer(np.float16(0.5).tobytes(), np.uint8)
    block[0, 0, 2:] = 0x88  # eight is zero
    block[0, 0, 2] = 0xF1  # weight 0 is 1 - 8, weight 16 is 15 - 8
    expected = np.zeros(32, np.float32)
    expected[0], expected[16] = -3.5, 3.5
    assert unpack_blocks(block)[0].tolist() == expected.tolist()


def test_repacking_changes_the_order_but_no_value(weights):
    blocks = weights.read_blocks("l4.fo.w", 384, 1536)
    packed, scales = repack_blocks(blocks)
    weights_in_order = np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:2], 32).astype(np.float32)
    assert np.array_equal(((weights_in_order - 8) * scales[..., None]).reshape(384, -1), unpack_blocks(blocks))


def test_int8_rows_stay_within_half_a_step(weights):
    matrix = unpack_blocks(weights.read_blocks("l0.q.w", 384, 384))
    quantised, scales = quantise_rows(matrix)
    assert np.abs(quantised * scales[:, None] - matrix).max() <= scales.max() * 0.501
    assert quantise_rows(np.zeros((2, 32), np.float32))[0].any() == np.False_
