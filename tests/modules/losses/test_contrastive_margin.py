"""The contrastive loss with a margin against sentence-transformers; pairs of a batch that is a list."""

import pytest
import torch

from linker.modules.losses.contrastive import ContrastiveMarginLoss
from linker.modules.miners import AlignedMiner, MinedPairs


def vectors(count, dim=6, seed=1):
    return torch.randn(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def some_pairs():
    articles, posts = vectors(7).requires_grad_(), vectors(5, seed=2).requires_grad_()
    drawn = torch.rand(7, 5, generator=torch.Generator().manual_seed(3))
    return articles, posts, MinedPairs(drawn < 0.3, drawn > 0.5)


@pytest.mark.parametrize("margin", [0.5, 1.3])
def test_loss_and_gradients_are_those_of_sentence_transformers(margin):
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    articles, posts, pairs = some_pairs()
    rows, columns = torch.cat([pairs.positives.nonzero(), pairs.negatives.nonzero()]).unbind(1)
    same = pairs.positives[rows, columns].int()
    theirs = losses.ContrastiveLoss(model=None, margin=margin)
    expected = theirs.compute_loss_from_embeddings([articles[rows], posts[columns]], same)
    value = ContrastiveMarginLoss(margin)(articles, posts, pairs)
    torch.testing.assert_close(value, expected)
    for own, other in zip(
        torch.autograd.grad(value, [articles, posts]), torch.autograd.grad(expected, [articles, posts])
    ):
        torch.testing.assert_close(own, other)


def test_nothing_is_learned_from_what_is_right_or_from_no_pairs():
    articles = torch.eye(4, requires_grad=True)
    right = MinedPairs(torch.eye(4, dtype=torch.bool), ~torch.eye(4, dtype=torch.bool))
    none = MinedPairs(torch.zeros(4, 4, dtype=torch.bool), torch.zeros(4, 4, dtype=torch.bool))
    for pairs in (right, none):
        value = ContrastiveMarginLoss()(articles, torch.eye(4), pairs)
        assert value.item() == 0
        assert not torch.autograd.grad(value, articles)[0].any()


def test_a_margin_beyond_all_distances_is_refused():
    with pytest.raises(ValueError, match="margin"):
        ContrastiveMarginLoss(2.5)


def test_aligned_takes_the_pairs_of_the_list():
    relevance = torch.tensor(
        [[True, True, False, True], [True, False, True, True], [False, False, True, True]]
    )
    pairs = AlignedMiner()(torch.zeros(3, 2), torch.zeros(4, 2), relevance)
    assert pairs.positives.nonzero().tolist() == [[0, 0], [2, 2]]
    assert pairs.negatives.nonzero().tolist() == [[1, 1]]
