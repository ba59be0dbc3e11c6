"""int8 weight quantization: a quarter of the file size, for the bundled networks.

Each row of a matrix is divided by 1/127 of its largest absolute value and rounded (absmax quantization by rows,
Dettmers et al. 2022, section 2.1). Only the file is smaller: networks compute with the dequantized floats.
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from linker.common.files import atomic_write

# Not the name that other packages look for: they would use the integers as weights.
FILE = "model.int8.safetensors"
_SCALE = ".scale"


def save_int8(state: Mapping[str, Tensor], file: Path) -> None:
    """Write weights: matrices as int8 with one float32 scale per row, everything else as float32.

    Args:
        state: name → weights, of any float type and shape.
        file: the safetensors file to write.
    """
    tensors: dict[str, Tensor] = {}
    for name, weight in state.items():
        weight = weight.detach().float().cpu()
        if weight.dim() == 2:
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
    tensors = load_file(file)
    return {
        name: weight if weight.dtype.is_floating_point else weight * tensors[name + _SCALE]
        for name, weight in tensors.items()
        if not name.endswith(_SCALE)
    }
