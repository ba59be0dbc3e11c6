"""`info_nce`: cross entropies both ways, by torch's own functions; texts without rivals; gradients."""

import torch
from torch.nn import functional as F

from linker.modules.losses.contrastive import InfoNCELoss
from linker.modules.miners import AllPairsMiner, MinedPairs


def unit(count, seed):
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(count, 6, generator=generator, dtype=torch.float64))


def loss(articles, posts, relevance, temperature=0.1):
    return InfoNCELoss(temperature)(articles, posts, AllPairsMiner()(articles, posts, relevance))


def test_one_post_an_article_is_two_cross_entropies():
    articles, posts = unit(9, 1), unit(9, 2)
    logits, own = articles @ posts.T / 0.1, torch.arange(9)
    expected = F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)
    torch.testing.assert_close(loss(articles, posts, torch.eye(9, dtype=torch.bool)), expected)


def test_other_positives_are_in_no_denominator():
    articles, posts = unit(2, 3), unit(3, 4)
    relevance = torch.tensor([[True, True, False], [False, False, True]])
    s = (articles @ posts.T / 0.1).exp()
    expected = 0
    for row, column, rivals, owners in ((0, 0, [2], [1]), (0, 1, [2], [1]), (1, 2, [0, 1], [0])):
        own = s[row, column]
        expected -= (own / (own + s[row, rivals].sum())).log() + (own / (own + s[owners, column].sum())).log()
    torch.testing.assert_close(loss(articles, posts, relevance), expected / 3)


def test_pairs_that_are_neither_do_not_count():
    articles, posts = unit(2, 5), unit(4, 6)
    relevance = torch.zeros(2, 4, dtype=torch.bool)
    relevance[0, 0] = relevance[1, 1] = True
    negatives = ~relevance
    negatives[:, 3] = False
    pairs = MinedPairs(relevance, negatives)
    torch.testing.assert_close(
        InfoNCELoss(0.1)(articles, posts, pairs), loss(articles, posts[:3], relevance[:, :3])
    )


def test_gradients_are_right_and_finite_where_nothing_competes():
    articles, posts = unit(3, 7).requires_grad_(), unit(4, 8).requires_grad_()
    relevance = torch.zeros(3, 4, dtype=torch.bool)
    relevance[0, 0] = relevance[1, 2] = relevance[1, 3] = True
    torch.autograd.gradcheck(lambda a, p: loss(a, p, relevance, 0.5), (articles, posts))
    for relevant in (torch.ones(3, 4, dtype=torch.bool), torch.zeros(3, 4, dtype=torch.bool)):
        value = loss(articles, posts, relevant)
        value.backward()
        assert value == 0
        assert torch.isfinite(articles.grad).all()
        assert torch.isfinite(posts.grad).all()
