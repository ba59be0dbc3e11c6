"""Checkpoints on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from linker.training.checkpointing.checkpoint import Checkpoint


@pytest.mark.parametrize("name", ["posts 🦦.jsonl", "odd\udcff.jsonl"])
def test_names_of_files_come_back_whatever_their_bytes(tmp_path: Path, name: str) -> None:
    metadata = {"step": 3, "config": {"reader": {"posts": name}}}
    Checkpoint({"model/weight": torch.ones(2)}, metadata).write(tmp_path / "state.safetensors")
    found = Checkpoint.read(tmp_path / "state.safetensors")
    assert found.metadata["config"] == metadata["config"]
    assert found.part("model")["weight"].tolist() == [1, 1]
