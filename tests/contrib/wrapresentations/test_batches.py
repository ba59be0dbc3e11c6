"""BatchSampler of pairs of labeled texts, and training on them."""

import random
from collections import Counter

import pytest
import torch

from linker.common.errors import DataError
from linker.config import build
from linker.contrib.wrapresentations.batches import ClassPairSampler
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model
from linker.modules.losses.contrastive import ContrastiveMarginLoss
from linker.modules.miners import AlignedMiner
from linker.training.batch_sampler import BatchSampler
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingTask
from tests.conftest import toy_posts

CLASSES = ("hope", "fear", "news")


def labeled(sizes=(7, 5, 4), seed=0) -> LinkedPosts:
    """Texts whose words tell their class, articles in another order than posts."""
    rng = random.Random(seed)
    ids = {name: tuple(f"{name}{i}" for i in range(size)) for name, size in zip(CLASSES, sizes)}
    posts = []
    for name, members in ids.items():
        for own in members:
            words = [f"{name}{rng.randrange(6)}" for _ in range(3)] + [
                f"w{rng.randrange(40)}" for _ in range(4)
            ]
            posts.append(Post(own, " ".join(words), members, extra={"class": name}))
    rng.shuffle(posts)
    articles = [Article(post.id, post.text) for post in posts]
    rng.shuffle(articles)
    return LinkedPosts(articles, posts)


def pairs_of(data, batches, seed):
    return Counter(
        (data.articles[i].id, data.posts[j].id)
        for batch in batches.epoch(data, seed)
        for i, j in zip(batch.articles, batch.posts, strict=True)
    )


def test_an_epoch_has_every_pair_of_a_class_once_and_as_many_others():
    data, batches = labeled(), ClassPairSampler(pairs=8)
    found = list(batches.epoch(data, 1))
    assert len(found) == batches.count(data) == 2 * (42 + 20 + 12) // 8 + 1
    assert {len(batch.articles) for batch in found[:-1]} == {8}
    pairs = pairs_of(data, batches, 1)
    assert set(pairs.values()) == {1}
    assert len([(one, other) for one, other in pairs if one[:4] == other[:4]]) == 74
    assert len(pairs) == 148
    assert all(one != other for one, other in pairs)
    # The same pairs in another order in the next epoch; other ones with another seed of the list.
    assert pairs_of(data, batches, 2) == pairs
    assert list(batches.epoch(data, 2)) != found
    assert pairs_of(data, ClassPairSampler(pairs=8, seed=1), 1) != pairs


def test_shorter_epochs_are_sampled_again():
    data, batches = labeled(), ClassPairSampler(pairs=8, max_pairs=20)
    first, second = pairs_of(data, batches, 1), pairs_of(data, batches, 2)
    assert len(first) == len(second) == 20
    assert first != second
    assert sum(one[:4] == other[:4] for one, other in first) == 10
    assert batches.count(data) == 3


def test_a_batch_teaches_its_pairs_and_nothing_else():
    """Also where a text is in several pairs of a batch."""
    data = labeled()
    seed_everything(1)
    embedder = {"type": "word_vectors", "dim": 8, "trainable": True, "dropout": 0.0}
    model = build(Model, {"type": "siamese", "encoder": "mean", "embedder": embedder, "min_count": 1})
    model.prepare(data)
    settings = {"optimizer": "adam", "schedule": "constant", "batches": {"type": "class_pairs", "pairs": 12}}
    run = build(Trainer, settings).start(TrainingTask(model, AlignedMiner(), ContrastiveMarginLoss(), data))
    batch = next(iter(run.sampler.epoch(data, 3)))
    assert len(set(batch.articles)) < len(batch.articles)
    value, _ = run._gradients(batch)
    terms = []
    for i, j in zip(batch.articles, batch.posts):
        one, other = data.articles[i], data.posts[j]
        a, b = model([model.article_tokens(one), model.post_tokens(other)])
        d = 1 - torch.cosine_similarity(a, b, dim=0)
        terms.append(d**2 if one.id[:4] == other.id[:4] else torch.relu(0.5 - d) ** 2)
    assert value == pytest.approx((torch.stack(terms).mean() / 2).item(), rel=1e-5)


def test_training_brings_texts_of_a_class_together(tmp_path):
    data, dev = labeled((12, 10, 9)), labeled((8, 8, 8), seed=5)
    seed_everything(1)
    embedder = {"type": "word_vectors", "dim": 16, "trainable": True}
    model = build(Model, {"type": "siamese", "encoder": "mean", "embedder": embedder, "min_count": 1})
    model.prepare(data)
    settings = {
        "optimizer": {"type": "adam", "lr": 0.02},
        "schedule": "constant",
        "batches": {"type": "class_pairs", "pairs": 32},
        "epochs": 3,
    }
    result = build(Trainer, settings).train(
        TrainingTask(model, AlignedMiner(), ContrastiveMarginLoss(), data, dev, 5), tmp_path
    )
    assert result.epochs[-1]["AUC"] > 0.9
    assert result.losses[-1] < result.losses[0] / 2


def test_data_without_classes_are_refused():
    with pytest.raises(DataError, match="reader labeled_texts"):
        list(build(BatchSampler, {"type": "class_pairs"}).epoch(toy_posts(), 1))
