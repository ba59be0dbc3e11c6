"""int8 weight quantization: a quarter of the file size, for the bundled networks.

Each row of a matrix is divided by 1/127 of its largest absolute value and rounded (absmax quantization by rows,
Dettmers et al. 2022, section 2.1). Only the file is smaller: networks compute with the dequantized floats.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import save
from safetensors.torch import load_file
from torch import Tensor

from linker.common.files import atomic_write

# Not the name that other packages look for: they would use the integers as weights.
FILE = "model.int8.safetensors"
SCALE, _FACTOR = ".scale", ".factor"


class QuantizedMatrix(NamedTuple):
    """The matrix of a linear layer as an ONNX graph multiplies by it: each input is divided by its factor before.

    Attributes:
        name: of the weights.
        integers: int8, (inputs, outputs).
        scales: their multipliers: float32, (outputs,).
        factors: float32, (inputs,).
    """

    name: str
    integers: np.ndarray
    scales: np.ndarray
    factors: np.ndarray


def save_int8(weights: Mapping[str, np.ndarray], file: Path, linear: Iterable[QuantizedMatrix] = ()) -> None:
    """Write weights: matrices as int8 with float32 scales, everything else as float32.

    Args:
        weights: name → weights, float32, of any shape.
        file: the safetensors file to write.
        linear: matrices that are written as they are; others get one scale per row.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, integers, scales, factors in linear:
        arrays |= {name: integers, name + SCALE: scales, name + _FACTOR: factors}
    for name in [name for name in weights if name not in arrays]:
        arrays[name] = weight = weights[name]
        if weight.ndim == 2:
            scale = np.maximum(np.abs(weight).max(axis=1, keepdims=True), 1e-12) / 127  # (rows, 1)
            arrays[name + SCALE], arrays[name] = scale, (weight / scale).round().astype(np.int8)
    with atomic_write(file, "wb") as opened:
        opened.write(save(arrays))


def load_int8(file: Path) -> dict[str, Tensor]:
    """Read and dequantize what `save_int8` wrote: name → float32 weights.

    Raises:
        SafetensorError: if the file is damaged.
        KeyError: if a matrix has no scale.
    """
    tensors, weights = load_file(file), {}
    for name, weight in tensors.items():
        if not weight.dtype.is_floating_point:
            weight = weight * tensors[name + SCALE]
            weight = weight.T / tensors[name + _FACTOR] if name + _FACTOR in tensors else weight
        if not name.endswith((SCALE, _FACTOR)):
            weights[name] = weight
    return weights
