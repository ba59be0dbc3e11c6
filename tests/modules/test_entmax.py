"""α-entmax as everybody calls it, against the entmax package; `test_kernels.py` compares what computes it."""

import pytest
import torch
from entmax import entmax15, entmax_bisect, sparsemax
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.modules.entmax import entmax


@given(st.integers(1, 40), st.floats(1.001, 2.0), st.floats(0.01, 50.0), st.integers(0, 10**6))
@settings(max_examples=200)
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
        assert scores.grad is not None
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
