"""The losses of De Boom et al. 2016 against their closed forms, and the balanced choice of pairs."""

import math

import pytest
import torch

from linker.contrib.deboom2016.losses import ContrastiveBasedLoss, MedianBasedLoss
from linker.modules.miners import BalancedMiner, MinedPairs


def pairs_of(count, seed=0, dim=4):
    """As many related as unrelated pairs: article i with post i, and with the next one."""
    generator = torch.Generator().manual_seed(seed)
    articles = torch.randn(count, dim, generator=generator, dtype=torch.float64)
    posts = torch.randn(count, dim, generator=generator, dtype=torch.float64)
    related = torch.eye(count, dtype=torch.bool)
    return articles.requires_grad_(), posts.requires_grad_(), MinedPairs(related, related.roll(1, 1))


def test_contrastive_based_loss_by_hand():
    articles, posts = torch.tensor([[0.0, 0.0], [1.0, 0.0]]), torch.tensor([[3.0, 4.0], [1.0, 2.0]])
    chosen = MinedPairs(
        torch.tensor([[True, False], [False, True]]), torch.tensor([[False, True], [False, False]])
    )
    expected = (5 + 2 - math.sqrt(5)) / 3
    assert ContrastiveBasedLoss()(articles, posts, chosen).item() == pytest.approx(expected)


def closed_form(articles, posts, chosen, kappa):
    """Equations 10 and 11, pair by pair: the value, and the gradient for each article's vector.

    Equation 11 is printed with the sign of the median pair instead of that of the current pair.
    """
    couples = [(i, j, 1) for i, j in chosen.positives.nonzero().tolist()]
    couples += [(i, j, -1) for i, j in chosen.negatives.nonzero().tolist()]
    distance = {(i, j): (articles[i] - posts[j]).norm().item() for i, j, _ in couples}
    by_distance = sorted(distance, key=distance.__getitem__)
    middle = by_distance[(len(by_distance) - 1) // 2]
    value, gradient = 0.0, torch.zeros_like(articles)
    for i, j, p in couples:
        exponent = -kappa * p * (distance[middle] - distance[i, j])
        value += math.log1p(math.exp(exponent)) / len(couples)
        outer = kappa / (1 + math.exp(-exponent)) * p / len(couples)
        gradient[i] += outer * (articles[i] - posts[j]).detach() / distance[i, j]
        a, b = middle
        gradient[a] -= outer * (articles[a] - posts[b]).detach() / distance[middle]
    return value, gradient


@pytest.mark.parametrize("kappa", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("count", [1, 2, 5, 50])
def test_median_based_loss_and_its_gradient_in_closed_form(kappa, count):
    articles, posts, chosen = pairs_of(count, seed=count)
    if count == 1:
        chosen = MinedPairs(torch.ones(1, 1, dtype=torch.bool), torch.zeros(1, 1, dtype=torch.bool))
    loss = MedianBasedLoss(kappa)(articles, posts, chosen)
    loss.backward()
    value, gradient = closed_form(articles, posts, chosen, kappa)
    assert loss.item() == pytest.approx(value, rel=1e-9)
    torch.testing.assert_close(articles.grad, gradient, rtol=1e-8, atol=1e-10)


def test_median_based_loss_pays_for_pairs_on_the_wrong_side_only():
    """With a large κ each pair costs κ times how far it is on the wrong side of the median distance."""
    articles = torch.zeros(4, 1)
    posts = torch.tensor([[1.0], [2.0], [3.0], [6.0]])
    related = torch.tensor([[True, False, False, True]] + 3 * [[False] * 4])
    unrelated = torch.tensor([[False, True, True, False]] + 3 * [[False] * 4])
    loss = MedianBasedLoss(1000.0)(articles, posts, MinedPairs(related, unrelated))
    # Distances 1, 2, 3, 6: the median pair is that at 2, which pays ln 2; 6 is related and 4 too far.
    assert loss.item() == pytest.approx((1000 * 4 + math.log(2)) / 4)


@pytest.mark.parametrize("loss", [ContrastiveBasedLoss(), MedianBasedLoss()])
def test_no_pairs_and_equal_texts_have_no_gradient(loss):
    articles, posts, _ = pairs_of(3)
    none = torch.zeros(3, 3, dtype=torch.bool)
    value = loss(articles, posts, MinedPairs(none, none))
    value.backward()
    assert value.item() == 0
    assert articles.grad.abs().sum() == 0
    same = torch.ones(2, 3, requires_grad=True)
    loss(same, same.detach(), MinedPairs(torch.eye(2, dtype=torch.bool), none[:2, :2])).backward()
    assert same.grad is not None
    assert torch.isfinite(same.grad).all()


def test_fifty_articles_with_a_post_each_give_fifty_pairs_of_each_kind():
    relevance = torch.eye(50, dtype=torch.bool)
    pairs = BalancedMiner()(torch.zeros(50, 2), torch.zeros(50, 2), relevance)
    assert torch.equal(pairs.positives, relevance)
    assert torch.equal(pairs.negatives, relevance.roll(1, 1))
    assert (pairs.negatives.sum(0) == 1).all()


def test_every_article_has_as_many_negatives_as_positives_whatever_is_relevant():
    generator = torch.Generator().manual_seed(3)
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        relevance = torch.rand(20, 30, generator=generator) < share
        pairs = BalancedMiner()(torch.zeros(20, 2), torch.zeros(30, 2), relevance)
        assert torch.equal(pairs.positives & relevance, pairs.positives)
        assert not (pairs.negatives & relevance).any()
        wanted = torch.minimum(relevance.sum(1), (~relevance).sum(1))
        assert torch.equal(pairs.positives.sum(1), wanted)
        assert torch.equal(pairs.negatives.sum(1), wanted)
