"""The benchmark of quality: kept rows, the same treatment of rivals, and sentences that follow from the figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.quality import baselines, danovitch2020
from benchmarks.quality.models import competing
from benchmarks.quality.runs import Workplace
from benchmarks.quality.sets import SOURCES
from linker.config import build
from linker.data.types import LinkedPosts
from linker.models.model import Model
from linker.models.pretrained import MULTILINGUAL


class Toy:
    """The scores of a source, without files."""

    place, source = Workplace(MULTILINGUAL.parent), SOURCES[0]

    def __init__(self, linked: LinkedPosts) -> None:
        self.linked = linked

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
    one, every = baselines.measured(toys)
    # Alone, rows with the softmax would repeat the rows without.
    assert list(one.rows) == [name for name in every.rows if not name.endswith("softmax over articles")]
    assert set(every.differences) == set(every.rows) - {baselines.DEFAULT}
    assert one.rows["BM25"] == every.rows["BM25"]
    lines = baselines.difference_lines(one, every, of_posts=True)
    assert sum("| alone |" in line for line in lines) == len(one.differences)
    assert sum("| together |" in line for line in lines) == len(every.differences)
    assert lines[0].endswith("| P@1 | P@1 of posts |")


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
    assert table["AST"]["pair AP"] == "100.0 ± 0.0"
    assert table["AST"]["seeds"] == "2"
    minus = danovitch2020.differences(found)["CNN"]["pair AP"]
    points, low, high = (
        float(number) for number in minus.replace("[", "").replace("]", "").replace(",", "").split()
    )
    assert low <= points <= high
    assert points == pytest.approx(100 * (1 - found["cnn"].mean("pair AP")), abs=0.06)


def test_the_softmax_of_the_rivals_is_that_of_the_models() -> None:
    scores = np.random.default_rng(3).normal(size=(3, 5)).astype(np.float32)
    odds = competing(scores, temperature=0.5, none=0.1, kinship=0)
    with_none = np.exp(np.concatenate([scores, np.full((1, 5), 0.1)]) / 0.5)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), (with_none / with_none.sum(axis=0))[:-1], rtol=1e-4)
