"""Every strategy orders all that is left, the same way each time; those that learn find more sooner."""

from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from linker.annotation.build_pool import build_pool
from linker.annotation.pool import Labels
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import found, labels_to, simulate
from linker.config import build
from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from tests.helpers.pools import REST, VectorModel, planted

CONFIGS = [
    *QueryStrategy.available(),
    {"type": "active_learning", "diversity": 0},
    {"type": "active_learning", "pseudo_negatives": 0},
]


def labeled(places: Sequence[int] | np.ndarray, relevant: Sequence[bool]) -> Labels:
    return Labels(
        np.array(places, dtype=np.int64), np.array(relevant, dtype=bool), np.zeros(len(places), dtype=bool)
    )


@pytest.mark.parametrize("with_vectors", [False, True])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_an_order_holds_all_unlabeled_posts_once_and_is_repeatable(
    config: object, with_vectors: bool
) -> None:
    task = planted(1, 80, model=VectorModel() if with_vectors else None)
    strategy = build(QueryStrategy, config)
    size = len(task.pool)
    for places in ([], [5], [5, 70, 11, 12], list(range(size - 1)), list(range(size))):
        for values in (task.relevant[places], np.zeros(len(places), bool), np.ones(len(places), bool)):
            labels = labeled(places, list(values))
            order = strategy.order(task.pool, labels, np.random.default_rng(3))
            assert order.dtype == np.int64
            assert sorted(order.tolist()) == sorted(set(range(size)) - set(places))
            again = build(QueryStrategy, config).order(task.pool, labels, np.random.default_rng(3))
            assert again.tolist() == order.tolist()


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_texts_without_words(config: object) -> None:
    pool = build_pool(
        [Article("a", "!!!")], [Post(str(i), text) for i, text in enumerate("🎉🎊🎈😀😡😴")], BM25Model()
    )
    order = build(QueryStrategy, config).order(pool, labeled([2, 4], [True, False]), np.random.default_rng(1))
    assert sorted(order.tolist()) == [0, 1, 3, 5]


def test_orders_by_scores_against_their_definition() -> None:
    task = planted(2, 60, model=VectorModel())
    pool = task.pool

    def order(name: str) -> list[int]:
        return build(QueryStrategy, name).order(pool, Labels(), np.random.default_rng(0)).tolist()

    similar = cosine_similarity(pool.article_vectors, pool.vectors)[0]
    assert similar[order("seed_similarity")] == pytest.approx(np.sort(similar)[::-1], abs=1e-6)
    bm25 = BM25Model().score(pool.articles, pool.posts)[0]
    assert bm25[order("lexical")].tolist() == np.sort(bm25)[::-1].tolist()
    both = sum((scores - scores.mean()) / scores.std() for scores in (similar, bm25))
    assert both[order("hybrid")] == pytest.approx(np.sort(both)[::-1], abs=1e-5)
    shared = [len(set(post.text.split()) & {"ferry", "reef"}) for post in pool.posts]
    assert order("keywords") == sorted(pool.shuffled.tolist(), key=lambda place: -shared[place])


def test_learning_finds_planted_posts_sooner_than_random_and_than_the_seed_alone() -> None:
    needed: dict[str, list[int]] = {"random": [], "lexical": [], "active_learning": []}
    for seed in range(5):
        task = planted(seed)
        for one, numbers in needed.items():
            curve = found(task, simulate(task, build(QueryStrategy, one), seed, growth=0.2).labels)
            numbers.append(labels_to(curve, 0.9 * task.total) or len(task.pool))
    for learnt, drawn, lexical in zip(needed["active_learning"], needed["random"], needed["lexical"]):
        assert learnt < 0.5 * drawn
        assert learnt < lexical


def test_labels_turn_the_order() -> None:
    posts = [
        Post(str(i), f"{'apple' if i % 2 else 'pear'} {REST[i]} {REST[i * 5 % 42]} {REST[i * 11 % 42]} tree")
        for i in range(40)
    ]
    pool = build_pool([Article("a", "tree grows")], posts, BM25Model())
    assert len(pool) == 40
    kinds = np.array(["apple" in post.text for post in pool.posts])
    places = [*np.flatnonzero(kinds)[:4].tolist(), *np.flatnonzero(~kinds)[:4].tolist()]
    for wanted in (True, False):
        labels = labeled(places, [bool(kinds[place]) == wanted for place in places])
        strategy = build(QueryStrategy, {"type": "active_learning", "pseudo_negatives": 0})
        order = strategy.order(pool, labels, np.random.default_rng(1))
        assert (kinds[order[: np.sum(kinds[order] == wanted)]] == wanted).mean() > 0.9


def test_wrong_settings_are_refused() -> None:
    for config in ({"diversity": 2}, {"cost": 0}, {"pseudo_negatives": -1}):
        with pytest.raises(Exception, match=next(iter(config))):
            build(QueryStrategy, {"type": "active_learning", **config})
