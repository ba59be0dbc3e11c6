"""int8 weight quantization: a quarter of the file size, for the bundled networks.

Each row of a matrix is divided by 1/127 of its largest absolute value and rounded (absmax quantization by rows,
Dettmers et al. 2022, section 2.1). Only the file is smaller: networks compute with the dequantized floats.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save
from torch import Tensor

from linker.common.files import atomic_write

# Not the name that other packages look for: they would use the integers as weights.
FILE = "model.int8.safetensors"
_SCALE, _FACTOR = ".scale", ".factor"


class QuantizedMatrix(NamedTuple):
    """The matrix of a linear layer as an ONNX graph multiplies by it: each input is divided by its factor before.

    Attributes:
        integers: int8, (inputs, outputs).
        scales: their multipliers: float32, (outputs,).
        factors: float32, (inputs,).
    """

    integers: np.ndarray
    scales: np.ndarray
    factors: np.ndarray


def save_int8(state: Mapping[str, Tensor], file: Path, matrices: Mapping[str, QuantizedMatrix]) -> None:
    """Write weights: matrices as int8 with float32 scales, everything else as float32.

    Args:
        state: name → weights, of any float type and shape.
        file: the safetensors file to write.
        matrices: name → what is written of it; other matrices have one scale per row.
    """
    tensors: dict[str, Tensor] = {}
    for name, weight in state.items():
        weight = weight.detach().float().cpu()
        if name in matrices:
            integers, *floats = map(torch.from_numpy, matrices[name])
            tensors[name + _SCALE], tensors[name + _FACTOR] = (each.float().clone() for each in floats)
            weight = integers
        elif weight.dim() == 2:
            scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127  # (rows, 1)
            tensors[name + _SCALE] = scale
            weight = (weight / scale).round().to(torch.int8)
        tensors[name] = weight.contiguous()
    with atomic_write(file, "wb") as opened:
        opened.write(save(tensors))


def load_int8(file: Path) -> dict[str, Tensor]:
    """Read and dequantize what `save_int8` wrote: name → float32 weights.

    Raises:
        SafetensorError: if the file is damaged.
        KeyError: if a matrix has no scale.
    """
    tensors, weights = load_file(file), {}
    for name, weight in tensors.items():
        if not weight.dtype.is_floating_point:
            weight = weight * tensors[name + _SCALE]
            weight = weight.T / tensors[name + _FACTOR] if name + _FACTOR in tensors else weight
        if not name.endswith((_SCALE, _FACTOR)):
            weights[name] = weight
    return weights
