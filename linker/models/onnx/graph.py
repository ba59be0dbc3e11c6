"""The ONNX graph of a BERT network with int8 matrix products.

Weights are quantized by rows, activations with one fixed range per layer. Large activations are confined to few
dimensions, so each dimension is first divided by a factor that its weights are multiplied by (SmoothQuant, Xiao et al.
2023, section 4). Weights have 7 bits: sums of two products then fit 16 bits, and processors without VNNI instructions
compute the same as others.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linker.common.files import atomic_write

MICROSOFT = "com.microsoft"

#: Share of an activation's range that is moved to the weights; the rest stays.
_SMOOTHING = 0.7
LARGEST_WEIGHT = 63
LARGEST_ACTIVATION = 255
#: Of a logit of attention, up or down: sums of its exponential stay finite.
_LARGEST_LOGIT = 64


class Ranges(NamedTuple):
    """Ranges of the inputs of a network's linear layers.

    Attributes:
        low: name of the layer → least values by dimension: float32, (input dim,).
        high: name of the layer → largest values by dimension.
    """

    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]


def smoothing_factors(low: np.ndarray, high: np.ndarray, weights: Sequence[np.ndarray]) -> np.ndarray:
    """Return what each input is divided by, and its weights are multiplied by: float32, (inputs,).

    Source: SmoothQuant, Xiao et al. 2023, equation 4; divided by their geometric mean.

    Args:
        low: least values of the inputs: (inputs,).
        high: largest values: (inputs,).
        weights: of all layers with these inputs: each (outputs, inputs).
    """
    largest = np.maximum(np.maximum(-low, high), 1e-5)
    of_weights = np.max([np.abs(each).max(axis=0) for each in weights], axis=0)
    factors = largest**_SMOOTHING / np.maximum(of_weights, 1e-5) ** (1 - _SMOOTHING)
    return np.asarray(factors / np.exp(np.log(factors).mean()))


def activation_grid(low: np.ndarray, high: np.ndarray, factors: np.ndarray) -> tuple[np.float32, np.uint8]:
    """Return the step and the zero point of the integers, 0 to 255, of inputs that are divided by `factors`."""
    least, most = min(float((low / factors).min()), 0.0), float((high / factors).max())
    step = np.float32((most - least) / LARGEST_ACTIVATION)
    return step, np.uint8(np.clip(round(-least / float(step)), 0, LARGEST_ACTIVATION))


class BertGraph:
    """Builds the graph: token ids to pooled embeddings.

    The input is `input_ids` (int64, texts × tokens), of texts that all have the same number of tokens; the output is
    `embeddings` (float32, texts × dim), not normalized. Without padding an embedding depends on its text only, and
    attention needs no mask. Inside, tokens come before texts: heads are then multiplied where they are (decision 168).

    Args:
        config: of the network, as in its `config.json`.
        weights: name → float32 weights of the network.
        ranges: of the inputs of its linear layers.
        pooling: `mean` or `cls`.
        embeddings: safetensors file with the embedding matrices in int8 with scales by rows; the graph refers to it.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        weights: Mapping[str, np.ndarray],
        ranges: Ranges,
        pooling: str,
        embeddings: Path,
    ) -> None:
        self._config, self._weights, self._ranges = config, weights, ranges
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._quantized: dict[str, tuple[str, str, str]] = {}
        with open(embeddings, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            self._header: dict[str, Any] = json.loads(file.read(size))
        self._embeddings, self._start = embeddings.name, 8 + size
        self._build(pooling)

    def write(self, path: Path) -> None:
        """Write the graph; the file of embeddings must be in the same folder."""
        from onnx import TensorProto, helper

        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
        shape = ["texts", self._config["hidden_size"]]
        embeddings = helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "bert", [ids], [embeddings], list(self._constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="linker", ir_version=9)
        with atomic_write(path, "wb") as file:
            file.write(model.SerializeToString())

    def _build(self, pooling: str) -> None:
        ids = self._node("Transpose", ["input_ids"], "ids", perm=[1, 0])  # (tokens, texts)
        words = self._embedded(ids, "word_embeddings")  # (tokens, texts, dim)
        first, step = (self._constant(name, np.int64(value)) for name, value in (("zero", 0), ("one", 1)))
        count = self._node("Gather", [self._node("Shape", [ids], "shape"), first], "count")
        numbers = self._node("Range", [first, count, step], "numbers")
        positions = self._embedded(numbers, "position_embeddings")  # (tokens, dim)
        kinds = self._embedded(self._constant("kind", np.zeros(1, dtype=np.int64)), "token_type_embeddings")
        second = self._constant("second_axis", np.array([1]))
        places = self._node(
            "Unsqueeze", [self._node("Add", [positions, kinds], "of_places"), second], "places"
        )
        summed = self._node("Add", [words, places], "summed")
        x = self._normalized(summed, "embeddings.LayerNorm", "embedded")
        for layer in range(self._config["num_hidden_layers"]):
            x = self._layer(x, f"encoder.layer.{layer}")
        if pooling == "cls":
            self._node("Gather", [x, first], "embeddings", axis=0)
        else:
            self._node("ReduceMean", [x], "embeddings", axes=[0], keepdims=0)

    def _layer(self, x: str, name: str) -> str:
        """One layer: attention and feed-forward network, each with a residual connection."""
        attention = f"{name}.attention"
        inputs = [f"{attention}.self.{kind}" for kind in ("query", "key", "value")]
        output = f"{attention}.output.dense"
        query, key = (self._linear(x, each, inputs) for each in inputs[:2])
        # Attention is linear in the values, so they are divided for the layer behind it where they are computed.
        value = self._linear(x, inputs[2], inputs, divisors=self._factors([output]))
        attended = self._attended(query, key, value, f"{attention}.heads")
        x = self._added(x, self._linear(attended, output, is_divided=True), f"{attention}.output.LayerNorm")
        wide = self._node("Gelu", [self._linear(x, f"{name}.intermediate.dense")], f"{name}.gelu", MICROSOFT)
        return self._added(x, self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attended(self, query: str, key: str, value: str, name: str) -> str:
        """Multi-head attention of texts of equal length: (tokens, texts, dim).

        The softmax is divided by its sum last, since the bits of `Softmax` depend on the processor (decision 168).
        """
        dim = self._config["hidden_size"]
        width = dim // self._config["num_attention_heads"]
        by_head = self._constant("by_head", np.array([0, -1, width]))
        heads = [self._node("Reshape", [each, by_head], f"{each}.heads") for each in (query, key, value)]
        scores = self._node(  # (texts and heads, tokens, tokens)
            "FusedMatMul", heads[:2], f"{name}.scores", MICROSOFT,
            transBatchA=1, transBatchB=1, transB=1, alpha=width**-0.5,
        )  # fmt: skip
        bounds = [
            self._constant(key, np.float32(sign * _LARGEST_LOGIT))
            for key, sign in (("least", -1), ("most", 1))
        ]
        powers = self._node(
            "Exp", [self._node("Clip", [scores, *bounds], f"{name}.clipped")], f"{name}.powers"
        )
        products, sums = self._products(powers, heads[2], name)
        # (texts and heads, tokens, width)
        means = self._node(
            "Mul", [products, self._node("Reciprocal", [sums], f"{name}.inverse")], f"{name}.means"
        )
        back = self._node("Transpose", [means], f"{name}.back", perm=[1, 0, 2])
        return self._node("Reshape", [back, self._constant("by_text", np.array([0, -1, dim]))], name)

    def _products(self, powers: str, values: str, name: str) -> tuple[str, str]:
        """Return the products of the values with the powers of attention, and the sums of the powers.

        `ReduceSum` adds up a row in an order that depends on where it begins in memory, modulo four numbers. The powers
        of a text begin alike anywhere in a batch if the number of heads is a multiple of four. Otherwise the sums are
        products with ones, which takes longer.
        """
        last = self._constant("last_axis", np.array([2]))
        if self._config["num_attention_heads"] % 4 == 0:
            products = self._node(
                "FusedMatMul", [powers, values], f"{name}.products", MICROSOFT, transBatchB=1
            )
            return products, self._node("ReduceSum", [powers, last], f"{name}.sums", keepdims=1)
        width = self._config["hidden_size"] // self._config["num_attention_heads"]
        # A column of ones beside the values: (tokens, texts and heads, width + 1).
        ones = [
            self._constant("ones", np.array([0, 0, 0, 0, 0, 1])),
            self._constant("one_value", np.float32(1)),
        ]
        wider = self._node("Pad", [values, *ones], f"{name}.values")
        both = self._node("FusedMatMul", [powers, wider], f"{name}.mixed", MICROSOFT, transBatchB=1)
        begin, end, behind = (self._constant(f"column_{at}", np.array([at])) for at in (0, width, width + 1))
        products = self._node("Slice", [both, begin, end, last], f"{name}.products")
        return products, self._node("Slice", [both, end, behind, last], f"{name}.sums")

    def _added(self, x: str, y: str, norm: str) -> str:
        # Twice as fast as SkipLayerNormalization in onnxruntime 1.32.
        summed = self._node("Add", [x, y], f"{norm}.sum")
        return self._normalized(summed, norm, f"{norm}.out")

    def _normalized(self, x: str, norm: str, output: str) -> str:
        weights = [
            self._constant(f"{norm}.{key}", self._weights[f"{norm}.{key}"]) for key in ("weight", "bias")
        ]
        return self._node("LayerNormalization", [x, *weights], output, epsilon=self._config["layer_norm_eps"])

    def _linear(
        self,
        x: str,
        name: str,
        siblings: list[str] | None = None,
        divisors: np.ndarray | None = None,
        is_divided: bool = False,
    ) -> str:
        """A linear layer.

        Args:
            x: its input.
            name: of the layer.
            siblings: all layers with the same input.
            divisors: of the outputs: (outputs,).
            is_divided: whether the input is already divided by the factors of the weights.
        """
        layers = siblings or [name]
        factors = self._factors(layers)
        quantized, scale, zero = self._quantize(x, layers[0], factors, is_divided)
        weights = self._weights[f"{name}.weight"] * factors  # (outputs, inputs)
        scales = np.maximum(np.abs(weights).max(axis=1), 1e-12) / LARGEST_WEIGHT
        integers = np.round(weights / scales[:, None]).astype(np.int8)
        bias = self._weights[f"{name}.bias"]
        if divisors is not None:
            scales, bias = scales / divisors, bias / divisors
        return self._node(
            "MatMulIntegerToFloat",
            [
                quantized,
                self._constant(f"{name}.integers", np.ascontiguousarray(integers.T)),
                scale,
                self._constant(f"{name}.scales", scales.astype(np.float32)),
                zero,
                "",
                self._constant(f"{name}.bias", bias.astype(np.float32)),
            ],
            f"{name}.out",
            MICROSOFT,
        )

    def _factors(self, layers: Sequence[str]) -> np.ndarray:
        """Return what the weights of layers with one input are multiplied by: float, (inputs,)."""
        weights = [self._weights[f"{name}.weight"] for name in layers]
        return smoothing_factors(self._ranges.low[layers[0]], self._ranges.high[layers[0]], weights)

    def _quantize(self, x: str, layer: str, factors: np.ndarray, is_divided: bool) -> tuple[str, str, str]:
        """Return the names of the integers, of their scale and zero point."""
        if x not in self._quantized:
            divided = x
            if not is_divided:
                divisors = self._constant(f"{x}.factors", (1 / factors).astype(np.float32))
                divided = self._node("Mul", [x, divisors], f"{x}.divided")
            step, zero = activation_grid(self._ranges.low[layer], self._ranges.high[layer], factors)
            scale, point = self._constant(f"{x}.scale", step), self._constant(f"{x}.zero", zero)
            integers = self._node("QuantizeLinear", [divided, scale, point], f"{x}.integers")
            self._quantized[x] = integers, scale, point
        return self._quantized[x]

    def _embedded(self, ids: str, name: str) -> str:
        """Rows of an embedding matrix in int8, times their scales."""
        from onnx import TensorProto

        matrix, scales = (self._stored(f"embeddings.{name}.weight{suffix}") for suffix in ("", ".scale"))
        rows = self._node("Gather", [matrix, ids], f"{name}.rows")
        floats = self._node("Cast", [rows], f"{name}.floats", to=TensorProto.FLOAT)
        return self._node("Mul", [floats, self._node("Gather", [scales, ids], f"{name}.scales")], name)

    def _stored(self, name: str) -> str:
        """Refer to a tensor of the safetensors file, and return its name."""
        from onnx import TensorProto

        entry = self._header[name]
        begin, end = entry["data_offsets"]
        kind = {"F32": TensorProto.FLOAT, "I8": TensorProto.INT8}[entry["dtype"]]
        tensor = TensorProto(name=name, dims=entry["shape"], data_type=kind)
        tensor.data_location = TensorProto.EXTERNAL
        location = {"location": self._embeddings, "offset": self._start + begin, "length": end - begin}
        for key, value in location.items():
            tensor.external_data.add(key=key, value=str(value))
        self._constants[name] = tensor
        return name

    def _constant(self, name: str, value: Any) -> str:
        """Add a small constant, an array or a NumPy number, and return its name."""
        from onnx import numpy_helper

        self._constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def _node(
        self, operator: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any
    ) -> str:
        """Add a node, and return the name of its output."""
        from onnx import helper

        self._nodes.append(helper.make_node(operator, list(inputs), [output], domain=domain, **attributes))
        return output
