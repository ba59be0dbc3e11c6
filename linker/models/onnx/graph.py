"""The ONNX graph of a BERT network with int8 matrix products.

Weights are quantized by rows, activations with one fixed range per layer. Large activations are confined to few
dimensions, so each dimension is first divided by a factor that its weights are multiplied by (SmoothQuant, Xiao et al.
2023, section 4). Weights have 7 bits: sums of two products then fit 16 bits, and processors without VNNI instructions
compute the same as others.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from linker.models.siamese.quantization import SCALE, QuantizedMatrix, save_int8

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


def bert_graph(
    config: Mapping[str, Any],
    weights: Mapping[str, np.ndarray],
    ranges: Ranges,
    pooling: Literal["mean", "cls"],
    stored: Path | None,
) -> bytes:
    """Return the graph: token ids, or their embeddings, to pooled embeddings. Write the weights if they are `stored`.

    The input is `input_ids` (int64, texts × tokens), or `words_vectors` (float32, tokens × texts × dim), of texts that
    all have the same number of tokens; the output is `embeddings` (float32, texts × dim), not normalized. Without
    padding an embedding depends on its text only, and attention needs no mask. Inside, tokens come before texts: heads
    are then multiplied where they are (decision 168).

    Args:
        config: of the network, as in its `config.json`.
        weights: name → float32 weights of the network.
        ranges: of the inputs of its linear layers.
        pooling: of the token embeddings.
        stored: safetensors file to write the weights to; the graph refers to their integers, and must be written beside
            it; None: the graph holds the integers, and `words_vectors` are the input.
    """
    from onnx import numpy_helper, parser

    dim, layers, epsilon = (config[key] for key in ("hidden_size", "num_hidden_layers", "layer_norm_eps"))
    width = dim // config["num_attention_heads"]
    nodes = (_TOKENS if stored else "") + _places(stored is not None)
    nodes += f"layer0_x = LayerNormalization <epsilon = {epsilon}> (summed, norm_weight, norm_bias)"
    constants = {
        "by_head": np.array([0, -1, width]),
        "by_text": np.array([0, -1, dim]),
        "least": np.float32(-_LARGEST_LOGIT),
        "most": np.float32(_LARGEST_LOGIT),
        "norm_weight": weights["embeddings.LayerNorm.weight"],
        "norm_bias": weights["embeddings.LayerNorm.bias"],
    }
    matrices: dict[str, QuantizedMatrix] = {}
    for number in range(layers):
        nodes += _layer_nodes(f"layer{number}", f"layer{number + 1}", width**-0.5, epsilon)
        of_layer, of_keys = _layer_constants(weights, ranges, f"encoder.layer.{number}")
        constants |= {f"layer{number}_{name}": value for name, value in of_layer.items()}
        matrices |= {f"layer{number}_{key}_integers": matrix for key, matrix in of_keys.items()}
    pool = "Gather <axis = 0> (#, zero)" if pooling == "cls" else "ReduceMean <axes = [0], keepdims = 0> (#)"
    model = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 17, "com.microsoft": 1], producer_name: "linker">'
        f"bert ({_INPUT if stored else f'float[tokens, texts, {dim}] words_vectors'}) => "
        f"(float[texts, {dim}] embeddings) {{"
        f"{nodes} embeddings = {pool.replace('#', f'layer{layers}_x')} }}"
    )
    if stored:
        save_int8(weights, stored, matrices.values())
        names = _EMBEDDINGS | {name: matrix.name for name, matrix in matrices.items()}
        model.graph.initializer.extend(_references(names, stored))
    else:
        constants |= {name: matrix.integers for name, matrix in matrices.items()}
        for name, kind in (("positions", "position"), ("kinds", "token_type")):
            constants[name] = weights[f"embeddings.{kind}_embeddings.weight"]
    tensors = (numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items())
    model.graph.initializer.extend(tensors)
    return model.SerializeToString()


def _embedded(name: str, numbers: str) -> str:
    """Return nodes for rows of an embedding matrix in int8, times their scales."""
    return f"""
    {name}_int8 = Gather ({name}, {numbers})
    {name}_float = Cast <to = 1> ({name}_int8)
    {name}_scale = Gather ({name}_scales, {numbers})
    {name}_vectors = Mul ({name}_float, {name}_scale)
    """


_INPUT = "int64[texts, tokens] input_ids"
_TOKENS = f"""
    ids = Transpose <perm = [1, 0]> (input_ids)
    {_embedded("words", "ids")}
