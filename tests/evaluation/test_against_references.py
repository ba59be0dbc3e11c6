"""Every metric against the tools whose definitions it follows: ir-measures (trec_eval) and scikit-learn."""

import warnings

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Measure, P, R, Rprec, nDCG
from sklearn.metrics import average_precision_score, roc_auc_score

from linker.evaluation.metrics import pairwise
from linker.evaluation.metrics.ranking import METRICS, POST_METRICS, per_article, per_post

THEIRS = {
    "MAP": AP, "R-precision": Rprec, "MRR": RR, "nDCG@10": nDCG @ 10, "nDCG@100": nDCG @ 100, "P@1": P @ 1,
    "P@10": P @ 10, "recall@10": R @ 10, "recall@100": R @ 100,
}  # fmt: skip
THEIRS_OF_POSTS = {"MAP@5 of posts": AP @ 5, "MRR of posts": RR, "P@1 of posts": P @ 1}


def assert_equal_to_trec_eval(scores: np.ndarray, relevance: np.ndarray, post_ids: list[str]) -> None:
    assert_equal(per_article(scores, relevance, post_ids), THEIRS, scores, relevance, post_ids)
    # The same with articles as posts, and posts as articles.
    of_posts = per_post(scores.T, relevance.T, post_ids)
    assert_equal(of_posts, THEIRS_OF_POSTS, scores, relevance, post_ids)


def assert_equal(
    ours: dict[str, np.ndarray],
    theirs: dict[str, Measure],
    scores: np.ndarray,
    relevance: np.ndarray,
    post_ids: list[str],
) -> None:
    articles = [str(row) for row in range(len(scores))]
    run = {a: dict(zip(post_ids, map(float, row))) for a, row in zip(articles, scores)}
    # Only relevant pairs are listed, as in our qrels: unjudged pairs count as irrelevant.
    qrels = {
        a: {i: int(label) for i, label in zip(post_ids, row) if label > 0}
        for a, row in zip(articles, relevance)
    }
    qrels = {article: labels for article, labels in qrels.items() if labels}
    found, names = 0, {str(measure): name for name, measure in theirs.items()}
    for result in ir_measures.iter_calc(list(theirs.values()), qrels, run) if qrels else ():
        name = names[str(result.measure)]
        assert abs(ours[name][int(result.query_id)] - result.value) <= 1e-9, name
        found += 1
    assert found == len(qrels) * len(theirs)
    without = [row for row, article in enumerate(articles) if article not in qrels]
    assert all(np.isnan(values[without]).all() for values in ours.values())


def test_all_metrics_have_a_reference() -> None:
    assert THEIRS.keys() == METRICS.keys()
    assert THEIRS_OF_POSTS.keys() == POST_METRICS.keys()


def test_per_article_metrics_on_thousands_of_rankings() -> None:
    random = np.random.default_rng(0)
    for _ in range(1200):
        articles, posts = random.integers(1, 8), random.integers(1, 140)
        scores = random.normal(size=(articles, posts)).round(random.integers(0, 4)).astype(np.float32)
        labels = [0, 0, 0, 0, 1, 2, 3] if random.random() < 0.5 else [0, 0, 1]
        relevance = random.choice(labels, size=scores.shape) * (random.random((articles, 1)) < 0.8)
        ids = [f"{'pP_é'[i % 4]}{i}" for i in random.permutation(500)[:posts]]
        assert_equal_to_trec_eval(scores, relevance, ids)


def test_more_articles_than_one_slice() -> None:
    random = np.random.default_rng(4)
    scores, relevance = random.random((600, 15)).round(1), random.random((600, 15)) < 0.1
    assert_equal_to_trec_eval(scores, relevance, [f"p{i}" for i in range(15)])


@st.composite
def rankings(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[str]]:
    articles, posts = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    # A few values, so that ties are common; what is equal as float32 is a tie for trec_eval too.
    value = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e30, -1e30, 0.1, 0.1 + 1e-12, 1 / 3])
    size = articles * posts
    scores = draw(st.lists(value, min_size=size, max_size=size))
    labels = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    alphabet = st.characters(exclude_categories=("Cs", "Cc", "Z"))
    ids = draw(
        st.lists(st.text(alphabet, min_size=1, max_size=3), min_size=posts, max_size=posts, unique=True)
    )
    return np.reshape(scores, (articles, posts)), np.reshape(labels, (articles, posts)), ids


@settings(max_examples=400)
@given(rankings())
def test_per_article_metrics_on_hostile_rankings(ranking: tuple[np.ndarray, np.ndarray, list[str]]) -> None:
    assert_equal_to_trec_eval(*ranking)


def test_pair_metrics_equal_scikit_learn() -> None:
    random = np.random.default_rng(1)
    for _ in range(300):
        shape = random.integers(1, 9), random.integers(2, 40)
        scores = random.normal(size=shape).round(random.integers(0, 5))
        relevance = random.integers(-3, 4, size=shape).clip(0)
        truth = relevance.ravel() > 0
        if not truth.any() or truth.all():
            continue
        expected = average_precision_score(truth, scores.ravel())
        assert pairwise.average_precision(scores, relevance) == pytest.approx(expected, abs=1e-12)
        expected = roc_auc_score(truth, scores.ravel())
        assert pairwise.auc(scores, relevance) == pytest.approx(expected, abs=1e-12)


def test_r_precision_on_thousands_of_rankings() -> None:
    random = np.random.default_rng(3)
    for _ in range(1000):
        shape = random.integers(1, 12), random.integers(1, 30)
        scores = random.permutation(shape[0] * shape[1]).reshape(shape).astype(np.float32)  # no ties
        relevance = random.random(shape) < 0.2
        ids = [f"a{i}" for i in range(shape[0])], [f"p{i}" for i in range(shape[1])]
        best_first = [hit for _, hit in sorted(zip(scores.ravel(), relevance.ravel()), reverse=True)]
        expected = {r: sum(best_first[:r]) / r for r in (1, 5, 50, 100) if r <= scores.size}
        assert pairwise.r_precision_at(scores, relevance, *ids, thresholds=(1, 5, 50, 100)) == expected


def test_ties_at_the_threshold_are_drawn_without_bias() -> None:
    # 100 pairs tie for 40 places, 25 of them relevant: over many sets of ids the places hold 10 on average.
    relevance = np.zeros((10, 10), dtype=bool)
    relevance[:5, :5] = True
    scores = np.zeros((10, 10))
    shares = []
    for attempt in range(400):
        ids = [f"a{attempt}-{i}" for i in range(10)], [f"p{i}" for i in range(10)]
        shares.append(pairwise.r_precision_at(scores, relevance, *ids, thresholds=(40,))[40])
    assert np.mean(shares) == pytest.approx(0.25, abs=0.01)


def test_no_metric_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        per_article(np.zeros((2, 3)), np.array([[0, 0, 0], [1, 1, 1]]), ["a", "b", "c"])
