"""The ONNX graph of a BERT network with int8 matrix products.

Weights are quantized by rows, activations with one fixed range per layer. Large activations are confined to few
dimensions, so each dimension is first divided by a factor that its weights are multiplied by (SmoothQuant, Xiao et al.
2023, section 4). Weights have 7 bits: sums of two products then fit 16 bits, and processors without VNNI instructions
compute the same as others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linker.models.onnx.builder import MICROSOFT, GraphBuilder, Tensor

#: Share of an activation's range that is moved to the weights; the rest stays.
_SMOOTHING = 0.7
_LARGEST_WEIGHT = 63
_EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")


class Ranges(NamedTuple):
    """Ranges of the inputs of a network's linear layers.

    Attributes:
        low: name of the layer → least values by dimension: float32, (input dim,).
        high: name of the layer → largest values by dimension.
    """

    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]


class BertGraph:
    """Builds the graph: token ids to pooled embeddings.

    Inputs are `input_ids` (int64, texts × longest), `attention_mask` (float32, the same shape) and `lengths` (int32,
    texts); the output is `embeddings` (float32, texts × dim), not normalized.

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
        self._builder = GraphBuilder(embeddings)
        self._quantized: dict[str, tuple[str, str, str, np.ndarray]] = {}
        self._build(pooling)

    def write(self, path: Path) -> None:
        """Write the graph; the file of embeddings must be in the same folder."""
        inputs = [
            Tensor("input_ids", "int64", ["texts", "longest"]),
            Tensor("attention_mask", "float32", ["texts", "longest"]),
            Tensor("lengths", "int32", ["texts"]),
        ]
        outputs = [Tensor("embeddings", "float32", ["texts", self._config["hidden_size"]])]
        self._builder.write(path, "bert", inputs, outputs)

    def _build(self, pooling: str) -> None:

        words = self._embedded("input_ids", "word_embeddings")
        shape = self._node("Shape", ["input_ids"], "shape")
        longest = self._node("Gather", [shape, self._constant("one", np.int64(1))], "longest")
        numbers = self._node(
            "Range",
            [self._constant("zero", np.int64(0)), longest, self._constant("step", np.int64(1))],
            "numbers",
        )
        positions = self._embedded(numbers, "position_embeddings")  # (longest, dim)
        kinds = self._embedded(self._constant("kind", np.zeros(1, dtype=np.int64)), "token_type_embeddings")
        summed = self._node("Add", [words, self._node("Add", [positions, kinds], "places")], "summed")
        x = self._normalized(summed, "embeddings.LayerNorm", "embedded")
        for layer in range(self._config["num_hidden_layers"]):
            x = self._layer(x, f"encoder.layer.{layer}")
        if pooling == "cls":
            first = self._constant("first", np.int64(0))
            self._node("Gather", [x, first], "embeddings", axis=1)
            return
        last, places = (
            self._constant(name, np.array([axis])) for name, axis in (("last", 2), ("places_axis", 1))
        )
        mask = self._node("Unsqueeze", ["attention_mask", last], "mask")
        total = self._node("ReduceSum", [self._node("Mul", [x, mask], "real"), places], "total", keepdims=0)
        count = self._node("ReduceSum", [mask, places], "count", keepdims=0)
        self._node("Div", [total, count], "embeddings")

    def _layer(self, x: str, name: str) -> str:
        """One layer: attention and feed-forward network, each with a residual connection."""
        attention = f"{name}.attention"
        inputs = [f"{attention}.self.{kind}" for kind in ("query", "key", "value")]
        query, key, value = (self._linear(x, each, inputs) for each in inputs)
        attended = self._node(
            "MultiHeadAttention",
            [query, key, value, "", "lengths"],
            f"{attention}.heads",
            MICROSOFT,
            num_heads=self._config["num_attention_heads"],
        )
        x = self._added(
            x, self._linear(attended, f"{attention}.output.dense"), f"{attention}.output.LayerNorm"
        )
        wide = self._node("Gelu", [self._linear(x, f"{name}.intermediate.dense")], f"{name}.gelu", MICROSOFT)
        return self._added(x, self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _added(self, x: str, y: str, norm: str) -> str:
        # Twice as fast as SkipLayerNormalization in onnxruntime 1.32.
        summed = self._node("Add", [x, y], f"{norm}.sum")
        return self._normalized(summed, norm, f"{norm}.out")

    def _normalized(self, x: str, norm: str, output: str) -> str:
        epsilon = self._config["layer_norm_eps"]
        return self._node("LayerNormalization", [x, *self._norm(norm)], output, epsilon=epsilon)

    def _norm(self, name: str) -> list[str]:
        return [self._constant(f"{name}.{key}", self._weights[f"{name}.{key}"]) for key in ("weight", "bias")]

    def _linear(self, x: str, name: str, siblings: list[str] | None = None) -> str:
        """A linear layer; `siblings` are all layers with the same input."""
        quantized, scale, zero, factors = self._quantize(x, siblings or [name])
        weights = self._weights[f"{name}.weight"] * factors  # (outputs, inputs)
        scales = np.maximum(np.abs(weights).max(axis=1), 1e-12) / _LARGEST_WEIGHT
        integers = np.round(weights / scales[:, None]).astype(np.int8)
        return self._node(
            "MatMulIntegerToFloat",
            [
                quantized,
                self._constant(f"{name}.integers", np.ascontiguousarray(integers.T)),
                scale,
                self._constant(f"{name}.scales", scales.astype(np.float32)),
                zero,
                "",
                self._constant(f"{name}.bias", self._weights[f"{name}.bias"]),
            ],
            f"{name}.out",
            MICROSOFT,
        )

    def _quantize(self, x: str, layers: list[str]) -> tuple[str, str, str, np.ndarray]:
        """Return the names of the integers, of their scale and zero point, and the factors of the weights."""
        if x not in self._quantized:
            low, high = self._ranges.low[layers[0]], self._ranges.high[layers[0]]
            largest = np.maximum(np.maximum(-low, high), 1e-5)
            of_weights = np.max(
                [np.abs(self._weights[f"{name}.weight"]).max(axis=0) for name in layers], axis=0
            )
            factors = largest**_SMOOTHING / np.maximum(of_weights, 1e-5) ** (1 - _SMOOTHING)
            factors /= np.exp(np.log(factors).mean())
            divided = self._node(
                "Mul", [x, self._constant(f"{x}.factors", (1 / factors).astype(np.float32))], f"{x}.divided"
            )
            least, most = min(float((low / factors).min()), 0.0), float((high / factors).max())
            step = np.float32((most - least) / 255)
            zero = np.uint8(np.clip(round(-least / float(step)), 0, 255))
            scale, point = self._constant(f"{x}.scale", step), self._constant(f"{x}.zero", zero)
            integers = self._node("QuantizeLinear", [divided, scale, point], f"{x}.integers")
            self._quantized[x] = integers, scale, point, factors
        return self._quantized[x]

    def _embedded(self, ids: str, name: str) -> str:
        """Rows of an embedding matrix in int8, times their scales."""
        from onnx import TensorProto

        matrix, scales = (
            self._builder.weight(f"embeddings.{name}.weight{suffix}") for suffix in ("", ".scale")
        )
        rows = self._node("Gather", [matrix, ids], f"{name}.rows")
        floats = self._node("Cast", [rows], f"{name}.floats", to=TensorProto.FLOAT)
        return self._node("Mul", [floats, self._node("Gather", [scales, ids], f"{name}.scales")], name)

    def _constant(self, name: str, value: Any) -> str:
        return self._builder.constant(value, name)

    def _node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any
    ) -> str:
        return self._builder.node(operator, inputs, output, domain, **attributes)
