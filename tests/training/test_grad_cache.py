"""Large batches in small memory, by chunks."""

import math

import pytest
import torch

from linker.training.grad_cache import CachedBatch
from linker.training.rng_state import get_rng_state, seed_everything, set_rng_state
from tests.helpers.process_groups import (
    ENCODERS,
    Setting,
    build_training,
    same,
    train_alone,
    train_together,
    with_trainer,
)


@pytest.fixture(autouse=True)
def _default_dtype():
    yield
    torch.set_default_dtype(torch.float32)


def encoded_posts(encoder, dtype, dropout=0.0):
    """A model, and the texts of all toy articles and posts."""
    _, model, _, _, data = build_training(Setting(encoder, dtype, dropout=dropout))
    model.train()
    return model, [model.article_tokens(a) for a in data.articles] + [
        model.post_tokens(p) for p in data.posts
    ]


def gradients(model, texts, chunk_tokens):
    """Vectors and the weights' gradients, for a gradient of the vectors that is always the same."""
    model.zero_grad()
    batch = CachedBatch(model, texts, chunk_tokens)
    generator = torch.Generator().manual_seed(1)
    batch.backward(torch.randn(batch.vectors.shape, generator=generator, dtype=batch.vectors.dtype))
    return batch.vectors.detach(), {
        name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None
    }


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_chunks_give_the_gradients_of_the_whole(encoder, dtype, tolerance):
    model, texts = encoded_posts(encoder, dtype)
    whole_vectors, whole = gradients(model, texts, None)
    for chunk_tokens in (40, 300):
        vectors, chunked = gradients(model, texts, chunk_tokens)
        torch.testing.assert_close(vectors, whole_vectors, atol=tolerance, rtol=tolerance)
        assert chunked.keys() == whole.keys()
        for name, gradient in whole.items():
            torch.testing.assert_close(chunked[name], gradient, atol=tolerance, rtol=tolerance, msg=name)


def test_the_second_pass_drops_out_what_the_first_did():
    model, texts = encoded_posts("gru", torch.float64, dropout=0.5)
    passes = []

    def encode(part):
        vectors = model(part)
        passes.append(vectors.detach())
        return vectors

    seed_everything(1)
    batch = CachedBatch(encode, texts, 200)
    after = get_rng_state()
    chunks = len(passes)
    assert chunks > 3
    batch.backward(torch.ones_like(batch.vectors))
    assert len(passes) == 2 * chunks
    assert all(torch.equal(first, second) for first, second in zip(passes[:chunks], passes[chunks:]))
    assert get_rng_state() == after
    seed_everything(2)
    model(texts[:2])
    assert not torch.equal(model(texts[:2]), model(texts[:2])), "nothing was dropped out at all"


def test_no_more_than_a_chunk_is_kept_for_the_way_back():
    model, texts = encoded_posts("gru", torch.float64)
    kept = []

    def pack(tensor):
        kept.append(tensor.numel())
        return tensor

    def encode(part):
        assert sum(len(text.ids) for text in part) <= 200 or len(part) == 1
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            return model(part)

    CachedBatch(encode, texts, 200)
    assert not kept


def test_a_training_in_chunks_is_the_same_training(tmp_path):
    setting = Setting("cnn")
    (tmp_path / "chunks").mkdir()
    whole = train_alone(setting, tmp_path)
    chunks = train_alone(with_trainer(setting, chunk_tokens=150), tmp_path / "chunks")
    assert same(whole, chunks, 1e-9) >= 20


@pytest.mark.slow
def test_two_processes_with_chunks_compute_what_one_does(tmp_path):
    setting = with_trainer(Setting(), chunk_tokens=150)
    alone = train_alone(setting, tmp_path)
    for record in train_together(setting, tmp_path, 2):
        assert same(alone, record, 1e-9) >= 20


def test_random_states_come_back_whole():
    import random

    import numpy as np

    def draw():
        return random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), torch.rand(1).item()

    seed_everything(7)
    random.gauss(0, 1)
    np.random.randn()
    import json

    state = json.loads(json.dumps(get_rng_state()))
    first = [draw() for _ in range(3)]
    set_rng_state(state)
    assert [draw() for _ in range(3)] == first
    assert all(map(math.isfinite, first[0]))
