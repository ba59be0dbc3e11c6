"""The benchmark of quality: kept rows, the same treatment of rivals, and sentences that follow from the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.quality import baselines, danovitch2020
from benchmarks.quality.models import competing, in_percent
from benchmarks.quality.runs import Workplace
from benchmarks.quality.sets import SOURCES
from benchmarks.quality.tables import Kept
from linker.config import build
from linker.data.types import LinkedPosts
from linker.evaluation.comparison import Difference
from linker.models.model import Model


def test_rows_that_a_run_did_not_make_stay_with_their_day(tmp_path: Path) -> None:
    first = Kept(tmp_path / "quality.json", "2026-11-01")
    first.add(
        "posts", {"TF-IDF": {"mAP": "20.0"}, "AST": {"mAP": "33.0", "seeds": "3"}, "best": {"mAP": "40.0"}}
    )
    first.write()
    second = Kept(tmp_path / "quality.json", "2026-11-02")
    second.add("posts", {"TF-IDF": {"mAP": "21.0"}, "BM25": {"mAP": "18.0"}, "best": {"mAP": "42.0"}})
    second.add("articles", {"new": {"mAP": "1.0"}})
    second.write()
    third = Kept(tmp_path / "quality.json", "2026-11-03")
    assert third.lines("posts", ["mAP"]) == [
        "|  | mAP | on |",
        "|---|---|---|",
        "| TF-IDF | 21.0 | 2026-11-02 |",
        "| BM25 | 18.0 | 2026-11-02 |",
        "| AST, 3 seeds | 33.0 | 2026-11-01 |",
        "| best | 42.0 | 2026-11-02 |",
    ]
    assert third.lines("articles", ["mAP"])[2:] == ["| new | 1.0 | 2026-11-02 |"]


class Toy:
    """The scores of a source, without files."""

    def __init__(self, linked: LinkedPosts) -> None:
        self.linked = linked
        self.source = SOURCES[0]

    def kept(
        self, name: str, model: Any, alone: bool = False, linked: LinkedPosts | None = None
    ) -> np.ndarray:
        ready = build(Model, "bm25") if name == "MiniLM" else model()
        score = ready.score_independently if alone else ready.score
        linked = linked or self.linked
        return np.asarray(score(linked.articles, linked.posts))


def test_every_rival_is_in_both_tables_and_only_the_other_articles_make_the_difference(
    toy: LinkedPosts,
) -> None:
    toys: Any = Toy(toy)
    one, every = (baselines.measured(toys, one_at_a_time=alone) for alone in (True, False))
    assert list(one.rows) == list(every.rows)
    assert set(one.differences) == set(one.rows) - {baselines.DEFAULT}
    assert one.rows["BM25"] == every.rows["BM25"]
    # Alone, a softmax over articles changes nothing.
    for plain in ("MiniLM", "TF-IDF + MiniLM, cosines", "TF-IDF + MiniLM, z-scores"):
        assert one.rows[plain] == one.rows[f"{plain}, softmax over articles"]
    lines = baselines.difference_lines(one, every, of_posts=True)
    # Alone, rows with the softmax would repeat the rows without.
    assert sum("| alone |" in line for line in lines) == len(one.differences) - 3
    assert sum("| together |" in line for line in lines) == len(one.differences)
    assert lines[0].endswith("| P@1 | P@1 of posts |")


def difference(model: str, metric: str, points: float) -> Difference:
    return Difference(model, metric, points / 100, (points - 1) / 100, (points + 2) / 100, 0.5, 0.5)


def test_the_text_says_where_the_default_loses() -> None:
    metrics = baselines.COMPARED
    ahead = baselines.Measured({}, {"TF-IDF": {m: difference("TF-IDF", m, -3) for m in metrics}})
    behind = {m: difference("TF-IDF", m, 4 if m == "MAP" else -3) for m in metrics}
    lines = baselines.difference_lines(ahead, baselines.Measured({}, {"TF-IDF": behind}))
    # Rivals minus the default, turned round with the ends of the interval.
    assert "+3.0 [+1.0, +4.0]" in lines[2]
    assert lines[-3:] == ["Where the default loses:", "", "- to TF-IDF, together: MAP -4.0 [-6.0, -3.0]"]
    assert baselines.difference_lines(ahead, ahead)[-1] == "The default is behind none of them."


class Seeds:
    def __init__(self, **values: float) -> None:
        self.metrics = {"mRP": 0.5, "AUC": 0.9} | values

    def mean(self, metric: str) -> float:
        return self.metrics[metric]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"ast": Seeds(mAP=0.5)}, "Not all runs have been made yet."),
        (
            {"ast": Seeds(mAP=0.5, mRP=0.6, AUC=0.95), "cnn": Seeds(mAP=0.4), "gru": Seeds(mAP=0.3)},
            "AST is above CNN, GRU, as in the paper, in mAP, mRP, AUC.",
        ),
        (
            {"ast": Seeds(mAP=0.5, mRP=0.6), "cnn": Seeds(mAP=0.6), "mean": Seeds(mAP=0.9, mRP=0.9)},
            "AST is above CNN, as in the paper, in mRP; the paper's order does not show in mAP (CNN above AST), "
            "AUC (CNN above AST).",
        ),
    ],
)
def test_the_text_says_whether_the_order_of_the_paper_shows(found: Any, words: str) -> None:
    assert danovitch2020.verdict(found) == words


def test_figures_of_encoders_are_means_over_seeds_and_differences_are_paired(
    toy: LinkedPosts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    noise = {
        f"paper-{name}-{seed}": weight for name, weight in (("ast", 0.1), ("cnn", 2.0)) for seed in (1, 2)
    }
    relevance = toy.relevance().astype(np.float32)

    class Runs(Toy):
        place = Workplace(tmp_path)

        def kept(
            self, name: str, model: Any, alone: bool = False, linked: LinkedPosts | None = None
        ) -> np.ndarray:
            seed = int(name[-1])
            return relevance + noise[name] * np.random.default_rng(seed).random(relevance.shape)

    monkeypatch.setattr(Workplace, "seconds", lambda self, name: 60.0 if name in noise else None)
    runs: Any = Runs(toy)
    found = danovitch2020.encoders(runs)
    table = danovitch2020.rows(found)
    assert list(table) == ["AST", "CNN"]
    assert table["AST"]["mAP"] == "100.0 ± 0.0"
    assert table["AST"]["seeds"] == "2"
    minus = danovitch2020.differences(found)["CNN"]["mAP"]
    points, low, high = (
        float(number) for number in minus.replace("[", "").replace("]", "").replace(",", "").split()
    )
    assert low <= points <= high
    assert points == pytest.approx(100 * (1 - found["cnn"].mean("mAP")), abs=0.06)


def test_percent() -> None:
    assert in_percent([0.5]) == "50.0"
    assert in_percent([0.5, 0.7]) == "60.0 ± 14.1"


def test_the_softmax_of_the_rivals_is_that_of_the_models() -> None:
    scores = np.random.default_rng(3).normal(size=(3, 5)).astype(np.float32)
    odds = competing(scores, temperature=0.5, none=0.1, kinship=0)
    with_none = np.exp(np.concatenate([scores, np.full((1, 5), 0.1)]) / 0.5)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), (with_none / with_none.sum(axis=0))[:-1], rtol=1e-4)
