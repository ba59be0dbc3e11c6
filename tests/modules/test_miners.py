"""Mining and losses against pytorch-metric-learning, with articles as anchors and posts as references."""

import subprocess
import sys

import pytest
import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import MultiSimilarityLoss as LibraryMultiSimilarity
from pytorch_metric_learning.losses import NTXentLoss as LibraryNTXent
from pytorch_metric_learning.losses import TripletMarginLoss as LibraryTriplet
from pytorch_metric_learning.miners import MultiSimilarityMiner as LibraryMiner

from linker.modules.losses.metric_learning import MultiSimilarityLoss, NTXentLoss
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import AllPairsMiner, MinedPairs, MultiSimilarityMiner


def random_batch(seed, dim=6, largest=24, dtype=torch.float64):
    """Articles, posts and their labels; few labels for many, or many for few: also none in common."""
    generator = torch.Generator().manual_seed(seed)
    count_articles, count_posts = torch.randint(1, largest, (2,), generator=generator).tolist()
    classes = int(torch.randint(1, 30, (1,), generator=generator))
    article_labels = torch.randint(classes, (count_articles,), generator=generator)
    post_labels = torch.randint(classes, (count_posts,), generator=generator)
    articles = torch.nn.functional.normalize(
        torch.randn(count_articles, dim, generator=generator, dtype=dtype)
    )
    posts = torch.nn.functional.normalize(torch.randn(count_posts, dim, generator=generator, dtype=dtype))
    return articles, posts, article_labels, post_labels


def leaves(articles, posts):
    return articles.clone().requires_grad_(), posts.clone().requires_grad_()


def test_mined_triplet_loss_equals_the_library_on_many_label_sets():
    miner, loss = MultiSimilarityMiner(epsilon=0.1), TripletMarginLoss(margin=0.15)
    # swap=False, squared distances, mean over the triplets that are above 0: the library's defaults but for the power.
    distance = LpDistance(p=2, power=2, normalize_embeddings=False)
    their_miner, their_loss = LibraryMiner(epsilon=0.1), LibraryTriplet(margin=0.15, distance=distance)
    without_loss = 0
    for seed in range(300):
        articles, posts, article_labels, post_labels = random_batch(seed)
        a, p = leaves(articles, posts)
        ours = loss(a, p, miner(a, p, article_labels[:, None] == post_labels[None]))
        ours.backward()
        b, q = leaves(articles, posts)
        mined = their_miner(b, article_labels, q, post_labels)
        theirs = their_loss(b, article_labels, mined, q, post_labels)
        if theirs.requires_grad:
            theirs.backward()
        assert abs(ours.item() - theirs.item()) <= 1e-6
        for x, y in ((a, b), (p, q)):
            reference = torch.zeros_like(x) if y.grad is None else y.grad
            # The library differentiates through cdist, whose last digits differ where vectors coincide.
            torch.testing.assert_close(x.grad, reference, atol=1e-6, rtol=1e-5)
        without_loss += ours.item() == 0
    assert 6 < without_loss < 270


def test_mined_pairs_equal_the_library():
    for seed in range(300):
        articles, posts, article_labels, post_labels = random_batch(seed, dtype=torch.float32)
        pairs = MultiSimilarityMiner()(articles, posts, article_labels[:, None] == post_labels[None])
        a1, p, a2, n = LibraryMiner()(articles, article_labels, posts, post_labels)
        positives, negatives = torch.zeros_like(pairs.positives), torch.zeros_like(pairs.negatives)
        positives[a1, p], negatives[a2, n] = True, True
        assert (pairs.positives == positives).all()
        assert (pairs.negatives == negatives).all()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (MultiSimilarityLoss(), LibraryMultiSimilarity(alpha=2, beta=50, base=0.5)),
        (NTXentLoss(0.1), LibraryNTXent(temperature=0.1)),
    ],
)
def test_library_losses_get_articles_as_anchors(ours, theirs):
    for seed in range(50):
        articles, posts, article_labels, post_labels = random_batch(seed)
        pairs = AllPairsMiner()(articles, posts, article_labels[:, None] == post_labels[None])
        expected = theirs(articles, article_labels, None, posts, post_labels)
        torch.testing.assert_close(ours(articles, posts, pairs), expected + 0 * articles.sum())


@pytest.mark.parametrize(
    "loss", [TripletMarginLoss(), MultiSimilarityLoss(), NTXentLoss()], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("kind", ["no positives", "no negatives", "no pairs"])
def test_nothing_to_learn_gives_zero_loss_and_zero_gradient(loss, kind):
    a, p = leaves(*(torch.nn.functional.normalize(torch.randn(n, 5)) for n in (3, 4)))
    none, every = torch.zeros(3, 4, dtype=torch.bool), torch.ones(3, 4, dtype=torch.bool)
    pairs = {
        "no positives": MinedPairs(none, every),
        "no negatives": MinedPairs(every, none),
        "no pairs": MinedPairs(none, none),
    }[kind]
    value = loss(a, p, pairs)
    value.backward()
    if isinstance(loss, MultiSimilarityLoss) and kind != "no pairs":
        # It learns from positives or negatives alone, by definition.
        assert torch.isfinite(value)
    else:
        assert value.item() == 0
        assert (a.grad == 0).all()
        assert (p.grad == 0).all()
    assert torch.isfinite(a.grad).all()
    assert torch.isfinite(p.grad).all()


_MEMORY = """
import resource, torch
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner
def step(size):
    a = torch.nn.functional.normalize(torch.randn(size, 16)).requires_grad_()
    p = torch.nn.functional.normalize(torch.randn(size, 16)).requires_grad_()
    relevance = torch.arange(size)[:, None] % 64 == torch.arange(size)[None] % 64
    loss = TripletMarginLoss()(a, p, MultiSimilarityMiner()(a, p, relevance))
    loss.backward()
    assert loss > 0 and torch.isfinite(a.grad).all()
torch.set_num_threads(1)
step(256)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
step(2560)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_memory_of_mining_is_linear_in_the_pairs():
    result = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 8 * 2560**2 * 4
