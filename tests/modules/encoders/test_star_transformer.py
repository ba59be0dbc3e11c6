"""The Adaptive Star Transformer against an independent, slow, obvious implementation."""

import math

import pytest
import torch
from entmax import entmax_bisect

from linker.modules.encoders.star_transformer import Cycle, StarTransformerEncoder
from linker.modules.kernels.dispatch import use_kernels


def obvious(encoder: StarTransformerEncoder, text: torch.Tensor) -> torch.Tensor:
    """One text, token by token and head by head, straight from the formulas; weights by bisection."""

    def multi_head(heads, query, keys):
        answer = []
        q, k, v = heads.query(query), heads.key(keys), heads.value(keys)
        for h in range(heads.num_heads):
            part = slice(h * heads.head_dim, (h + 1) * heads.head_dim)
            if heads.score == "cosine":
                scores = torch.stack([torch.cosine_similarity(q[part], row[part], dim=0) for row in k])
            else:
                scores = k[:, part] @ q[part] / math.sqrt(heads.head_dim)
            alpha = heads.alphas()
            alpha = alpha[h]
            if alpha == 1:
                weights = torch.softmax(scores, 0)
            else:
                weights = entmax_bisect(scores, alpha, dim=0, n_iter=100)
            answer.append(weights @ v[:, part])
        return heads.output(torch.cat(answer))

    e = text
    n = len(e)
    h, s = e, e.mean(0)
    for cycle in encoder.cycles:
        assert isinstance(cycle, Cycle)
        new = []
        for i in range(n):
            neighbors = [h[j] for j in range(i - cycle.window, i + cycle.window + 1) if 0 <= j < n]
            context = torch.stack([*neighbors, e[i], s])
            new.append(torch.nn.functional.leaky_relu(cycle.norm(multi_head(cycle.ring, h[i], context))))
        h = torch.stack(new)
        s = multi_head(cycle.star, s, torch.cat([s[None], h]))
    return (h.amax(0) + s) / 2


SETTINGS = [
    {"score": "dot"},
    {"score": "cosine"},
    {"score": "dot", "cycles": 2},
    {"score": "cosine", "cycles": 3, "window": 2},
    {"score": "dot", "alpha": 1.0},
    {"score": "cosine", "alpha": 2.0, "window": 3},
]


def attentions(encoder):
    return [heads for cycle in encoder.cycles for heads in (cycle.ring, cycle.star)]


def build(dtype, **settings):
    torch.manual_seed(0)
    encoder = StarTransformerEncoder(num_heads=3, head_dim=4, dropout=0.0, **settings, input_dim=10).to(dtype)
    for heads in attentions(encoder):
        if heads.alphas.theta is not None:
            torch.nn.init.normal_(heads.alphas.theta)
    return encoder


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-9)])
def test_values_and_gradients_equal_the_obvious_implementation(settings, dtype, tolerance):
    encoder = build(dtype, **settings)
    generator = torch.Generator().manual_seed(7)
    for lengths in ([1], [2, 1, 5], [9, 3, 1]):
        tokens = torch.randn(sum(lengths), 10, generator=generator, dtype=dtype)
        probe = torch.randn(len(lengths), 10, generator=generator, dtype=dtype)
        answers, gradients = [], []
        for implementation in ("ours", "obvious"):
            x = tokens.clone().requires_grad_()
            encoder.zero_grad()
            if implementation == "ours":
                vectors = encoder(x, torch.tensor(lengths))
            else:
                vectors = torch.stack([obvious(encoder, text) for text in x.split(lengths)])
            (vectors * probe).sum().backward()
            answers.append(vectors.detach())
            gradients.append([x.grad, *(p.grad.clone() for p in encoder.parameters() if p.grad is not None)])
        torch.testing.assert_close(answers[0], answers[1], atol=tolerance, rtol=tolerance)
        for ours, theirs in zip(*gradients):
            torch.testing.assert_close(ours, theirs, atol=10 * tolerance, rtol=10 * tolerance)


def test_every_alpha_moves_in_training_and_stays_legal():
    encoder = build(torch.float32, cycles=2)
    before = [heads.alphas().detach().clone() for heads in attentions(encoder)]
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.05)
    tokens, lengths = torch.randn(60, 10), torch.tensor([10, 20, 30])
    for _ in range(40):
        optimizer.zero_grad()
        encoder(tokens, lengths).square().mean().backward()
        optimizer.step()
    for heads, start in zip(attentions(encoder), before):
        assert (heads.alphas() != start).all()
        assert ((heads.alphas() > 1) & (heads.alphas() <= 2)).all()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kernels", ["auto", "plain"])
def test_autocast_halves_the_products_but_not_the_attention(settings, kernels):
    encoder = build(torch.float32, **settings)
    tokens, lengths = torch.randn(40, 10), torch.tensor([25, 14, 1])
    with use_kernels(kernels):
        expected = encoder(tokens, lengths)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = encoder(tokens, lengths)
        found.float().square().sum().backward()
    torch.testing.assert_close(found.float(), expected, atol=0.1, rtol=0.1)
    assert all(p.grad.dtype == torch.float32 and torch.isfinite(p.grad).all() for p in encoder.parameters())
