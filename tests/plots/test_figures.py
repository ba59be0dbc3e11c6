"""The numbers behind the figures, against values counted by hand and other implementations."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from linker.calibration.probabilities import (
    cross_validated_probabilities,
    platt,
    reliability_of,
    wilson_interval,
)
from linker.common.errors import DataError, LinkerError, ModelError
from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import EncoderModel, Model
from linker.plots.data import ScoredPairs, read_scored_pairs, score_pairs
from linker.plots.recall import Curve, figure, read_curves, recall
from linker.plots.reliability import reliability
from linker.plots.retrieved import retrieved
from linker.plots.style import label
from linker.plots.tsne import vector_map
from tests.conftest import toy_posts


def star_transformer(**encoder: object) -> Model:
    config = {
        "type": "siamese",
        "encoder": {"type": "star_transformer", "num_heads": 3, "head_dim": 4, "cycles": 2, **encoder},
        "embedder": {"type": "word_vectors", "dim": 8, "trainable": True},
        "min_count": 1,
    }
    model = build(Model, config)
    model.prepare(toy_posts())
    return model


SCORED = ScoredPairs(
    np.array([0.9, 0.8, 0.7, 0.69, 0.5, 0.1]), np.array([True, False, True, True, False, False]), left_out=0
)


def test_retrieved_counts_the_threshold_itself_as_retrieved() -> None:
    numbers = retrieved(SCORED, 0.7)
    assert (numbers.retrieved_relevant, numbers.retrieved_irrelevant) == (2, 1)
    assert (numbers.missed_relevant, numbers.missed_irrelevant) == (1, 2)
    assert numbers.precision == pytest.approx(2 / 3)
    assert numbers.recall == pytest.approx(2 / 3)
    assert (sum(numbers.relevant_by_score), sum(numbers.irrelevant_by_score)) == (3, 3)
    assert retrieved(SCORED, 2.0).precision == 0
    with pytest.raises(LinkerError):
        retrieved(SCORED, math.nan)


def test_bins_by_hand() -> None:
    probabilities = np.array([0.0, 0.05, 0.1, 0.55, 0.95, 1.0])
    relevant = np.array([False, True, False, True, True, True])
    numbers = reliability_of(probabilities, relevant)
    bins = numbers.bins
    assert [(one.low, one.high, one.count) for one in bins] == [
        (0, 0.1, 2),
        (0.1, 0.2, 1),
        (0.5, 0.6, 1),
        (0.9, 1, 2),
    ]
    assert [one.observed for one in bins] == [0.5, 0, 1, 1]
    assert [one.predicted for one in bins] == pytest.approx([0.025, 0.1, 0.55, 0.975])
    # (2 · 0.475 + 0.1 + 0.45 + 2 · 0.025) / 6
    assert numbers.calibration_error == pytest.approx(1.55 / 6)


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"), [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0)]
)
def test_wilson_intervals(hits: int, count: int, low: float, high: float) -> None:
    assert wilson_interval(hits, count) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_scores_become_probabilities_that_hold(method: str) -> None:
    generator = np.random.default_rng(0)
    scores = generator.normal(size=20_000)
    truth = 1 / (1 + np.exp(-(2 * scores - 1)))
    relevant = generator.random(len(scores)) < truth
    found = cross_validated_probabilities(40 + 3 * scores, relevant, method)  # type: ignore[arg-type]
    assert np.abs(found - truth).mean() < 0.02
    numbers = reliability(ScoredPairs(40 + 3 * scores, relevant), method)  # type: ignore[arg-type]
    assert numbers.calibration_error < 0.02
    assert numbers.brier_score == pytest.approx(brier_score_loss(relevant, found))
    assert sum(one.count for one in numbers.bins) == 20_000


def test_platts_curve_is_finite_where_the_kinds_do_not_overlap() -> None:
    scores, relevant = np.arange(10.0), np.arange(10) >= 5
    found = platt(scores, relevant)(scores)
    assert (np.diff(found) > 0).all()
    # His targets for five of each are 6/7 and 1/7: the curve goes beyond them only a little.
    assert 0 < found[0] < 0.2
    assert 0.8 < found[-1] < 1
    assert found[4] < 0.5 < found[5]


def test_a_pair_does_not_teach_the_curve_that_judges_it() -> None:
    """Labels without any relation to the scores: an isotonic curve would find one in them if it saw them."""
    generator = np.random.default_rng(1)
    scores, relevant = generator.random(400), generator.random(400) < 0.5
    found = cross_validated_probabilities(scores, relevant, "isotonic")
    assert np.corrcoef(found, relevant)[0, 1] < 0.1


def test_too_few_of_a_kind_and_scores_that_are_none_are_refused() -> None:
    with pytest.raises(LinkerError, match="4 relevant and 20 irrelevant"):
        cross_validated_probabilities(np.arange(24.0), np.arange(24) < 4)
    with pytest.raises(LinkerError, match="finite"):
        cross_validated_probabilities(np.array([math.inf] * 20), np.arange(20) < 10)


def test_scores_and_labels_out_of_files(tmp_path: Path) -> None:
    rows = [("1", "relevant"), ("0.5", "not"), ("0.25", "skip"), ("0.125", ""), ("-2", "relevant")]
    (tmp_path / "a.csv").write_text("score,label\n" + "".join(f"{a},{b}\n" for a, b in rows))
    found = read_scored_pairs(str(tmp_path / "a.csv"))
    assert found.scores.tolist() == [1, 0.5, -2]
    assert found.relevant.tolist() == [True, False, True]
    assert found.left_out == 2
    (tmp_path / "b.jsonl").write_text('{"s": 2, "on_topic": 1}\n{"s": 1, "on_topic": false}\n')
    assert read_scored_pairs(str(tmp_path / "b.jsonl"), "s", "on_topic").relevant.tolist() == [True, False]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("score,label\n1,perhaps\n", "line 2: label: unknown label 'perhaps'"),
        ("score,label\nhigh,1\n", "line 2: no score: 'high'"),
        ("score,label\nnan,1\n", "line 2: no score"),
        ("points,label\n1,1\n", "column score not found; name it with --score"),
        ("score,outcome\n1,1\n", "column label not found; name it with --label"),
        ("score,label\n1,1\n2,1\n", "2 relevant, 0 others"),
    ],
)
def test_files_without_them_are_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError, match=r"a\.csv") as error:
        read_scored_pairs(str(tmp_path / "a.csv"))
    assert said in str(error.value)


def test_a_model_scores_all_pairs(toy: LinkedPosts) -> None:
    model = build(Model, "bm25")
    found = score_pairs(model, toy)
    assert len(found.scores) == len(toy.articles) * len(toy.posts)
    assert found.relevant.sum() == sum(len(post.article_ids) for post in toy.posts)
    np.testing.assert_array_equal(found.scores, model.score(toy.articles, toy.posts).ravel())


class Placed(EncoderModel):
    """A model whose post vectors are written in the posts' texts."""

    def post_vectors(self, posts):
        return np.array([json.loads(post.text) for post in posts], dtype=np.float32)


