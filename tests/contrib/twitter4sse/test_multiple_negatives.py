"""`nt_xent` on all pairs is the multiple negatives ranking loss; `balanced` gives a random negative."""

import pytest
import torch
from torch import nn

from linker.modules.losses.metric_learning import NTXentLoss
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import AllPairsMiner, BalancedMiner


def raw(count, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 12, generator=generator, dtype=torch.float64).requires_grad_()


def unit(count, seed):
    return nn.functional.normalize(raw(count, seed))


def our_loss(articles, posts, relevance):
    return NTXentLoss(temperature=1 / 20)(articles, posts, AllPairsMiner()(articles, posts, relevance))


@pytest.mark.parametrize("size", [2, 10, 50])
def test_value_and_gradient_are_those_of_a_softmax_over_the_batch(size):
    leaves = raw(size, 1), raw(size, 2)
    articles, posts = map(nn.functional.normalize, leaves)  # as a model gives them
    ours = our_loss(articles, posts, torch.eye(size, dtype=torch.bool))
    scores = 20 * articles @ posts.T
    expected = (torch.logsumexp(scores, 1) - scores.diagonal()).mean()
    torch.testing.assert_close(ours, expected, atol=1e-12, rtol=1e-12)
    gradients = (torch.autograd.grad(loss, leaves, retain_graph=True) for loss in (ours, expected))
    for own, other in zip(*gradients):
        torch.testing.assert_close(own, other, atol=1e-12, rtol=1e-10)


def test_it_is_the_loss_of_sentence_transformers():
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    theirs = losses.MultipleNegativesRankingLoss(nn.Identity(), scale=20)
    articles, posts = unit(30, 3), unit(30, 4)
    ours = our_loss(articles, posts, torch.eye(30, dtype=torch.bool))
    expected = theirs.compute_loss_from_embeddings([articles, posts], None)
    torch.testing.assert_close(ours, expected.double(), atol=1e-9, rtol=1e-9)


def test_another_post_of_the_same_article_is_not_a_negative():
    articles, posts = unit(2, 5), unit(3, 6)
    relevance = torch.tensor([[True, True, False], [False, False, True]])
    scores = 20 * articles @ posts.T

    def one(article, positive, negatives):
        return torch.logsumexp(scores[article, [positive, *negatives]], 0) - scores[article, positive]

    expected = torch.stack([one(0, 0, [2]), one(0, 1, [2]), one(1, 2, [0, 1])]).mean()
    torch.testing.assert_close(our_loss(articles, posts, relevance), expected, atol=1e-12, rtol=1e-12)


def test_balanced_pairs_make_a_triplet_of_each_article_with_one_random_negative():
    articles, posts = unit(20, 7), unit(20, 8)
    pairs = BalancedMiner()(articles, posts, torch.eye(20, dtype=torch.bool))
    assert pairs.negatives.sum(1).tolist() == [1] * 20
    negative = posts[pairs.negatives.int().argmax(1)]
    hinges = ((articles - posts).square().sum(1) - (articles - negative).square().sum(1) + 0.15).relu()
    expected = hinges.sum() / (hinges > 0).sum()
    torch.testing.assert_close(TripletMarginLoss(0.15)(articles, posts, pairs), expected)
