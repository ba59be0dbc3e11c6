"""What is computed in half precision; attention scores, their normalisation and sums never are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, TypeVar, cast

import torch
from torch import Tensor

from linker.common.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])

Precision = Literal["auto", "float32", "bfloat16", "float16"]


def lower_type(precision: Precision, device: torch.device) -> torch.dtype | None:
    """What `torch.autocast` computes in; None: float32 stays.

    `auto` is bfloat16 where the device itself multiplies it, since computing it by detours takes longer than float32.

    Raises:
        ConfigError: float16 on a CPU.
    """
    if precision == "float16" and device.type == "cpu":
        raise ConfigError("trainer.precision: float16 needs a GPU; on a CPU use auto, bfloat16 or float32")
    if precision == "float32" or (precision == "auto" and not _multiplies_bfloat16(device)):
        return None
    return torch.bfloat16 if precision == "auto" else getattr(torch, precision)


def _multiplies_bfloat16(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    # Older torch does not tell.
    able: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return device.type == "cpu" and any(able.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def full_precision(operation: F) -> F:
    """Give a method of tensors, or tuples of them, float32 for float16 and bfloat16; within it autocast is off."""

    @wraps(operation)
    def run(self: object, *arguments: Any, **named: Any) -> Any:
        first = next(iter((*arguments, *named.values())))
        device = (first if isinstance(first, Tensor) else first[0]).device.type
        with torch.autocast(device, enabled=False):
            return operation(self, *map(_wide, arguments), **{key: _wide(x) for key, x in named.items()})

    return cast(F, run)


def _wide(x: Any) -> Any:
    if isinstance(x, tuple):
        return type(x)(*map(_wide, x))
    return x.float() if isinstance(x, Tensor) and x.dtype in (torch.float16, torch.bfloat16) else x
