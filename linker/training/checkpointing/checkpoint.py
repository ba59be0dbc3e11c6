"""A checkpoint: a single safetensors file with a checksum, complete or absent."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from linker.common.errors import LinkerError
from linker.common.files import atomic_write, json_text

_TENSOR = "\0tensor"  # no key of a config


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state of tensors and JSON values, nested in dicts; a SHA-256 of all of it is in the file's header.

    Raises:
        LinkerError: if it cannot be written; nothing is left half-written.
    """
    tensors: dict[str, Tensor] = {}
    values = json_text(_without_tensors(state, "", tensors))
    header = {"state": values, "sha256": _digest(values, tensors)}
    with atomic_write(path, "wb") as file:
        file.write(save(tensors, metadata=header))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote; tuples come back as lists, and numbers as keys as text.

    Raises:
        LinkerError: if it is damaged or incomplete.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        values, checksum = header["state"], header["sha256"]
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise LinkerError(f"{path}: not a complete checkpoint ({error})") from error
    if checksum != _digest(values, tensors):
        raise LinkerError(f"{path}: damaged, its contents do not match its checksum")
    return _with_tensors(json.loads(values), tensors)


def _without_tensors(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """Return a state with names in place of its tensors, which are added to `tensors`."""
    if isinstance(value, Tensor):
        tensors[name] = value.detach().cpu().contiguous()
        return {_TENSOR: name}
    if isinstance(value, Mapping):
        return {key: _without_tensors(item, f"{name}/{key}", tensors) for key, item in value.items()}
    return value


def _with_tensors(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    if _TENSOR in value:
        return tensors[value[_TENSOR]]
    return {key: _with_tensors(item, tensors) for key, item in value.items()}


def _digest(values: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(values.encode("utf-8", "surrogatepass"))
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