"""


def _places(in_int8: bool) -> str:
    """Return nodes that add the embeddings of positions and token types, in int8 or float32, to token embeddings."""
    of_places = (("positions", "numbers"), ("kinds", "kind"))
    rows = [
        _embedded(*each) if in_int8 else "{0}_vectors = Gather ({0}, {1})".format(*each) for each in of_places
    ]
    return f"""
    zero = Constant <value_int = 0> ()
    one = Constant <value_int = 1> ()
    kind = Constant <value_ints = [0]> ()
    second_axis = Constant <value_ints = [1]> ()
    last_axis = Constant <value_ints = [2]> ()
    shape = Shape (words_vectors)
    count = Gather (shape, zero)
    numbers = Range (zero, count, one)
    {" ".join(rows)}
    of_places = Add (positions_vectors, kinds_vectors)
    places = Unsqueeze (of_places, second_axis)
    summed = Add (words_vectors, places)
    """


def _layer_nodes(n: str, following: str, alpha: float, epsilon: float) -> str:
    """Return one layer, attention and feed-forward network, each with a residual connection.

    The softmax is divided by its sum last, since the bits of `Softmax` depend on the processor, and `ReduceSum` adds up
    a row in an order that depends on where it begins in memory, modulo four numbers: the number of heads must be a
    multiple of four. `Add` and `LayerNormalization` are twice as fast as `SkipLayerNormalization` in onnxruntime 1.32.
    """

    def linear(name: str, x: str) -> str:
        integers = (
            f"{n}_{x}, {n}_{name}_integers, {n}_{x}_step, {n}_{name}_steps, {n}_{x}_zero, , {n}_{name}_bias"
        )
        return f"{n}_{name} = com.microsoft.MatMulIntegerToFloat ({integers})"

    def quantized(name: str, x: str) -> str:
        return f"{n}_{name} = QuantizeLinear ({n}_{x}, {n}_{name}_step, {n}_{name}_zero)"

    return f"""
    {n}_divided = Mul ({n}_x, {n}_input_inverse)
    {quantized("input", "divided")}
    {linear("query", "input")}
    {linear("key", "input")}
    {linear("value", "input")}
    {n}_queries = Reshape ({n}_query, by_head)
    {n}_keys = Reshape ({n}_key, by_head)
    {n}_values = Reshape ({n}_value, by_head)
    {n}_logits = com.microsoft.FusedMatMul <transBatchA = 1, transBatchB = 1, transB = 1, alpha = {alpha}> (
        {n}_queries, {n}_keys)
    {n}_clipped = Clip ({n}_logits, least, most)
    {n}_powers = Exp ({n}_clipped)
    {n}_products = com.microsoft.FusedMatMul <transBatchB = 1> ({n}_powers, {n}_values)
    {n}_sums = ReduceSum <keepdims = 1> ({n}_powers, last_axis)
    {n}_inverse = Reciprocal ({n}_sums)
    {n}_means = Mul ({n}_products, {n}_inverse)
    {n}_back = Transpose <perm = [1, 0, 2]> ({n}_means)
    {n}_heads = Reshape ({n}_back, by_text)
    {quantized("attended", "heads")}
    {linear("projection", "attended")}
    {n}_added = Add ({n}_x, {n}_projection)
    {n}_y = LayerNormalization <epsilon = {epsilon}> ({n}_added, {n}_y_weight, {n}_y_bias)
    {n}_y_divided = Mul ({n}_y, {n}_middle_inverse)
    {quantized("middle", "y_divided")}
    {linear("wide", "middle")}
    {n}_gelu = com.microsoft.Gelu ({n}_wide)
    {n}_gelu_divided = Mul ({n}_gelu, {n}_active_inverse)
    {quantized("active", "gelu_divided")}
    {linear("narrow", "active")}
    {n}_sum = Add ({n}_y, {n}_narrow)
    {following}_x = LayerNormalization <epsilon = {epsilon}> ({n}_sum, {n}_x_weight, {n}_x_bias)
    """


#: Input of linear layers in `_layer_nodes` → the layers, with their names in the network.
_LINEAR = {
    "input": {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value"},
    "attended": {"projection": "attention.output.dense"},
    "middle": {"wide": "intermediate.dense"},
    "active": {"narrow": "output.dense"},
}


#: Embedding matrices and their scales in the graph → their names in the file.
_EMBEDDINGS = {
    name + suffix: f"embeddings.{kind}_embeddings.weight{end}"
    for name, kind in (("words", "word"), ("positions", "position"), ("kinds", "token_type"))
    for suffix, end in (("", ""), ("_scales", SCALE))
}


def _layer_constants(
    weights: Mapping[str, np.ndarray], ranges: Ranges, layer: str
) -> tuple[dict[str, np.ndarray | np.generic], dict[str, QuantizedMatrix]]:
    """Return the constants of one layer, by their names in `_layer_nodes` after its prefix, and its matrices."""
    constants: dict[str, np.ndarray | np.generic] = {}
    factors: dict[str, np.ndarray] = {}
    matrices: dict[str, QuantizedMatrix] = {}
    for x, linear in _LINEAR.items():
        names = [f"{layer}.{name}" for name in linear.values()]
        low, high = ranges.low[names[0]], ranges.high[names[0]]
        factors[x] = smoothing_factors(low, high, [weights[f"{name}.weight"] for name in names])
        constants[f"{x}_step"], constants[f"{x}_zero"] = activation_grid(low, high, factors[x])
        constants[f"{x}_inverse"] = (1 / factors[x]).astype(np.float32)
    # Attention is linear in the values, so they are divided for the layer behind it where they are computed.
    del constants["attended_inverse"]
    divisors = {"value": factors["attended"]}
    for x, linear in _LINEAR.items():
        for key, name in linear.items():
            matrix = weights[f"{layer}.{name}.weight"] * factors[x]  # (outputs, inputs)
            scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / LARGEST_WEIGHT
            integers = np.ascontiguousarray(np.round(matrix / scales[:, None]).astype(np.int8).T)
            matrices[key] = QuantizedMatrix(f"{layer}.{name}.weight", integers, scales, factors[x])
            for kind, values in (("steps", scales), ("bias", weights[f"{layer}.{name}.bias"])):
                constants[f"{key}_{kind}"] = (values / divisors.get(key, 1)).astype(np.float32)
    for key, name in (("y", "attention.output.LayerNorm"), ("x", "output.LayerNorm")):
        for part in ("weight", "bias"):
            constants[f"{key}_{part}"] = weights[f"{layer}.{name}.{part}"]
    return constants, matrices


def _references(names: Mapping[str, str], file: Path) -> Iterator[Any]:
    """Yield tensors of a graph that are in a safetensors file, under other names."""
    from onnx import TensorProto

    with file.open("rb") as opened:
        (size,) = struct.unpack("<Q", opened.read(8))
        header = json.loads(opened.read(size))
    for name, in_file in names.items():
        entry = header[in_file]
        begin, end = entry["data_offsets"]
        type_ = {"F32": TensorProto.FLOAT, "I8": TensorProto.INT8}[entry["dtype"]]
        tensor = TensorProto(name=name, dims=entry["shape"], data_type=type_)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", file.name), ("offset", 8 + size + begin), ("length", end - begin)):
            tensor.external_data.add(key=key, value=str(value))
        yield tensor
