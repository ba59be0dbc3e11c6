"""Labels of a random sample keep that origin from a file or Python to the intervals of thresholds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import linker
from linker.data.labels.records import SampledLabels
from linker.data.types import Post

WORDS = ["ferry", "harbour", "sank", "rescue", "island", "captain", "engine", "storm", "crew", "port"]
POSTS = [Post(f"p{i}", " ".join(WORDS[: 1 + i % 10]) if i % 3 else f"dinner {i} nice") for i in range(90)]
RELEVANT = {post.id: i % 3 != 0 and i % 10 > 4 for i, post in enumerate(POSTS)}
RANDOM = [post.id for post in POSTS[::2]]


def as_file(folder: Path, sample: Callable[[str], str]) -> str:
    rows = [
        f"{id_},{'relevant' if yes else 'not'},{sample(id_)}\n" for id_, yes in list(RELEVANT.items())[:60]
    ]
    path = folder / "labels.csv"
    path.write_text("id,label,sample\n" + "".join(rows))
    return str(path)


def as_frame(folder: Path, sample: Callable[[str], str]) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.read_csv(as_file(folder, sample))


def as_mapping(folder: Path, sample: Callable[[str], str]) -> Any:
    some = dict(list(RELEVANT.items())[:60])
    return SampledLabels(some, [id_ for id_ in some if sample(id_) == "random"])


@pytest.mark.parametrize("made", [as_file, as_frame, as_mapping])
def test_intervals_need_labels_of_a_random_sample(
    made: Callable[[Path, Callable[[str], str]], Any], tmp_path: Path
) -> None:
    ranker, article = linker.load("bm25"), " ".join(WORDS)
    drawn = made(tmp_path, lambda id_: "random" if id_ in RANDOM else "active_learning")
    found = ranker.thresholds(article, POSTS, labels=drawn)
    assert "30 of them" in found.basis
    assert "of a random sample" in found.basis
    assert found.for_recall(0.8).recall.low is not None
    chosen = made(tmp_path, lambda id_: "active_learning")
    found = ranker.thresholds(article, POSTS, labels=chosen)
    assert "not known to be of a random sample" in found.basis
    assert all(one.precision.low is None and one.recall.low is None for one in found.table())
    assert "(95 % interval not known: no random sample)" in found.for_recall(0.8).sentence