def test_the_most_shared_articles_are_mapped_and_neighbors_stay_neighbors() -> None:
    articles = [Article(f"a{i}", "", title=f"title {i}") for i in range(4)]
    generator = np.random.default_rng(0)
    posts = []
    for number, count in enumerate((12, 9, 15, 1)):
        for k in range(count):
            vector = 0.1 * generator.normal(size=6) + 3 * np.eye(6)[number]
            ids = (f"a{number}",) if k else (f"a{number}", "a2")
            posts.append(Post(f"p{number}-{k}", json.dumps(vector.tolist()), ids))
    numbers = vector_map(Placed(), LinkedPosts(articles, posts), count=3)
    # a2: 15 of its own and one of each of the others.
    assert [(one.id, len(one.posts)) for one in numbers.articles] == [("a2", 18), ("a0", 11), ("a1", 8)]
    centres = {one.id: np.array([np.median(one.x), np.median(one.y)]) for one in numbers.articles}
    for one in numbers.articles:
        for post, x, y in zip(one.posts, one.x, one.y):
            nearest = min(centres, key=lambda i: np.linalg.norm(centres[i] - (x, y)))
            assert nearest == f"a{post[1]}" or post[1] == "3"
    assert numbers == vector_map(Placed(), LinkedPosts(articles, posts), count=3)


