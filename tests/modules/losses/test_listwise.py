"""The loss of lists."""

import math

import pytest
import torch

from linker.modules.losses.listwise import ListwiseLoss


def test_values_by_hand():
    scores = torch.tensor([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    first = -math.log(math.exp(2) / (math.exp(2) + 1 + math.exp(1)))
    cross_entropy = (first + math.log(3)) / 2
    assert ListwiseLoss(0).list_loss(scores).item() == pytest.approx(cross_entropy, abs=1e-6)
    # Relevant pairs count twice, because there are two irrelevant ones beside each.
    softplus = lambda x: math.log1p(math.exp(x))  # noqa: E731
    binary = (2 * softplus(-2) + softplus(0) + softplus(1) + 4 * softplus(0)) / 6
    assert ListwiseLoss(0.5).list_loss(scores).item() == pytest.approx(cross_entropy + binary / 2, abs=1e-6)


def test_only_the_binary_part_sees_where_zero_is():
    scores = torch.randn(3, 5)
    assert torch.allclose(ListwiseLoss(0).list_loss(scores), ListwiseLoss(0).list_loss(scores + 4), atol=1e-5)
    assert not torch.allclose(
        ListwiseLoss().list_loss(scores), ListwiseLoss().list_loss(scores + 4), atol=1e-2
    )
