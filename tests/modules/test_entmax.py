"""α-entmax against float64 bisection, the entmax package, finite differences, and its edge cases."""

import pytest
import torch
from entmax import entmax15, entmax_bisect, sparsemax
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.modules.entmax import entmax


def bisection(scores: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    """Float64 bisection written in the shifted form, so that it stays exact for α near 1."""
    z = scores.double() - scores.double().amax(-1, keepdim=True)
    eps = alpha.double() - 1

    def weights(t):
        base = eps * (z - t)
        return torch.where(base > -1, torch.exp(torch.log1p(base.clamp_min(-1 + 1e-300)) / eps), 0)

    low, high = torch.zeros_like(z[..., :1]), torch.full_like(z[..., :1], 40.0)
    for _ in range(200):
        middle = (low + high) / 2
        above = weights(middle).sum(-1, keepdim=True) > 1
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return weights((low + high) / 2)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 17, 64, 511, 4096])
@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 10.0, 100.0])
def test_equals_float64_bisection(size, scale):
    torch.manual_seed(size)
    rows = 260 if size < 600 else 60
    scores = torch.randn(rows, size) * scale
    scores[torch.rand_like(scores) < 0.2] = -torch.inf
    scores[:, 0] = 0.0
    alpha = torch.rand(rows, 1) * 0.99 + 1.01
    alpha[0], alpha[1] = 2.0, 1.01
    weights, expected = entmax(scores, alpha), bisection(scores, alpha)
    assert (weights - expected).abs().max() <= 2e-5
    assert (weights.double().sum(-1) - 1).abs().max() <= 1e-6
    # An exact zero may differ from the oracle's only where the oracle's weight is next to nothing.
    assert (expected[weights == 0] <= 1e-6).all()
    assert (weights[scores == -torch.inf] == 0).all()


@given(st.integers(1, 40), st.floats(1.001, 2.0), st.floats(0.01, 50.0), st.integers(0, 10**6))
@settings(max_examples=200, deadline=None)
def test_any_row_is_a_distribution_in_the_order_of_the_scores(size, alpha, scale, seed):
    scores = torch.randn(size, generator=torch.Generator().manual_seed(seed)) * scale
    weights = entmax(scores, alpha)
    assert weights.min() >= 0
    assert abs(float(weights.sum()) - 1) <= 1e-5
    assert (weights[scores.argsort()].diff() >= -1e-7).all()


@pytest.mark.parametrize(("alpha", "exact"), [(1.0, torch.softmax), (1.5, entmax15), (2.0, sparsemax)])
def test_equals_the_exact_algorithms(alpha, exact):
    scores = torch.randn(500, 33, generator=torch.Generator().manual_seed(1)) * 2
    assert (entmax(scores, alpha) - exact(scores, dim=-1)).abs().max() <= 1e-6
    assert ((entmax(scores, alpha) == 0) == (exact(scores, dim=-1) == 0)).all()


@pytest.mark.parametrize("alpha", [1.0001, 1.01, 1.3, 1.5, 1.77, 1.99])
def test_gradients_match_finite_differences(alpha):
    torch.manual_seed(3)
    scores = torch.randn(6, 4, 7, dtype=torch.float64, requires_grad=True)
    alphas = torch.full((4, 1), alpha, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(6, 4, 7) < 0.8
    mask[..., 0] = True
    assert torch.autograd.gradcheck(lambda z, a: entmax(z, a, mask), (scores, alphas), eps=1e-7, atol=1e-5)


def test_gradients_equal_the_entmax_package():
    scores = torch.randn(50, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    alpha = torch.linspace(1.05, 1.95, 50, dtype=torch.float64)[:, None]
    probe = torch.randn(50, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    results = []
    for function in (entmax, lambda z, a: entmax_bisect(z, a, dim=-1, n_iter=100)):
        z, a = scores.clone().requires_grad_(), alpha.clone().requires_grad_()
        (function(z, a) * probe).sum().backward()
        results.append((z.grad, a.grad))
    torch.testing.assert_close(results[0][0], results[1][0], atol=1e-8, rtol=0)
    torch.testing.assert_close(results[0][1], results[1][1], atol=1e-8, rtol=0)


def test_rows_without_entries_give_zeros_and_no_gradient():
    for alpha in (1.0, 1.5, torch.tensor([1.5], requires_grad=True)):
        scores = torch.randn(3, 4, requires_grad=True)
        mask = torch.tensor([[True] * 4, [False] * 4, [True, False, False, False]])
        weights = entmax(scores, alpha, mask)
        assert (weights[1] == 0).all()
        assert weights[2].tolist() == [1, 0, 0, 0]
        (weights * torch.randn(3, 4)).sum().backward()
        assert torch.isfinite(scores.grad).all()
        assert (scores.grad[1] == 0).all()


def test_half_precision_scores_are_computed_in_float32():
    scores = torch.randn(8, 16).bfloat16()
    assert entmax(scores, 1.5).dtype == torch.float32
    torch.testing.assert_close(entmax(scores, 1.5), entmax(scores.float(), 1.5))


@pytest.mark.parametrize("alpha", [0.9, 2.1])
def test_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(ValueError, match=str(alpha)):
        entmax(torch.zeros(3), alpha)
