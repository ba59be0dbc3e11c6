"""Checkpoints on disk."""

from pathlib import Path

import pytest
import torch

from linker.training.checkpointing.checkpoint import read_checkpoint, write_checkpoint


@pytest.mark.parametrize("name", ["posts 🦦.jsonl", "odd\udcff.jsonl"])
def test_names_of_files_come_back_whatever_their_bytes(tmp_path: Path, name: str) -> None:
    state = {"step": 3, "config": {"reader": {"posts": name}}, "model": {"weight": torch.ones(2)}}
    write_checkpoint(tmp_path / "state.safetensors", state)
    read = read_checkpoint(tmp_path / "state.safetensors")
    assert read["config"] == state["config"]
    assert read["model"]["weight"].tolist() == [1, 1]
