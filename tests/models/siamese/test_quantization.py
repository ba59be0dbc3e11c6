"""Weights in 8 bits: near to what they were, a quarter of the room, refused where they are damaged."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from linker.common.errors import ModelError
from linker.config import build
from linker.data.types import LinkedPosts, Post
from linker.models.model import Model
from linker.models.siamese.quantization import FILE, load_int8, save_int8
from tests.helpers.tiny_transformers import tiny

TEXTS = ["", "the cat", "harbour1 w3 unheardof 🔥 東京", "@you https://t.co/x 42 " * 20, "cat " * 200]


@given(st.integers(1, 5), st.integers(1, 40), st.floats(1e-6, 1e6), st.integers(0, 2**20))
def test_no_weight_is_off_by_more_than_half_a_step(
    tmp_path_factory: pytest.TempPathFactory, rows: int, columns: int, size: float, seed: int
) -> None:
    file = tmp_path_factory.mktemp("weights") / FILE
    matrix = size * torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    matrix[0] = 0
    save_int8({"matrix": matrix.numpy(), "bias": matrix[-1].numpy()}, file)
    read = load_int8(file)
    assert read.keys() == {"matrix", "bias"}
    steps = matrix.abs().amax(dim=1, keepdim=True) / 127
    assert ((read["matrix"] - matrix).abs() <= 0.501 * steps).all()
    assert torch.equal(read["bias"], matrix[-1])


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_network_in_eight_bits_gives_nearly_the_same_vectors(kind: str, tmp_path: Path) -> None:
    posts = [Post(str(i), text) for i, text in enumerate(TEXTS)]
    folder = tiny(kind, tmp_path / kind)
    whole, config = folder / "model.safetensors", {"type": "transformer", "path": str(folder)}
    exact = build(Model, config).post_vectors(posts)
    save_int8(load_file(whole), folder / FILE)
    assert (folder / FILE).stat().st_size < 0.5 * whole.stat().st_size
    whole.unlink()
    near = build(Model, config).post_vectors(posts)
    assert not np.array_equal(near, exact)
    assert (near * exact).sum(1).min() > 0.999


def test_damage_is_reported(tmp_path: Path) -> None:
    folder = tiny("bert", tmp_path / "network")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    model, gone = build(Model, {"type": "transformer", "path": str(folder)}), next(iter(weights))
    save_int8({name: weight for name, weight in weights.items() if name != gone}, folder / FILE)
    with pytest.raises(ModelError, match=f"incomplete .missing weights: {gone}"):
        model.prepare(LinkedPosts([], []))
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        model.prepare(LinkedPosts([], []))
