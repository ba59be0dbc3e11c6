"""What is relevant may lie far from the seed: labels must turn the ranking there, and soon."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from linker.annotation.build_pool import build_pool, tfidf_vectors
from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.classifier import ActiveLearningStrategy
from linker.annotation.query_strategies.diversity import diverse_posts
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import found, labels_to, simulate
from linker.annotation.simulation.task import Task
from linker.config import build
from linker.data.types import Article, Post
from linker.models.model import Model
from linker.models.tfidf import TfidfModel
from tests.annotation.query_strategies.test_strategies import labeled
from tests.helpers.pools import NEWS, REST, SLANG, VectorModel

ARTICLE = Article("a", " ".join(NEWS), "ferry on the reef")
#: A seed of this length counts as a whole article, whose scores fade slowly.
LONG = Article("a", " ".join(3 * NEWS), "ferry on the reef")
MODELS = [TfidfModel(), VectorModel()]


def texts(generator: np.random.Generator, words: Sequence[str], count: int) -> list[str]:
    """Posts of four of these words among others."""
    return [
        " ".join(generator.permutation([*generator.choice(words, 4), *generator.choice(REST, 5)]))
        for _ in range(count)
    ]


def clusters(
    seed: int,
    relevant: dict[tuple[str, ...], int],
    other: dict[tuple[str, ...], int],
    article: Article = ARTICLE,
) -> Task:
    """A task with clusters of posts by their words, and 300 posts without any of them."""
    generator = np.random.default_rng(seed)
    good = [text for words, count in relevant.items() for text in texts(generator, words, count)]
    bad = [
        text
        for words, count in {**other, tuple(REST): 300}.items()
        for text in texts(generator, words, count)
    ]
    posts = [Post(str(i), text) for i, text in enumerate([*good, *bad])]
    return Task.of(
        "clusters", build_pool([article], posts, MODELS[seed % 2]), {str(i) for i in range(len(good))}
    )


def needed(task: Task, config: object, seed: int = 0) -> float:
    """The share of the posts that is labeled until 95 % of the relevant ones are found."""
    curve = found(task, simulate(task, build(QueryStrategy, config), seed, growth=0.1).labels)
    return (labels_to(curve, 0.95 * task.total) or len(task.pool)) / len(task.pool)


@pytest.mark.parametrize("article", [ARTICLE, LONG], ids=["title", "article"])
@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_far_from_the_seed_is_found(seed: int, article: Article) -> None:
    task = clusters(seed, {tuple(NEWS): 30, tuple(SLANG): 15}, {}, article)
    assert needed(task, "active_learning") < 0.3
    assert needed(task, "seed_similarity") > 0.6


@pytest.mark.parametrize("article", [ARTICLE, LONG], ids=["title", "article"])
@pytest.mark.parametrize("seed", range(4))
def test_a_seed_about_something_else_is_left_behind(seed: int, article: Article) -> None:
    task = clusters(seed, {tuple(SLANG): 30}, {tuple(NEWS): 60}, article)
    assert needed(task, "active_learning") < 0.3
    assert needed(task, "seed_similarity") > 0.7


@pytest.mark.parametrize("seed", range(4))
def test_a_few_relevant_posts_are_found_soon(seed: int) -> None:
    assert needed(clusters(seed, {tuple(NEWS): 3}, {}), "active_learning") < 0.1


@pytest.mark.parametrize(("article", "share"), [(ARTICLE, 0), (LONG, 100 / 105)], ids=["title", "article"])
def test_scores_for_whole_articles_count_less_with_each_label(article: Article, share: float) -> None:
    """After five labels, the order is that of classifier + share × scores for the seed, both standardized."""
    task = clusters(1, {tuple(NEWS): 10}, {tuple(SLANG): 10}, article)
    strategy = ActiveLearningStrategy()
    labels = labeled(np.array([0, 1, 2, 10, 11]), [True, True, True, False, False])
    decision = strategy._scores(task.pool, labels, np.random.default_rng(0))
    assert decision is not None

    def standardized(scores: np.ndarray) -> np.ndarray:
        return np.asarray((scores - scores.mean()) / scores.std())

    seeds = standardized(task.pool.scores) + standardized(task.pool.lexical_scores)
    scores = standardized(decision) + share * standardized(seeds)
    order = strategy.order(task.pool, labels, np.random.default_rng(0))
    assert set(order) == set(range(len(task.pool))) - set(labels.posts)
    assert np.all(np.diff(scores[order]) <= 1e-6)


@pytest.mark.parametrize("model", MODELS, ids=["words", "vectors"])
def test_the_weight_of_the_seed_fades(model: Model) -> None:
    generator = np.random.default_rng(3)
    cases = {words: texts(generator, words, 40) for words in (tuple(NEWS), tuple(SLANG), tuple(REST))}
    posts = [
        Post(f"{kind}{i}", text) for kind, some in zip("nso", cases.values()) for i, text in enumerate(some)
    ]
    pool = build_pool([ARTICLE], posts, model)
    place = {post.id: i for i, post in enumerate(pool.posts)}
    near_seed = []
    for count in (1, 4, 16):
        ids = [*(f"s{i}" for i in range(count)), "o1", "o2"]
        labels = labeled([place[one] for one in ids], [True] * count + [False] * 2)
        order = build(QueryStrategy, "active_learning").order(pool, labels, np.random.default_rng(1))
        first = [pool.posts[i].id[0] for i in order[:20]]
        near_seed.append(first.count("n"))
    assert near_seed[0] >= near_seed[1] >= near_seed[2]
    assert near_seed[2] < 10
    if isinstance(model, TfidfModel):
        assert near_seed[0] > near_seed[2] == 0


def test_diverse_posts_stand_for_the_largest_unlabeled_group() -> None:
    groups = ["ferry reef crew"] * 3 + ["goal match fans"] * 5 + ["song stage band"] * 2
    posts = [Post(str(i), f"{text} {REST[i]}") for i, text in enumerate(groups)]
    pool = replace(build_pool([ARTICLE], posts, TfidfModel()))
    assert len(pool) == 10

    def chosen(labels: Labels, count: int) -> list[str]:
        free = np.setdiff1d(np.arange(10), labels.posts)
        places = diverse_posts(pool, labels, free, count, np.random.default_rng(0))
        return [pool.posts[place].text.split()[0] for place in places]

    assert chosen(Labels(), 3) == ["goal", "ferry", "song"]
    assert chosen(labeled([4], [False]), 2) == ["ferry", "song"]
    assert len(chosen(labeled(range(8), [False] * 8), 5)) == 2


def test_diverse_posts_come_in_between_only_while_few_labels_are_relevant() -> None:
    task = clusters(1, {tuple(NEWS): 30}, {})
    pool: Pool = task.pool
    with_them, without = (
        build(QueryStrategy, {"type": "active_learning", "diversity": share}) for share in (0.1, 0.0)
    )
    rest, good = np.flatnonzero(~task.relevant), np.flatnonzero(task.relevant)

    def orders(labels: Labels) -> list[list[int]]:
        return [one.order(pool, labels, np.random.default_rng(1)).tolist() for one in (with_them, without)]

    for labels in (
        labeled(rest[:19], [False] * 19),
        labeled([*rest[:20], *good[:2]], [False] * 20 + [True] * 2),
    ):
        mixed, plain = orders(labels)
        assert mixed == plain
    mixed, plain = orders(labeled(rest[:25], [False] * 25))
    # Of ten labels one goes to a diverse post; the others keep their order, and none comes later than every tenth does.
    place = {post: i for i, post in enumerate(plain)}
    moved = [post for i, post in enumerate(mixed) if place[post] > i]
    assert 5 <= len(moved) <= 10
    assert mixed.index(moved[0]) == 4
    assert [post for post in mixed if post not in moved] == [post for post in plain if post not in moved]
    assert all(mixed.index(post) <= i + 10 for i, post in enumerate(plain))
    assert sorted(mixed) == sorted(plain)


def test_pairs_of_words_are_features() -> None:
    vectors = tfidf_vectors([Article("a", "red flag")], [Post("1", "the red flag"), Post("2", "flag red")])
    (article,), (same, swapped) = (some.toarray() for some in vectors)
    assert article == pytest.approx(same)
    rare, common = np.log(4 / 3) + 1, 1.0
    length = np.sqrt(2 * common**2 + rare**2)
    assert article == pytest.approx([common / length, common / length, rare / length])
    assert swapped == pytest.approx([np.sqrt(0.5), np.sqrt(0.5), 0])
