"""Tasks and opponents of the annotation benchmark."""

import numpy as np
import pytest

from benchmarks.annotation.opponents import AutoTar
from benchmarks.annotation.tasks import subsampled
from linker.annotation.simulation.simulate import found, labels_to, simulate
from tests.helpers.pools import VectorModel, planted


@pytest.mark.parametrize("prevalence", [0.02, 0.3])
def test_subsampling_reaches_the_prevalence(prevalence: float) -> None:
    task = planted(1, 300, model=VectorModel())
    part = subsampled(task, prevalence)
    assert part is not None
    assert part.relevant.mean() == pytest.approx(prevalence, abs=0.005)
    assert part.total == part.gains.sum()
    kept = {post.id: i for i, post in enumerate(task.pool.posts)}
    places = [kept[post.id] for post in part.pool.posts]
    assert part.relevant.tolist() == task.relevant[places].tolist()
    assert part.pool.vectors is not None
    assert task.pool.vectors is not None
    assert np.array_equal(part.pool.vectors, task.pool.vectors[places])
    assert (part.pool.words != task.pool.words[places]).nnz == 0
    again = subsampled(task, prevalence)
    assert again is not None
    assert again.pool.posts == part.pool.posts


def test_too_few_relevant_posts_are_no_task() -> None:
    assert subsampled(planted(1, 300), 0.002) is None


def test_autotar_finds_planted_posts_sooner_than_random_order() -> None:
    task = planted(2)
    run = simulate(task, AutoTar(), 0, growth=0.1)
    assert sorted(run.labels.posts.tolist()) == list(range(len(task.pool)))
    assert (labels_to(found(task, run.labels), 0.9 * task.total) or len(task.pool)) < 0.5 * len(task.pool)
    again = simulate(task, AutoTar(), 0, growth=0.1)
    assert again.labels.posts.tolist() == run.labels.posts.tolist()
