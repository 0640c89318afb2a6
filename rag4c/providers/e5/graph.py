"""Builds the encoder as an int8 ONNX graph: word vectors in, one mean vector out. The word table stays outside (see `words.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rag4c.providers.e5.weights import BLOCK_WEIGHTS
from rag4c.providers.e5.words import unpack_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag4c.providers.e5.weights import WeightFile

OPSET = 20
IR_VERSION = 9
MICROSOFT_DOMAIN = "com.microsoft"  # fused attention; part of every onnxruntime build
INT8_MAX = 127
# Outliers at the inputs of these two cost most of int8's accuracy (least cosine over the fixed texts .9944 with int8 throughout, .9977 so, .9984 with all
# twelve exact at three quarters of the speed), so they keep the file's own 4-bit weights.
EXACT_TENSORS = frozenset({"l4.fo", "l5.fo"})
INT8_BY_BLOCK = 4  # accuracy_level of MatMulNBits: activations rounded to int8 by block of 32, where an outlier spoils its block only


class _Graph:
    """Collects nodes and constants under running names, so that the same weights give the same bytes."""

    def __init__(self, weights: WeightFile) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add_constant(self, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def add_nodes(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        from onnx import helper

        name = f"n{len(self.nodes)}"
        names = [name, *(f"{name}_{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name=name, **attributes))
        return names

    def add_node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.add_nodes(operator, *inputs, **attributes)[0]

    def add_linear(self, names: list[str], vector: str, shape: tuple[int, int]) -> str:
        """`vector @ W.T + b`, the tensors `names` of shape (outputs, inputs) stacked; weights int8 by output, activations uint8 by run."""
        outputs, inputs = shape
        matrix = np.concatenate([unpack_blocks(self.weights.read_blocks(f"{name}.w", outputs, inputs)) for name in names])
        shift = np.concatenate([self.weights.read_floats(f"{name}.b", outputs) for name in names])
        quantised, scales = quantise_rows(matrix)
        rounded, step, zero = self.add_nodes("DynamicQuantizeLinear", vector, outputs=3)
        product = self.add_node("Cast", self.add_node("MatMulInteger", rounded, self.add_constant(quantised.T), zero), to=1)
        scaled = self.add_node("Mul", product, self.add_node("Mul", step, self.add_constant(scales)))
        return self.add_node("Add", scaled, self.add_constant(shift))

    def add_exact_linear(self, name: str, vector: str, shape: tuple[int, int]) -> str:
        """As `add_linear` for one tensor, with the weights as the file has them."""
        outputs, inputs = shape
        packed, scales = repack_blocks(self.weights.read_blocks(f"{name}.w", outputs, inputs))
        constants = (self.add_constant(packed), self.add_constant(scales.reshape(-1)))
        attributes = {"K": inputs, "N": outputs, "bits": 4, "block_size": BLOCK_WEIGHTS, "accuracy_level": INT8_BY_BLOCK}
        product = self.add_node("MatMulNBits", vector, *constants, domain=MICROSOFT_DOMAIN, **attributes)
        return self.add_node("Add", product, self.add_constant(self.weights.read_floats(f"{name}.b", outputs)))

    def add_layer_norm(self, name: str, vector: str) -> str:
        hidden = self.weights.sizes.hidden
        scale, shift = (self.add_constant(self.weights.read_floats(f"{name}.{part}", hidden)) for part in ("w", "b"))
        return self.add_node("LayerNormalization", vector, scale, shift, axis=-1, epsilon=self.weights.sizes.epsilon)


def quantise_rows(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Symmetric int8 by row: `matrix` is close to `quantised * scales[:, None]`."""
    scales = np.maximum(np.abs(matrix).max(axis=1) / INT8_MAX, np.finfo(np.float32).tiny).astype(np.float32)
    return np.clip(np.rint(matrix / scales[:, None]), -INT8_MAX, INT8_MAX).astype(np.int8), scales


def repack_blocks(blocks: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """From the file's order of 4-bit weights to that of MatMulNBits, without changing a value; both mean (weight - 8) * scale.

    In the file, byte j of a block holds weights j (low half) and j + 16 (high half); MatMulNBits wants 2j and 2j + 1.

    Args: blocks: (rows, blocks, 18). Returns: (rows, blocks, 16) weights and (rows, blocks) scales.
    """
    scales = blocks[..., :2].copy().view(np.float16)[..., 0].astype(np.float32)
    packed = blocks[..., 2:]
    ordered = np.concatenate([packed & 15, packed >> 4], axis=-1)
    return ordered[..., 0::2] | (ordered[..., 1::2] << 4), scales


def build_model(weights: WeightFile) -> bytes:
    """The encoder as serialised ONNX: input `words` (1, tokens, hidden) float32, output `mean` (1, hidden) float32, not normalised."""
    from onnx import TensorProto, helper

    hidden = weights.sizes.hidden
    graph = _Graph(weights)
    vector = _add_positions(graph)
    for layer in range(weights.sizes.layers):
        vector = _add_layer(graph, f"l{layer}", vector)
    graph.nodes.append(helper.make_node("ReduceMean", [vector, graph.add_constant(np.array([1]))], ["mean"], name="mean", keepdims=0))
    inputs = [helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", hidden])]
    outputs = [helper.make_tensor_value_info("mean", TensorProto.FLOAT, [1, hidden])]
    proto = helper.make_graph(graph.nodes, "e5", inputs, outputs, graph.constants)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT_DOMAIN, 1)]
    model = helper.make_model(proto, opset_imports=imports, ir_version=IR_VERSION, producer_name="rag4c")
    return bytes(model.SerializeToString(deterministic=True))


def _add_positions(graph: _Graph) -> str:
    sizes = graph.weights.sizes
    positions = graph.weights.read_floats("emb.pos", sizes.positions, sizes.hidden)
    first_type = graph.weights.read_floats("emb.type", sizes.token_types, sizes.hidden)[0]
    zero = graph.add_constant(np.array([0]))
    tokens = graph.add_node("Shape", "words", start=1, end=2)
    used = graph.add_node("Slice", graph.add_constant(positions + first_type), zero, tokens, zero)
    return graph.add_layer_norm("emb.ln", graph.add_node("Add", "words", used))


def _add_layer(graph: _Graph, name: str, vector: str) -> str:
    sizes = graph.weights.sizes
    square = (sizes.hidden, sizes.hidden)
    projected = graph.add_linear([f"{name}.q", f"{name}.k", f"{name}.v"], vector, square)
    parts = graph.add_nodes("Split", projected, outputs=3, axis=-1, num_outputs=3)
    mixed = graph.add_node("MultiHeadAttention", *parts, domain=MICROSOFT_DOMAIN, num_heads=sizes.heads)
    vector = graph.add_layer_norm(f"{name}.aln", graph.add_node("Add", graph.add_linear([f"{name}.ao"], mixed, square), vector))
    inner = graph.add_node("Gelu", graph.add_linear([f"{name}.fi"], vector, (sizes.feed_forward, sizes.hidden)))
    wide = (sizes.hidden, sizes.feed_forward)
    last = f"{name}.fo"
    outer = graph.add_exact_linear(last, inner, wide) if last in EXACT_TENSORS else graph.add_linear([last], inner, wide)
    return graph.add_layer_norm(f"{name}.oln", graph.add_node("Add", outer, vector))
