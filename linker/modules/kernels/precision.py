"""Attention scores, their normalisation and sums are never computed in half precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def full_precision(operation: F) -> F:
    """Give a method float32 for its float16 and bfloat16 tensors, and switch autocast off within it."""

    @wraps(operation)
    def run(self: object, *arguments: Any, **named: Any) -> Any:
        device = next(x for x in (*arguments, *named.values()) if isinstance(x, Tensor)).device.type
        with torch.autocast(device, enabled=False):
            return operation(self, *map(_wide, arguments), **{key: _wide(x) for key, x in named.items()})

    return cast(F, run)


def _wide(x: Any) -> Any:
    return x.float() if isinstance(x, Tensor) and x.dtype in (torch.float16, torch.bfloat16) else x