def test_models_without_vectors_and_too_few_posts_are_refused(toy: LinkedPosts) -> None:
    with pytest.raises(ModelError, match="bm25: has no embeddings"):
        vector_map(build(Model, "bm25"), toy, name="bm25")
    with pytest.raises(DataError, match="only 3 posts"):
        vector_map(Placed(), LinkedPosts(toy.articles, toy.posts[:3]))


def curve(task: str, strategy: str, *values: float) -> Curve:
    return Curve(task, strategy, values)


def test_recall_is_a_mean_over_runs_then_over_tasks() -> None:
    few = [
        curve("a", "x", 0, 0.5, 1),
        curve("a", "x", 0, 0.7, 1),
        curve("b", "x", 0, 1, 1),
        curve("a", "y", 0, 0.1, 0.9),
    ]
    numbers = recall(few)
    assert numbers.labels == [0, 0.5, 1]
    assert [(line.task, line.strategy) for line in numbers.curves] == [("a", "x"), ("a", "y"), ("b", "x")]
    x, y = numbers.curves[:2]
    assert x.recall == pytest.approx([0, 0.6, 1])
    assert (x.labels_to_95, y.labels_to_95) == (1, None)
    many = few[:2] + [curve(f"t{i}", "x", 0, 1, 1) for i in range(9)]
    (mean,) = recall(many).curves
    assert mean.task == "mean of 10 tasks"
    assert mean.recall == pytest.approx([0, 0.96, 1])
    assert mean.labels_to_95 == 0.5


def test_a_strategy_keeps_its_colour_in_every_panel() -> None:
    pytest.importorskip("matplotlib")
    some = [curve("a", "y", 0, 0.2, 1), curve("b", "x", 0, 0.5, 1), curve("b", "y", 0, 0.1, 0.9)]
    drawn = figure(recall(some))
    of_name = dict(zip("yx", (line.get_color() for line in drawn.legends[0].get_lines())))
    colors = [[line.get_color() for line in axis.get_lines()[:-1]] for axis in drawn.axes]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["y", "x"]
    assert [set(one) for one in colors] == [{of_name["y"]}, {of_name["x"], of_name["y"]}]


def test_labels_are_one_line_of_what_can_be_shown() -> None:
    assert label("a\nb\t\x00c \ud800 \u202ed ") == "a b c d"
    assert label("x" * 61) == "x" * 59 + "…"
    assert label("x" * 60) == "x" * 60


def test_curves_out_of_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("task,strategy,seed,0.00,0.50,1.00\na,x,0,0.0,0.5,1.0\nb,x,0,0.0,0.9,1.0\n")
    assert [one.curve for one in read_curves(tmp_path, "b")] == [(0, 0.9, 1)]
    assert len(read_curves(path)) == 2
    with pytest.raises(DataError, match="unknown task 'c'; its tasks: a, b"):
        read_curves(tmp_path, "c")
    path.write_text("task,strategy,seed,0.00,0.50,1.00\na,x,0,0.0,,1.0\n")
    with pytest.raises(DataError, match=r"curves.csv, line 2: not all"):
        read_curves(tmp_path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not the curves"):
        read_curves(tmp_path)
    with pytest.raises(DataError, match="linker annotate simulate --out"):
        read_curves(tmp_path / "nowhere")
