"""Mixed precision; attention scores, their normalization and sums stay in float32."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, TypeVar, cast

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])

Precision = Literal["auto", "float32", "bfloat16"]


def lower_type(precision: Precision, device: torch.device) -> torch.dtype | None:
    """Return the dtype for `torch.autocast`; None: stay in float32.

    `auto` is bfloat16 if the device multiplies it natively, because emulation is slower than float32.
    """
    lower = precision == "bfloat16" or (precision == "auto" and _multiplies_bfloat16(device))
    return torch.bfloat16 if lower else None


def _multiplies_bfloat16(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    # Older versions of torch lack this function.
    able: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return device.type == "cpu" and any(able.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def full_precision(operation: F) -> F:
    """Decorate a method of tensors, or tuples of them: half-precision inputs become float32, autocast is off."""

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
