"""Weights of a network as 8-bit numbers: a quarter of the room, for networks that come along with a package.

Each row of a matrix is divided by a 127th of its largest number and rounded (Dettmers et al. 2022, LLM.int8(), section
2.1, row by row). Only the file is smaller: networks compute with the floats that are made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from linker.common.files import atomic_write

# Not the name that other packages look for: they would take the whole numbers for weights.
FILE = "model.int8.safetensors"
_SCALE = ".scale"
_MOST = 127


def save_int8(state: Mapping[str, Tensor], file: Path) -> None:
    """Write weights: matrices in 8 bits and a scale a row, all else as float32."""
    told: dict[str, Tensor] = {}
    for name, weight in state.items():
        weight = weight.detach().float().cpu()
        if weight.dim() == 2:
            scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / _MOST
            told[name + _SCALE] = scale
            weight = (weight / scale).round().to(torch.int8)
        told[name] = weight.contiguous()
    with atomic_write(file, "wb") as opened:
        opened.write(save(told))


def load_int8(file: Path) -> dict[str, Tensor]:
    """Weights that `save_int8` wrote, float32.

    Raises:
        SafetensorError: the file is damaged.
        KeyError: a matrix lacks its scale.
    """
    told = load_file(file)
    return {
        name: weight if weight.dtype.is_floating_point else weight * told[name + _SCALE]
        for name, weight in told.items()
        if not name.endswith(_SCALE)
    }
