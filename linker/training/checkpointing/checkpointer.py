"""Checkpoints on disk: each a single safetensors file that is whole or not there, and says itself if it is damaged."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from linker.common.errors import LinkerError
from linker.common.files import atomic_write
from linker.common.locks import lock

FORMAT = 1
# The newest, and the one before it in case the newest turns out to be damaged.
KEPT = 2
LOCK_SECONDS = 10.0
_NAME = re.compile(r"step-(\d+)\.safetensors")


@dataclass
class Checkpoint:
    """What decides the rest of a run.

    Attributes:
        tensors: weights and whatever else is large, by name.
        facts: the rest, as JSON values.
    """

    tensors: dict[str, Tensor]
    facts: dict[str, Any]

    @property
    def step(self) -> int:
        """Steps done since the run began."""
        return self.facts["step"]

    def part(self, name: str) -> dict[str, Tensor]:
        """The tensors whose names begin with `name/`, without it."""
        return {key[len(name) + 1 :]: t for key, t in self.tensors.items() if key.startswith(f"{name}/")}


class Checkpoints:
    """The checkpoints of one run, in a folder of their own.

    A file is `step-N.safetensors`; its header holds the facts as JSON and a SHA-256 over facts and tensors. Files
    take their name only when they are complete and on the disk; the older ones go after that.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: IO[str] | None = None

    def steps(self) -> list[int]:
        """The steps that there are checkpoints of, newest first; nothing is said about whether they are whole."""
        if not self.folder.is_dir():
            return []
        found = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def path(self, step: int) -> Path:
        """Where the checkpoint of a step lies."""
        return self.folder / f"step-{step:09d}.safetensors"

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint; those before it but one are removed then.

        Raises:
            LinkerError: it cannot be written; all that were there still are.
        """
        facts = json.dumps({"format": FORMAT, **checkpoint.facts}, ensure_ascii=False)
        tensors = {name: t.detach().cpu().contiguous() for name, t in checkpoint.tensors.items()}
        header = {"facts": facts, "sha256": _digest(facts, tensors)}
        with atomic_write(self.path(checkpoint.step), "wb") as file:
            file.write(save(tensors, metadata=header))
        self._sync_folder()
        for old in self.steps()[KEPT:]:
            self.path(old).unlink(missing_ok=True)

    def read(self, step: int) -> Checkpoint:
        """Read one checkpoint.

        Raises:
            LinkerError: it is damaged, incomplete, or written by a newer version.
        """
        path = self.path(step)
        try:
            with safe_open(path, framework="pt") as file:
                header = file.metadata() or {}
                tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            facts = json.loads(header["facts"])
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise LinkerError(f"{path}: not a whole checkpoint ({error})") from error
        if header.get("sha256") != _digest(header["facts"], tensors):
            raise LinkerError(f"{path}: damaged, its contents do not match its checksum")
        if facts["format"] > FORMAT:
            raise LinkerError(f"{path}: written by a newer linker; upgrade this one")
        return Checkpoint(tensors, facts)

    def newest(self) -> tuple[Checkpoint | None, list[str]]:
        """The newest checkpoint that is whole, and why each newer one is not used."""
        problems: list[str] = []
        for step in self.steps():
            try:
                return self.read(step), problems
            except LinkerError as error:
                problems.append(str(error))
        return None, problems

    def set_aside_after(self, step: int) -> None:
        """Rename checkpoints newer than `step` to `.damaged`, so that the run that goes on from there counts anew."""
        for newer in self.steps():
            if newer > step:
                self.path(newer).rename(self.path(newer).with_suffix(".damaged"))

    def clear(self) -> None:
        """Remove all checkpoints, those half written and set aside too."""
        for step in self.steps():
            self.path(step).unlink(missing_ok=True)
        self.clean()
        for path in self._files("step-*.damaged"):
            path.unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove what a run left half written when it was killed."""
        for path in self._files(".step-*"):
            path.unlink(missing_ok=True)

    def lock(self) -> None:
        """Make sure that no other process on this machine trains into the same folder; held until this one ends.

        Raises:
            LinkerError: one does, or the folder cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / ".lock").open("w")
        except OSError as error:
            raise LinkerError(f"{self.folder}: cannot be written ({error.strerror})") from error
        # The processes of a run whose leader was killed take a moment to end.
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                if lock(self._lock, wait=False):
                    return
            except OSError:  # a file system without locks
                return
            if time.monotonic() > until:
                raise LinkerError(
                    f"{self.folder}: another process is training here; wait for it, or choose another --out"
                )
            time.sleep(0.2)

    def unlock(self) -> None:
        """Let others train here."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _files(self, pattern: str) -> Iterable[Path]:
        return list(self.folder.glob(pattern)) if self.folder.is_dir() else []

    def _sync_folder(self) -> None:
        """Make the new name outlast a loss of power, where the system can."""
        try:
            descriptor = os.open(self.folder, os.O_RDONLY)
        except OSError:
            return
        try:
            os.fsync(descriptor)
        except OSError:
            pass
        finally:
            os.close(descriptor)


def _digest(facts: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(facts.encode("utf-8", "surrogatepass"))
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
