"""The figures of a whole evaluation: hand-computed, invariant, and low for a scorer that knows nothing."""

import numpy as np
import pytest

from linker.common.errors import LinkerError
from linker.data.types import Article, LinkedPosts, Post
from linker.evaluation.evaluate import ARTICLE_METRICS, PAIR_METRICS, evaluate, measure
from linker.evaluation.metrics.ranking import per_article


def linked(articles: int, posts_each: int) -> LinkedPosts:
    return LinkedPosts(
        [Article(f"a{i:03}", "text") for i in range(articles)],
        [Post(f"p{i:03}-{k}", "text", (f"a{i:03}",)) for i in range(articles) for k in range(posts_each)],
    )


def test_hand_computed_values() -> None:
    # Two articles, four posts; p1 and p2 belong to a, p3 to b.
    data = LinkedPosts(
        [Article("a", "x"), Article("b", "x")],
        [Post("p1", "x", ("a",)), Post("p2", "x", ("a",)), Post("p3", "x", ("b",)), Post("p4", "x")],
    )
    scores = np.array([[0.9, 0.3, 0.5, 0.1], [0.8, 0.2, 0.7, 0.0]], dtype=np.float32)
    # In one ranking: a-p1 + | b-p1 | b-p3 + | a-p3 | a-p2 + | ...
    metrics = evaluate(scores, data)
    assert metrics["pair AP"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3)
    assert metrics["AUC"] == pytest.approx((5 + 4 + 3) / 15)
    # a: p1 +, p3, p2 +; b: p1, p3 +.
    assert metrics["MAP"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert metrics["R-precision"] == pytest.approx((1 / 2 + 0) / 2)
    assert metrics["MRR"] == pytest.approx((1 + 1 / 2) / 2)
    assert metrics["P@1"] == pytest.approx(1 / 2)
    assert metrics["P@10"] == pytest.approx((2 / 10 + 1 / 10) / 2)
    assert metrics["recall@10"] == 1.0
    assert "mRP" not in metrics  # eight pairs are fewer than every threshold


def test_r_precision_counts_the_best_pairs_over_all_articles() -> None:
    data = linked(30, 4)
    relevance = data.relevance()
    wrong = np.flatnonzero(~relevance.ravel())
    scores = np.zeros(relevance.size, dtype=np.float32)
    scores[relevance.ravel()] = np.linspace(2, 1, 120)
    scores[wrong[:50]] = 3.0  # fifty irrelevant pairs are ranked before all others
    metrics = evaluate(scores.reshape(relevance.shape), data)
    assert metrics["r_precision@50"] == 0.0
    assert metrics["r_precision@100"] == pytest.approx(50 / 100)
    assert metrics["r_precision@200"] >= 120 / 200
    thresholds = [50, 100, 200, 500, 1000, 2000, 3000]
    assert metrics["mRP"] == pytest.approx(np.mean([metrics[f"r_precision@{r}"] for r in thresholds]))


def test_thresholds_above_the_number_of_pairs_are_left_out_and_reported() -> None:
    data = linked(10, 2)
    ids = [a.id for a in data.articles], [p.id for p in data.posts]
    result = measure(np.zeros((10, 20), dtype=np.float32), data.relevance(), *ids)
    assert result.thresholds_left_out == (500, 1000, 2000, 3000)
    assert [name for name in result.metrics if name.startswith("r_")] == [
        "r_precision@50",
        "r_precision@100",
        "r_precision@200",
    ]
    assert "mRP" in result.metrics


def test_names_come_in_one_order() -> None:
    data = linked(40, 2)
    metrics = evaluate(np.random.default_rng(0).random((40, 80)), data)
    assert list(metrics) == [*PAIR_METRICS, *ARTICLE_METRICS]


def test_articles_without_posts_are_left_out_of_the_means_and_counted() -> None:
    data = linked(3, 2)
    lonely = LinkedPosts([*data.articles, Article("zzz", "nobody talks about it")], data.posts)
    scores = np.random.default_rng(1).random((4, 6)).astype(np.float32)
    ids = [a.id for a in lonely.articles], [p.id for p in lonely.posts]
    result = measure(scores, lonely.relevance(), *ids)
    assert result.articles_without_posts == 1
    alone = evaluate(scores[:3], data)
    assert {name: result.metrics[name] for name in ARTICLE_METRICS} == {
        name: alone[name] for name in ARTICLE_METRICS
    }


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_the_order_of_the_input_changes_nothing(decimals: int) -> None:
    data = linked(40, 3)
    random = np.random.default_rng(2)
    scores = random.random((40, 120)).round(decimals)  # with 0 decimals nearly everything is tied
    expected = evaluate(scores, data)
    for _ in range(5):
        rows, columns = random.permutation(40), random.permutation(120)
        shuffled = LinkedPosts([data.articles[i] for i in rows], [data.posts[j] for j in columns])
        assert evaluate(scores[np.ix_(rows, columns)], shuffled) == pytest.approx(expected, abs=1e-12)


def test_a_constant_scorer_gains_nothing_though_ids_follow_relevance() -> None:
    # Posts carry their article's number: in alphabetical order of the ids a000's own posts would come first.
    data = linked(60, 5)
    metrics = evaluate(np.full((60, 300), 0.5, dtype=np.float32), data)
    assert metrics["pair AP"] == pytest.approx(1 / 60)
    assert metrics["AUC"] == pytest.approx(0.5)
    # Every article is given the same list, so one article in sixty finds its post first.
    assert metrics["P@1"] == pytest.approx(1 / 60)
    assert metrics["R-precision"] == pytest.approx(1 / 60)
    for name, value in metrics.items():
        if name.startswith("r_precision@"):
            r = int(name.partition("@")[2])
            assert abs(value - 1 / 60) < 4 * (1 / 60 / r) ** 0.5, name


def test_a_constant_scorer_equals_chance_in_every_metric_where_ids_mean_nothing() -> None:
    data = linked(60, 5)
    random = np.random.default_rng(3)
    names = [f"{n:04}" for n in random.permutation(300)]
    data = LinkedPosts(data.articles, [Post(n, p.text, p.article_ids) for n, p in zip(names, data.posts)])
    metrics = evaluate(np.full((60, 300), 0.5, dtype=np.float32), data)
    ids, relevance = [post.id for post in data.posts], data.relevance()
    chance = [per_article(random.random((60, 300)), relevance, ids) for _ in range(100)]
    for name in ARTICLE_METRICS:
        values = np.array([m[name].mean() for m in chance])
        assert abs(metrics[name] - values.mean()) < 4 * values.std() + 1e-12, name


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_cannot_be_ranked_are_refused(bad: float) -> None:
    data = linked(3, 2)
    scores = np.zeros((3, 6))
    scores[1, 4] = bad
    with pytest.raises(LinkerError, match=r"'p002-0' for article 'a001'"):
        evaluate(scores, data)


def test_no_relevant_pair_is_refused() -> None:
    data = LinkedPosts([Article("a", "x")], [Post("p", "x"), Post("q", "x", ("elsewhere",))])
    with pytest.raises(LinkerError, match="nothing to evaluate"):
        evaluate(np.zeros((1, 2)), data)


def test_auc_is_left_out_where_every_pair_is_relevant() -> None:
    metrics = evaluate(np.zeros((1, 2)), linked(1, 2))
    assert "AUC" not in metrics
    assert metrics["pair AP"] == 1.0


def test_a_transposed_matrix_is_refused() -> None:
    with pytest.raises(LinkerError, match="3 articles and 6 posts"):
        evaluate(np.zeros((6, 3)), linked(3, 2))
