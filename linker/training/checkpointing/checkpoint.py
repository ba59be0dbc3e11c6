"""A checkpoint: a single safetensors file with a checksum, complete or absent."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from linker.common.errors import LinkerError
from linker.common.files import atomic_write, json_text

FORMAT = 1


@dataclass
class Checkpoint:
    """Everything that decides the rest of a run.

    Attributes:
        tensors: weights and other tensors, by name.
        metadata: the rest, as JSON values.
    """

    tensors: dict[str, Tensor]
    metadata: dict[str, Any]

    @property
    def step(self) -> int:
        """Number of steps done."""
        return self.metadata["step"]

    @property
    def position(self) -> str:
        """How far the run had come, for messages."""
        metadata = self.metadata
        return f"at epoch {len(metadata['epochs']) + 1}, batch {metadata['batch']} of {metadata['steps_in_epoch']}"

    def part(self, name: str) -> dict[str, Tensor]:
        """Return the tensors whose names begin with `name/`, under the rest of their names."""
        return {key[len(name) + 1 :]: t for key, t in self.tensors.items() if key.startswith(f"{name}/")}

    def write(self, path: Path) -> None:
        """Write the file: the metadata as JSON and a SHA-256 of metadata and tensors in its header.

        Raises:
            LinkerError: if it cannot be written; nothing is left half-written.
        """
        metadata = json_text({"format": FORMAT, **self.metadata})
        tensors = {name: t.detach().cpu().contiguous() for name, t in self.tensors.items()}
        header = {"metadata": metadata, "sha256": _digest(metadata, tensors)}
        with atomic_write(path, "wb") as file:
            file.write(save(tensors, metadata=header))

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """Read a file that `write` wrote.

        Raises:
            LinkerError: if it is damaged, incomplete, or written by a newer version.
        """
        try:
            with safe_open(path, framework="pt") as file:
                header = file.metadata() or {}
                tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            metadata = json.loads(header["metadata"])
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise LinkerError(f"{path}: not a complete checkpoint ({error})") from error
        if header.get("sha256") != _digest(header["metadata"], tensors):
            raise LinkerError(f"{path}: damaged, its contents do not match its checksum")
        if metadata["format"] > FORMAT:
            raise LinkerError(f"{path}: written by a newer version of linker; upgrade linker")
        return cls(tensors, metadata)


def _digest(metadata: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(metadata.encode("utf-8", "surrogatepass"))
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
