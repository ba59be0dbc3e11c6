"""Attention scores, their normalisation and sums are never computed in half precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])


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
